"""Writes the columns of throughput.csv for TensorBoard."""

import contextlib
import os
import secrets
from pathlib import Path

import numpy as np

from ga3c.records.disk import Disk
from ga3c.records.files import make_directory


class TensorBoardWriter:
    """Writes rows of throughput.csv as scalars over steps."""

    def __init__(self, directory: Path, disk: Disk):
        import tensorflow as tf  # not before it is needed

        self._tf, self._directory, self._disk = tf, directory, disk
        self._writer = None
        self._waiting: list[dict[str, float]] = []

    def write(self, row: dict[str, float]) -> None:
        """Writes the cells of a row, by column, at its `steps`. Rows that the disk does not take wait in memory."""
        self._waiting.append(row)
        if self._disk.attempt(self._directory, self._write):
            self._waiting = []

    def _write(self) -> None:
        try:
            if self._writer is None:
                make_directory(self._directory)
                suffix = f".{secrets.token_hex(8)}"  # nobody can guess the name and put a link there
                directory = os.fsencode(self._directory)  # it need not be UTF-8
                self._writer = self._tf.summary.create_file_writer(directory, filename_suffix=suffix)
            for row in self._waiting:
                # These are NumPy's numbers: TensorFlow keeps a tensor of each Python number for ever.
                with self._writer.as_default(step=np.int64(row["steps"])):
                    for name, value in row.items():
                        if name != "steps" and value == value:  # NaN: nothing was measured
                            self._tf.summary.scalar(f"ga3c/{name}", np.float32(value))
            self._writer.flush()
        except self._tf.errors.OpError as error:
            self._writer = None  # it does not recover; the next writer begins another file
            raise OSError(error.message.rpartition("}} ")[2]) from error  # what comes first names TensorFlow's parts

    def close(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(self._tf.errors.OpError):  # a failure was reported when it happened
                self._writer.close()
