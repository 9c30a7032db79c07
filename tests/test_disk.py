"""Logs on a disk that is full for a while, and logs that a killed run left behind. The limit on the size of files that
the kernel keeps for each process stands for the full disk."""

import contextlib
import resource

import pytest

from ga3c.records.disk import CsvLog, Disk, mend, write_whole
from tests.program import rows

COLUMNS = ["steps", "score"]


@contextlib.contextmanager
def files_no_longer_than(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_rows_wait_until_the_disk_takes_them(tmp_path):
    said, path = [], tmp_path / "log.csv"
    log = CsvLog(path, COLUMNS, Disk(said.append))
    log.append([(1, 10)])
    whole = path.read_text()
    with files_no_longer_than(len(whole) + 3):  # the half of a row
        log.append([(2, 20)])
        assert path.read_text() == whole
        log.append([(3, 30), (4, 40)])
        assert path.read_text() == whole
    assert len(said) == 1
    assert str(path) in said[0]
    log.append([(5, 50)])
    assert [row["steps"] for row in rows(path)] == ["1", "2", "3", "4", "5"]
    assert path.read_text().count("score") == 1
    assert len(said) == 2


def test_a_log_that_cannot_even_be_opened_waits_too(tmp_path):
    path = tmp_path / "not yet" / "log.csv"
    log = CsvLog(path, COLUMNS, Disk(print))
    log.append([(1, 10)])
    path.parent.mkdir()
    log.append([])
    log.append([(2, 20)])
    assert [row["steps"] for row in rows(path)] == ["1", "2"]


def test_trouble_with_several_files_is_said_once(tmp_path):
    said = []
    disk = Disk(said.append)

    def fail():
        raise OSError(28, "No space left on device")

    for name in "abab":
        assert not disk.attempt(tmp_path / name, fail)
    assert len(said) == 1
    assert disk.attempt(tmp_path / "a", lambda: None)
    assert len(said) == 1  # b is still missing
    assert disk.attempt(tmp_path / "b", lambda: None)
    assert said[1:] == ["The disk takes everything again."]


LOGS = [
    ("steps,score\n1,10\n2,20\n3,30\n", "steps,score\n1,10\n2,20\n"),  # after the checkpoint
    ("steps,score\n1,10\n2,2", "steps,score\n1,10\n"),  # half a row
    ("steps,score\n1,10\n2\n2,20\n", "steps,score\n1,10\n2,20\n"),  # half a row that others followed
    ("steps\n1\n2\n", "steps,score\n1,\n2,\n"),  # of a version with fewer columns
    ("score,other,steps\n10,0,1\n", "steps,score\n1,10\n"),  # and with others
    ("steps,score\n1,10\nx,20\n", "steps,score\n1,10\n"),
    ("steps,sc", "steps,score\n"),
    ("", "steps,score\n"),
    ("steps,score\n1,1\0" + "0\n", "steps,score\n"),
]


@pytest.mark.parametrize(("before", "after"), LOGS)
def test_mend(tmp_path, before, after):
    path = tmp_path / "log.csv"
    path.write_text(before)
    mend(path, COLUMNS, last_step=2)
    assert path.read_text() == after
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]


def test_mend_leaves_a_whole_log_and_a_missing_one_alone(tmp_path):
    path = tmp_path / "log.csv"
    mend(path, COLUMNS, last_step=2)
    assert not path.exists()
    path.write_text("steps,score\n1,10\n")
    before = path.stat()
    mend(path, COLUMNS, last_step=2)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_write_whole_leaves_the_old_file_where_the_disk_is_full(tmp_path):
    path = tmp_path / "file"
    write_whole(path, "old")
    with files_no_longer_than(10), pytest.raises(OSError):  # noqa: PT011 (of whatever kind)
        write_whole(path, "x" * 1000)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_rows_later_than_the_last_second_go_too(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("seconds,steps\n1.5,10\n2.35,20\n2.36,20\n")
    mend(path, last_step=20, last_second=2.346)  # it may be written as 2.35
    assert path.read_text() == "seconds,steps\n1.5,10\n2.35,20\n"


def test_a_log_with_other_columns_gets_the_new_ones_with_its_first_new_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("score,steps,old\n10,1,7\n20,2,7\nhalf a ro")
    log = CsvLog(path, COLUMNS, Disk(print))
    assert "old" in path.read_text()
    log.append([(3, 30)])
    log.append([(4, 40)])
    assert path.read_text() == "steps,score\n1,10\n2,20\n3,30\n4,40\n"
