"""What comes from files and arguments is shown, and does nothing to a terminal; and output that cannot be written."""

import csv
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from ga3c import text
from ga3c.records import run_directory
from ga3c.text import Output, harmless, one_line
from tests import program
from tests.program import HANG_SECONDS
from tests.terminal import Terminal
from tests.test_list import make_run
from tests.variants import long, variants

# A title, the clipboard, a clear screen in C0 and C1, a line that says what is not so; what rich and TeX would read.
HOSTILE = "x\x1b]0;title\a\x1b]52;c;AAAA\a\x1b[2J\x9b2J\x7f\b\u202e[bold]$\\frac{$\nSaved"
SHOWN = r"x\x1b]0;title\x07\x1b]52;c;AAAA\x07\x1b[2J\x9b2J\x7f\x08\u202e[bold]$\frac{$\nSaved"


@pytest.fixture
def results(tmp_path):
    """Two runs, one of a hostile name and with hostile logs, and one that cannot be read."""
    for number in (1, 2):
        run = make_run(tmp_path / "Pong" / f"{number}{HOSTILE}", 5, t_max=number)
        for name, columns in ("messages", ["time", "message"]), ("controller", ["seconds", "reason"]):
            with (run / f"{name}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([columns, [1, HOSTILE.replace("\n", " ")]])
        header, row = (run / "throughput.csv").read_text().splitlines()
        (run / "throughput.csv").write_text(f"{header},\x1b[3J\n{row},1\n")
    unreadable = tmp_path / f"Boxing{HOSTILE}" / "z"
    unreadable.mkdir(parents=True)
    (unreadable / "config.json").write_text("{")
    return tmp_path


def is_harmless(output: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in output)


def test_text():
    assert one_line(HOSTILE) == SHOWN
    assert one_line("Größe 3 µs, 日本 ▄█ ⡠⠊") == "Größe 3 µs, 日本 ▄█ ⡠⠊"
    assert one_line(os.fsdecode(b"\xff")) == r"\udcff"
    assert harmless("one\n\ttwo\x1b\u2028\r\n") == "one\n\ttwo\\x1b\\u2028\\r\n"


def test_whatever_is_written_to_a_stream_for_people_is_harmless():
    """Also what nobody has made so before: a library's words, a traceback."""
    stream = io.StringIO()
    print(HOSTILE, file=(output := Output(stream)))
    output.writelines([HOSTILE, "\n"])
    assert stream.getvalue() == 2 * (SHOWN.replace(r"\nSaved", "\nSaved") + "\n")


def test_runs_are_listed_drawn_and_watched_harmlessly(results):
    runs = sorted(results.glob("Pong/*"))
    for command in (["list", "--results", results], ["plot", *runs, "--out", results / "x.png"], ["watch", runs[0]]):
        ended = program.run(*command)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert is_harmless(ended.stdout)
        if command[0] == "list":
            _head, *lines = ended.stdout.splitlines()
            assert len(lines) == 3
            assert sum(SHOWN in line for line in lines) == 3
    assert (results / "x.png").exists()


def test_the_screen_shows_hostile_logs_harmlessly(results):
    watching = Terminal("watch", next(results.glob("Pong/1*")), rows=30, columns=200)
    assert watching.end() == 0
    shown = re.sub(rb"\x1b\[[\d;]*m", b"", watching.output).decode().replace("\r\n", "\n")  # the screen's own colours
    assert is_harmless(shown)
    assert SHOWN.replace(r"\n", " ") in shown
    assert r"\x1b[3J" in shown  # a column's name


BAD = [[HOSTILE], ["--game", HOSTILE], ["--agents", HOSTILE], ["watch", HOSTILE]]


@pytest.mark.parametrize("command", variants(BAD, BAD[0], BAD[3]))
def test_bad_input_is_said_harmlessly_and_in_one_line(command):
    ended = program.run(*command)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert is_harmless(ended.stderr)
    assert len(ended.stderr.splitlines()) == 1


def test_on_a_terminal_bad_input_is_the_same_line():
    terminal = Terminal("--agents", "many")
    assert terminal.end() == 2
    assert terminal.output == b"ga3c: Error parsing --agents: many is no whole number. See --help.\r\n"


@pytest.mark.parametrize(
    "command", [["list"], long(["games"]), ["plot", "--help"], long(["watch", run_directory.PRETRAINED / "Pong"])]
)
def test_output_that_cannot_be_written(command, monkeypatch):
    """Closed from the start, full, or with nobody who reads; all at once at the end, as a pipe gets it."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    full = "ga3c: Cannot write the output: No space left on device.\n"
    for closing, status, said in ("<&- >&-", 0, ""), (">&- 2>&-", 0, ""), ("> /dev/full", 2, full):
        shell = ["bash", "-c", f'exec "$@" {closing}', "bash", *program.command(*command)]
        ended = subprocess.run(shell, capture_output=True, text=True, cwd=program.ROOT, timeout=HANG_SECONDS)
        assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", said)
    reader, writer = os.pipe()
    os.close(reader)
    arguments = program.command(*command)
    ended = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, cwd=program.ROOT, timeout=HANG_SECONDS)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_numbers_are_said_with_the_right_form_and_unit():
    assert [text.count(number, "game") for number in (0, 1, 1_200)] == ["0 games", "1 game", "1,200 games"]
    assert text.count(2, "process") == "2 processes"
    said = {0.44: "0.4 seconds", 12: "12 seconds", 89.4: "89 seconds", 216: "3.6 minutes", 7200: "2.0 hours"}
    assert {seconds: text.duration(seconds) for seconds in said} == said


def test_a_path_can_be_copied_into_a_shell():
    for name in ("plain", "rün 1", "it's", "$HOME"):
        assert shlex.split(f"./run.sh --resume {text.word(Path(name))}")[-1] == name
