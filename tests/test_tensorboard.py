"""What TensorBoard gets, and what stays behind in memory."""

import ctypes
import threading

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

from ga3c.records.disk import Disk
from ga3c.records.tensorboard import TensorBoardWriter

COLUMNS = [f"column_{i}" for i in range(40)]


def rows(count: int):
    """Each number is another one."""
    for steps in range(count):
        yield {"steps": steps} | {name: steps + i / 64 for i, name in enumerate(COLUMNS)}


def test_it_writes_all_but_what_was_not_measured(tmp_path):
    writer = TensorBoardWriter(tmp_path, Disk(print))
    writer.write({"steps": 70, "pps": 2.5, "entropy": float("nan"), "agents": 3})
    writer.close()
    (file,) = tmp_path.iterdir()
    values = {
        value.tag: (event.step, float(tensor_util.make_ndarray(value.tensor)))
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
    }
    assert values == {"ga3c/pps": (70, 2.5), "ga3c/agents": (70, 3.0)}


def test_it_does_not_follow_a_link(tmp_path):
    said, elsewhere = [], tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "tensorboard").symlink_to(elsewhere)
    writer = TensorBoardWriter(tmp_path / "tensorboard", Disk(said.append))
    writer.write({"steps": 70, "pps": 2.5})
    writer.close()
    assert list(elsewhere.iterdir()) == []
    assert "is a link" in said[0]


class _Heap(ctypes.Structure):
    """What glibc's mallinfo2 returns."""

    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefg"] + [
        (name, ctypes.c_size_t) for name in ("in_use", "free", "keepcost")
    ]


def heap_in_use() -> int:
    """Bytes that C code of this process has allocated and not given back."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("the memory of C code can be read with the C library of Linux alone")
    mallinfo.restype = _Heap
    return mallinfo().in_use


def test_it_leaves_nothing_in_memory(tmp_path):
    """300 rows are 25 minutes of a run; a tensor for each number would be 8 MB."""
    writer = TensorBoardWriter(tmp_path, Disk(print))

    def write(count):
        for row in rows(count):
            writer.write(row)

    grown = []
    for count in (50, 300):  # the first for what is allocated once
        before = heap_in_use()
        thread = threading.Thread(target=write, args=(count,))
        thread.start()
        thread.join()
        grown.append(heap_in_use() - before)
    writer.close()
    assert grown[1] < 2e6, np.array(grown)
