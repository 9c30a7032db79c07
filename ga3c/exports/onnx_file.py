"""ONNX, by tf2onnx; read by onnxruntime."""

import json
from pathlib import Path

import keras
import onnx
import onnxruntime
import tf2onnx

from ga3c.exports.signature import Runtime, frozen

OPSET = 17  # onnxruntime from 1.13 on reads it


def write(model: keras.Model, path: Path) -> None:
    """Writes the file."""
    function, signature = frozen(model)
    tf2onnx.convert.from_function(function, input_signature=signature, opset=OPSET, output_path=str(path))


def add_metadata(path: Path, metadata: dict) -> None:
    """Writes metadata into the file, as JSON under the key "agent"."""
    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, {"agent": json.dumps(metadata)})
    onnx.save(model, str(path))


def read(path: Path) -> Runtime:
    """Returns the agent in the file."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, inputs), strict=True))
