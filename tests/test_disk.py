"""Logs on a disk that is full for a while, and logs that a killed run left behind. The limit on the size of files that
the kernel keeps for each process stands for the full disk."""

import contextlib
import json
import os
import resource
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from ga3c.errors import ConfigError
from ga3c.records import collapse, csv_reading, files, lock, run_directory, run_state, staging
from ga3c.records.csv_log import CsvLog, mend
from ga3c.records.csv_reading import read_csv
from ga3c.records.description import read_settings
from ga3c.records.disk import Disk
from ga3c.records.files import write_whole
from ga3c.settings import saved_settings
from ga3c.settings.run import RunSettings, Settings
from ga3c.views.run_view import Evaluation, Tail, read_evaluation
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
        assert not log.append([(2, 20)])
        assert path.read_text() == whole
        assert not log.append([(3, 30), (4, 40)])
        assert path.read_text() == whole
    assert len(said) == 1
    assert str(path) in said[0]
    assert log.append([(5, 50)])
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


def test_a_log_of_nothing_is_mended_in_little_memory(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("seconds,steps\n1,2\n")
    os.truncate(path, 300_000_000)  # it has no such blocks
    tracemalloc.start()
    try:
        mend(path)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.read_text() == "seconds,steps\n1,2\n"
    assert most_bytes < 100_000_000


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


def test_no_more_rows_stay_than_were_counted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("steps,score\n1,10\n2,20\n2,30\n")
    mend(path, last_step=2, most_rows=2)
    assert path.read_text() == "steps,score\n1,10\n2,20\n"


def test_a_log_with_other_columns_gets_the_new_ones_with_its_first_new_row(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("score,steps,old\n10,1,7\n20,2,7\nhalf a ro")
    log = CsvLog(path, COLUMNS, Disk(print))
    assert "old" in path.read_text()
    log.append([(3, 30)])
    log.append([(4, 40)])
    assert path.read_text() == "steps,score\n1,10\n2,20\n3,30\n4,40\n"


@pytest.fixture
def victim(tmp_path):
    """A file of somebody's own, and what checks that it is as it was."""
    file = tmp_path / "somebody's"
    file.write_text("precious")
    yield file
    assert file.read_text() == "precious"


def plant(link, victim, how):
    """Puts a link to somebody's file, or to a directory of his, where a run writes."""
    if how == "hard":
        os.link(victim, link)
    elif link.name in run_directory.DIRECTORIES:
        (victim.parent / "place").mkdir()
        link.symlink_to(victim.parent / "place")
    else:
        link.symlink_to(victim)


LINKS = [(name, how) for name in run_directory.FILES for how in ("soft", "hard")]
LINKS += [(name, "soft") for name in run_directory.DIRECTORIES]


@pytest.mark.parametrize(("name", "how"), LINKS)
def test_a_run_does_not_begin_where_a_link_leads_elsewhere(tmp_path, victim, name, how):
    run = tmp_path / "run"
    run.mkdir()
    plant(run / name, victim, how)
    with pytest.raises(ConfigError, match=name) as refusal:
        run_directory.lock(run, RunSettings())
    assert "\n" not in str(refusal.value)


def test_the_directory_itself_may_be_a_link(tmp_path):
    (tmp_path / "large disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "large disk")
    run_directory.lock(tmp_path / "run", RunSettings())
    assert lock.is_locked(tmp_path / "large disk")


@pytest.mark.parametrize("how", ["soft", "hard"])
def test_a_link_that_comes_later_is_not_followed_either(tmp_path, victim, how):
    said, path = [], tmp_path / "log.csv"
    log = CsvLog(path, COLUMNS, Disk(said.append))
    log.append([(1, 10)])
    path.unlink()
    plant(path, victim, how)
    assert not log.append([(2, 20)])
    assert "it is a link" in said[0]
    path.unlink()
    assert log.append([])
    assert [row["steps"] for row in rows(path)] == ["2"]
    plant(files._partial(tmp_path / "whole"), victim, how)
    write_whole(tmp_path / "whole", "new")
    assert (tmp_path / "whole").read_text() == "new"


def test_a_directory_that_is_moved_or_removed_is_said_once_and_nothing_is_written(tmp_path):
    said, run, elsewhere = [], tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    place = Disk(said.append, run)
    log = CsvLog(run / "log.csv", COLUMNS, place)
    log.append([(1, 10)])
    run.rename(elsewhere)
    for _ in range(3):
        assert not place.look()
        assert not log.append([(2, 20)])
    run.mkdir()  # somebody else's
    assert not log.append([(3, 30)])
    assert list(run.iterdir()) == []
    assert len(said) == 1
    assert "was moved or removed" in said[0]
    run.rmdir()
    elsewhere.rename(run)
    assert log.append([])
    assert place.look()
    assert [row["steps"] for row in rows(run / "log.csv")] == ["1", "2", "2", "2", "3"]
    shutil.rmtree(run)
    run.mkdir()  # often of the same number as the one that is gone
    assert not log.append([(4, 40)])
    assert list(run.iterdir()) == []


READERS = {
    "log.csv": read_csv,
    "episodes.csv": collapse.resumed,
    "config.json": lambda path: read_settings(path.parent),
    "evaluation.json": lambda path: read_evaluation(path.parent),
    ".lock": lambda path: lock.is_locked(path.parent) or lock.read_start(path.parent),
    "state.json": lambda path: run_state.read(path.parent) != ("ended", "") or None,
    "messages.csv": lambda path: run_state.read(path.parent) != ("ended", "") or None,
    "tail.csv": lambda path: Tail(path, COLUMNS).refresh(),
}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_not_read(tmp_path, name, make):
    """To open a pipe would wait for ever; a device has no end."""
    make(tmp_path / name)
    with contextlib.suppress(ConfigError):
        assert repr(READERS[name](tmp_path / name)) in map(repr, (None, {}, Evaluation()))  # NaN is not equal to NaN


def test_a_log_that_is_too_long_for_this_machine_is_not_read(tmp_path):
    path = tmp_path / "log.csv"
    with path.open("wb") as file:
        file.truncate(csv_reading.LOG_BYTES_LIMIT + 1)
    with pytest.raises(ConfigError, match="has more than"):
        read_csv(path)
    Tail(path, COLUMNS).refresh()


def test_a_log_is_read_part_by_part(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reading, "PART_BYTES", 40)
    path = tmp_path / "log.csv"
    path.write_text("steps,score\n" + "".join(f"{n},{10 * n}\n" for n in range(50)) + "x" * 200 + "\n50,500\n51,5")
    tail = Tail(path, COLUMNS)
    tail.refresh()
    for columns in (read_csv(path), tail.columns):
        assert list(columns["steps"]) == list(range(51))
        assert list(columns["score"]) == [10 * n for n in range(51)]
    mend(path, COLUMNS, last_step=3)
    assert path.read_text() == "steps,score\n0,0\n1,10\n2,20\n3,30\n"


def test_numbers_that_no_run_writes_are_not_known(tmp_path):
    path = tmp_path / "log.csv"
    large = ["1e308", "-1e308", "inf", "-inf", "9" * 400]
    path.write_text("steps,score\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate([*large, "", "-3e38"])))
    tail = Tail(path, COLUMNS)
    tail.refresh()
    for columns in (read_csv(path), tail.columns):
        np.testing.assert_array_equal(columns["score"], [np.nan] * 6 + [-3e38])
    mend(path, COLUMNS)
    assert len(read_csv(path)["steps"]) == 7


CONFIGS = {
    "deep": "[" * 100_000,
    "infinite": '{"settings": {"run": {"log_seconds": Infinity}}}',
    "long": '{"settings": {"run": {"log_seconds": ' + "9" * 1000 + "}}}",
    "longer": '{"settings": {"run": {"log_seconds": ' + "9" * 10_000 + "}}}",
    "list": "[]",
    "types": '{"settings": [1]}',
    "more types": '{"settings": {"run": [1]}}',
    "empty": "",
    "text": "\udcff",
}


@pytest.mark.parametrize("content", CONFIGS.values(), ids=CONFIGS)
def test_a_description_of_any_content_is_refused_in_one_line(tmp_path, content):
    settings = saved_settings.to_dict(Settings())
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        changed = json.loads(content)
        settings["run"] |= changed["settings"]["run"]
        content = json.dumps({"settings": settings})
    (tmp_path / "config.json").write_text(content, errors="surrogateescape")
    with pytest.raises(ConfigError, match=r"config\.json") as refusal:
        read_settings(tmp_path)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 1000
    (tmp_path / ".lock").write_text(content, errors="surrogateescape")
    assert lock.read_start(tmp_path) == {}
    (tmp_path / "state.json").write_text(content, errors="surrogateescape")
    assert run_state.read(tmp_path) == ("ended", "")


def test_two_starts_may_make_the_same_directories(tmp_path, monkeypatch):
    mkdir = os.mkdir

    def after_another(path):
        mkdir(path)
        mkdir(path)

    monkeypatch.setattr(files.os, "mkdir", after_another)
    files.make_directory(tmp_path / "results" / "Pong" / "run")
    assert (tmp_path / "results" / "Pong" / "run").is_dir()


def test_where_no_directory_can_be_made_that_is_said():
    with pytest.raises(OSError, match="No such file"):
        files.make_directory(Path("/proc/run"))


def test_what_a_killed_program_of_the_same_number_has_left_goes(tmp_path):
    """In a container each start has the same number. Two that one program makes at once keep apart."""
    left = tmp_path / f".it.{os.getpid()}.partial"
    left.mkdir()
    (left / "half").touch()
    with staging.staging(tmp_path, "it") as folder:
        assert list(folder.iterdir()) == []
        with pytest.raises(FileExistsError), staging.staging(tmp_path, "it"):
            pass
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []
