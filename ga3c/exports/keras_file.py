"""A .keras file of Keras' own layers, which `keras.saving.load_model` opens without this program."""

import re
import zipfile
from pathlib import Path

import keras

from ga3c.errors import ConfigError
from ga3c.exports.signature import Arrays, Runtime


def write(model: keras.Model, path: Path) -> None:
    """Writes the file. Raises ConfigError where a layer is not Keras' own."""
    model.save(path)
    with zipfile.ZipFile(path) as file:
        layers = re.findall(r'"module": "([^"]*)", "class_name": "([^"]*)"', file.read("config.json").decode())
    foreign = {f"{module}.{name}" for module, name in layers if module.partition(".")[0] != "keras"}
    foreign |= {name for module, name in layers if name == "Lambda"}
    if foreign:
        raise ConfigError(
            f"--format keras: {', '.join(sorted(foreign))} in the network is none of Keras' own layers, so the file "
            "would not open without your code: use another format."
        )


def read(path: Path) -> Runtime:
    """Returns the agent in the file."""
    loaded = keras.saving.load_model(path)

    def decide(inputs: Arrays) -> Arrays:
        return {name: tensor.numpy() for name, tensor in loaded(inputs).items()}

    return decide
