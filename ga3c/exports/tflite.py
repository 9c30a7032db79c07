"""TFLite, by TensorFlow's converter; read by LiteRT. The file takes one observation at a time."""

import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

from ga3c.errors import ConfigError
from ga3c.exports.signature import Arrays, Runtime, frozen


def write(model: keras.Model, path: Path, quantize: str | None = None, samples: Arrays | None = None) -> None:
    """Writes the file.

    quantize: "float16", its weights have half the bits; "int8", weights and what layers compute are bytes. samples:
        inputs of play, by which the converter chooses the scale of what layers compute.

    Raises ConfigError where TFLite lacks an operation.
    """
    with tempfile.TemporaryDirectory() as folder:
        function, _ = frozen(model, batch=1)
        tf.saved_model.save(tf.Module(), folder, signatures=function.get_concrete_function())
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        if quantize:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if quantize == "float16":
            converter.target_spec.supported_types = [tf.float16]
        if quantize == "int8":
            converter.representative_dataset = lambda: one_at_a_time(samples)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the interpreter that the converter still uses
                path.write_bytes(converter.convert())
        except Exception as error:
            if lacking := sorted(set(re.findall(r"(tf\.\w+)\W* op is neither", str(error)))):
                raise ConfigError(f"--format tflite has no {', '.join(lacking)}: use another format.") from error
            raise


def one_at_a_time(inputs: Arrays) -> Iterator[Arrays]:
    """Yields the inputs one after the other, each as a batch of one."""
    for number in range(len(next(iter(inputs.values())))):
        yield {name: array[number : number + 1] for name, array in inputs.items()}


def read(path: Path) -> Runtime:
    """Returns the agent in the file. It runs on one core."""
    decide = Interpreter(str(path), num_threads=1).get_signature_runner()

    def decide_all(inputs: Arrays) -> Arrays:
        found = [decide(**one) for one in one_at_a_time(inputs)]
        return {name: np.concatenate([one[name] for one in found]) for name in found[0]}

    return decide_all
