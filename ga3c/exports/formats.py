"""The formats, and what a script needs that reads each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from ga3c.errors import ConfigError
from ga3c.installation import how_to_install


@dataclass(frozen=True)
class Format:
    """A format: its module writes and reads it."""

    file: str
    """The name of the file, or of the directory."""
    module: str
    """In this package: it has `write(model, path)` and `read(path)`."""
    packages: tuple[str, ...]
    """What it takes to write and read it, beside what the program needs anyhow."""
    runtime: str
    """What pip installs to read it."""
    imports: str
    """The lines of a script that import the runtime, those that load `FILE`, and the one that asks the agent."""
    load: str
    decide: str


FORMATS = {
    "saved-model": Format(
        "saved-model", "saved_model", (), "tensorflow", "import tensorflow as tf",
        'agent = tf.saved_model.load(FILE).signatures["serving_default"]',
        "decided = {name: one.numpy() for name, one in agent(**{k: tf.constant(v) for k, v in shown.items()}).items()}",
    ),
    "tflite": Format(
        "agent.tflite", "tflite", ("ai_edge_litert",), "ai-edge-litert",
        "from ai_edge_litert.interpreter import Interpreter",
        "agent = Interpreter(FILE, num_threads=1).get_signature_runner()",
        "decided = agent(**shown)",
    ),
    "onnx": Format(
        "agent.onnx", "onnx_file", ("tf2onnx", "onnx", "onnxruntime"), "onnxruntime", "import onnxruntime",
        "agent = onnxruntime.InferenceSession(FILE)\nnames = [output.name for output in agent.get_outputs()]",
        "decided = dict(zip(names, agent.run(names, shown)))",
    ),
    "keras": Format(
        "agent.keras", "keras_file", (), "tensorflow keras", "import keras\nimport tensorflow as tf",
        "agent = tf.function(keras.saving.load_model(FILE))",
        "decided = {name: one.numpy() for name, one in agent(shown).items()}",
    ),
}  # fmt: skip
QUANTIZATIONS = ("float16", "int8")


def check_installed(names: Iterable[str]) -> None:
    """Raises ConfigError where a format needs a package that is not installed."""
    for name in names:
        for package in FORMATS[name].packages:
            if find_spec(package) is None:
                does = how_to_install("export")
                raise ConfigError(f"--format {name} needs {package}, which is not installed: {does}.")


def file_of(name: str, quantize: str | None = None) -> str:
    """Returns the name of the file of a format."""
    file = FORMATS[name].file
    return file.replace(".", f"-{quantize}.") if quantize else file


def script_name(file: str) -> str:
    """Returns the name of the script of a file: play_tflite.py."""
    return f"play_{re.sub(r'[^a-z0-9]', '_', file.removeprefix('agent').strip('.-'))}.py"
