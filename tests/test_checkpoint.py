"""Checkpoints: whole or absent, without pickle."""

import io
import os
import stat
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from ga3c.errors import ConfigError
from ga3c.records import checkpoint, files
from tests.test_disk import files_no_longer_than

ARRAYS = {"network/0": np.arange(1000, dtype=np.float32).reshape(50, 20), "version": np.int64(7)}
META = {"steps": 123, "name": "Pong", "seconds": 1.5}


def save(directory, steps, keep=3):
    return checkpoint.save(directory, steps, ARRAYS | {"steps": np.int64(steps)}, META, keep)


def test_what_is_loaded_is_what_was_saved(tmp_path):
    arrays, meta = checkpoint.load(checkpoint.save(tmp_path / "new", 123, ARRAYS, META, keep=3))
    assert meta == META
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_the_newest_few_are_kept(tmp_path):
    for steps in (5, 20, 100, 1_000_000):
        save(tmp_path, steps, keep=2)
    assert [checkpoint.load(path)[0]["steps"] for path in checkpoint.saved(tmp_path)] == [100, 1_000_000]
    assert len(list(tmp_path.iterdir())) == 2
    assert checkpoint.load_newest(tmp_path)[1]["steps"] == 1_000_000


@pytest.mark.parametrize("steps", [6, 5])
def test_one_that_is_not_finished_takes_no_place(tmp_path, monkeypatch, steps):
    """The program ends while it writes: what lay there before is whole, and nothing else is taken for a checkpoint."""
    before = save(tmp_path, 5)
    write = os.write

    def end_half_way(file, content):
        write(file, content[: len(content) // 2])
        raise SystemExit

    monkeypatch.setattr(files.os, "write", end_half_way)
    with pytest.raises(SystemExit):
        save(tmp_path, steps)
    assert checkpoint.saved(tmp_path) == [before]
    assert checkpoint.load(before)[0]["steps"] == 5


@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_a_damaged_newest_file_gives_way_to_the_one_before(tmp_path, part):
    save(tmp_path, 1)
    good, newest = save(tmp_path, 2), save(tmp_path, 3)
    content = newest.read_bytes()
    newest.write_bytes(content[: int(part * len(content))])
    with pytest.raises(ConfigError, match=newest.name):
        checkpoint.load(newest)
    path, arrays, _ = checkpoint.load_newest(tmp_path)
    assert (path, arrays["steps"]) == (good, 2)


def test_a_new_checkpoint_is_kept_beside_a_damaged_one_of_more_steps(tmp_path):
    """A run that went on from the one before makes checkpoints of fewer steps than the damaged one's."""
    save(tmp_path, 9).write_bytes(b"")
    path = save(tmp_path, 5, keep=1)
    assert checkpoint.load_newest(tmp_path)[0] == path


def test_a_file_that_was_not_finished_is_no_checkpoint(tmp_path):
    with pytest.raises(ConfigError, match="No checkpoint"):
        checkpoint.load_newest(tmp_path)
    path = save(tmp_path, 1)
    (tmp_path / "checkpoint-000000000002.partial").write_bytes(path.read_bytes())
    (tmp_path / "checkpoint-best.npz").write_bytes(b"")
    assert checkpoint.saved(tmp_path) == [path]
    assert checkpoint.load_newest(tmp_path)[0] == path


class Trap:
    """Unpickling it would raise this."""

    def __reduce__(self):
        return eval, ("1 / 0",)


def test_pickled_objects_are_refused(tmp_path):
    path = tmp_path / "checkpoint-000000000001.npz"
    np.savez(path, meta=np.frombuffer(b"{}", np.uint8), trap=np.array([Trap()], object))
    with pytest.raises(ZeroDivisionError):
        np.load(path, allow_pickle=True)["trap"]
    with pytest.raises(ConfigError):
        checkpoint.load(path)


def test_which_one_is_damaged_is_said(tmp_path):
    save(tmp_path, 1)
    newest = save(tmp_path, 2)
    newest.write_bytes(b"")
    said = []
    checkpoint.load_newest(tmp_path, said.append)
    assert len(said) == 1
    assert newest.name in said[0]
    assert "Taking checkpoint-000000000001.npz instead" in said[0]


def test_a_full_disk_leaves_the_one_before_and_nothing_else(tmp_path):
    good = save(tmp_path, 1)
    with files_no_longer_than(good.stat().st_size // 2), pytest.raises(OSError):  # noqa: PT011 (of whatever kind)
        save(tmp_path, 2)
    assert list(tmp_path.iterdir()) == [good]
    assert checkpoint.load_newest(tmp_path)[0] == good


def test_what_a_killed_program_left_half_written_is_cleared_away(tmp_path):
    left = tmp_path / "checkpoint-000000000001.partial"
    left.write_bytes(b"half")
    path = save(tmp_path, 2)
    assert list(tmp_path.iterdir()) == [path]


def npy(array) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def header(text: str) -> bytes:
    """Of an array in NumPy's format, without the array."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


HUGE = [
    "'descr': '<f4', 'shape': (100000000000,)",
    "'descr': '<U1000000000', 'shape': ()",
    "'descr': '|O', 'shape': ()",
]
HUGE += ["'descr': '|V0', 'shape': (100000000000,)", "'descr': ('<f4', (99999, 99999)), 'shape': ()"]
HUGE += [f"'descr': '<f4', 'shape': {'(' * 3000}{')' * 3000}", "'descr': '<f4', 'shape': (-1, -1)"]


@pytest.mark.parametrize("kind", ["packed", "twice", *range(len(HUGE))])
def test_no_more_is_read_than_lies_there(tmp_path, kind):
    """A small file that says it is a large one."""
    path = tmp_path / "checkpoint-000000000001.npz"
    large = npy(np.zeros(100_000_000, np.uint8))
    packed = zipfile.ZIP_STORED if isinstance(kind, int) else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("meta.npy", npy(np.frombuffer(b"{}", np.uint8)))
        archive.writestr("network/0.npy", header(f"{{{HUGE[kind]}, 'fortran_order': False}}") if packed == 0 else large)
    if kind == "twice":  # and that it is not packed
        path.write_bytes(path.read_bytes().replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x00\x00"))
    del large
    tracemalloc.start()
    with pytest.raises(ConfigError, match=path.name) as refusal:
        checkpoint.load(path)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 10_000_000
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1000


def test_what_is_no_file_is_no_checkpoint(tmp_path):
    """To open a pipe would wait for ever."""
    good = save(tmp_path, 1)
    pipe, directory, listening = (tmp_path / f"checkpoint-00000000000{number}.npz" for number in (2, 3, 4))
    os.mkfifo(pipe)
    directory.mkdir()
    os.mknod(listening, stat.S_IFSOCK | 0o600)
    said = []
    assert checkpoint.load_newest(tmp_path, said.append)[0] == good
    assert len(said) == 3
