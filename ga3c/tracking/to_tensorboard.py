"""TensorBoard: scores of games, settings and messages, besides the curves that every run writes."""

import json
import os
import secrets
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.plugins.text import metadata
from tensorboard.summary.writer.record_writer import RecordWriter

from ga3c.records.files import make_directory, open_to_write
from ga3c.text import place
from ga3c.tracking.new_rows import Point
from ga3c.tracking.tracked_run import Sent, TrackedRun


class TensorBoardTracker:
    """A file of events beside that of the trainer. Each start of a run has one of its own."""

    then = ()

    def __init__(self, directory: Path, steps: int):
        """`steps`: of the run so far."""
        make_directory(directory)
        now, suffix = time.time(), secrets.token_hex(8)  # nobody can guess the name and put a link there
        file = open_to_write(directory / f"events.out.tfevents.{now:.0f}.{suffix}.tracking", os.O_WRONLY | os.O_EXCL)
        self._steps, self._writer = steps, RecordWriter(os.fdopen(file, "wb"))
        self.where = f"scores of games, settings and messages are in {place(directory)}"
        self._write(Event(wall_time=now, file_version="brain.Event:2"))

    def log(self, points: list[Point]) -> None:
        for steps, values in points:
            found = [Summary.Value(tag=f"ga3c/{name}", simple_value=values[name]) for name in values if "game_" in name]
            if found:
                self._write(Event(wall_time=time.time(), step=steps, summary=Summary(value=found)))
            self._steps = steps

    def say(self, lines: list[str]) -> None:
        self.text("messages", "\n".join(f"    {line}" for line in lines))

    def text(self, name: str, text: str) -> None:
        """Writes a text, in Markdown."""
        content = TensorProto(dtype=DT_STRING, string_val=[text.encode()], tensor_shape=TensorShapeProto())
        value = Summary.Value(tag=f"ga3c/{name}", tensor=content, metadata=metadata.create_summary_metadata("", ""))
        self._write(Event(wall_time=time.time(), step=max(self._steps, 0), summary=Summary(value=[value])))

    def keep(self, path: Path) -> None:
        """Does nothing: TensorBoard shows neither checkpoints nor films. Both lie in the run's directory."""

    def close(self, failed: bool) -> None:
        self._writer.close()

    def _write(self, event: Event) -> None:
        self._writer.write(event.SerializeToString())
        self._writer.flush()


def begin(run: TrackedRun, sent: Sent) -> TensorBoardTracker:
    """Begins a file of events, with the settings."""
    tracker = TensorBoardTracker(run.path / "tensorboard", sent.steps)
    settings = json.dumps(run.settings(), indent=2)
    tracker.text("settings", "\n".join(f"    {line}" for line in settings.splitlines()))
    return tracker
