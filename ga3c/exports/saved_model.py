"""SavedModel: TensorFlow's own format."""

import json
from pathlib import Path

import keras
import tensorflow as tf

from ga3c.exports.signature import Arrays, Runtime, specs

SIGNATURE = "serving_default"  # the one that TensorFlow Serving asks for


def write(model: keras.Model, path: Path) -> None:
    """Writes the directory of a SavedModel. Its weights are variables, so training can go on from them."""
    module, signature = tf.Module(), specs(model, None)
    module.model = model
    names = [one.name for one in signature]
    decide = tf.function(
        lambda *inputs: model(dict(zip(names, inputs, strict=True))), input_signature=signature, autograph=False
    )
    tf.saved_model.save(module, str(path), signatures={SIGNATURE: decide.get_concrete_function()})


def add_metadata(path: Path, metadata: dict) -> None:
    """Writes metadata into the directory, where TensorFlow leaves room for files of others."""
    (path / "assets.extra").mkdir()
    (path / "assets.extra" / "agent.json").write_text(json.dumps(metadata))


def read(path: Path) -> Runtime:
    """Returns the agent in the directory."""
    loaded = tf.saved_model.load(str(path))

    def decide(inputs: Arrays) -> Arrays:
        outputs = loaded.signatures[SIGNATURE](**{name: tf.constant(array) for name, array in inputs.items()})
        return {name: tensor.numpy() for name, tensor in outputs.items()}

    return decide
