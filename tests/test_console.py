"""The console, as a terminal sees it and as a pipe sees it."""

import os
import pty
import re
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pyte
import pytest

from ga3c.records.console import Console
from ga3c.records.outlet import KEPT_BYTES
from tests.program import HANG_SECONDS, fill

ROW = SimpleNamespace(
    seconds=3725.4,
    episodes=1234,
    mean_score=-20.125,
    pps=2871.4,
    tps=590.2,
    trainers=1,
    predictors=2,
    agents=14,
    games=448,
)
LINE = "[Time: 1:02:05] [Episode: 1234 Score: -21.0 Mean: -20.12] [PPS: 2871 TPS: 590] [NT: 1 NP: 2 NA: 14]"


@contextmanager
def pipe():
    """A console, and what returns all that it wrote."""
    reader, writer = os.pipe()
    console = Console(writer)

    def written() -> str:
        console._outlet.wait(HANG_SECONDS)
        return os.read(reader, 100_000).decode()

    yield console, written
    os.close(reader)
    os.close(writer)


@contextmanager
def terminal(columns: int, monkeypatch):
    """A console, and what returns the lines to be read on its screen."""
    monkeypatch.setenv("COLUMNS", str(columns))
    reader, writer = pty.openpty()
    console, seen = Console(writer), pyte.Screen(columns, 5)
    stream = pyte.ByteStream(seen)

    def lines() -> list[str]:
        console._outlet.wait(HANG_SECONDS)
        os.write(writer, b"\0")  # nothing is to be seen of it; it comes last
        output = b""
        while not output.endswith(b"\0"):
            output += os.read(reader, 100_000)
        stream.feed(output)
        return [line.rstrip() for line in seen.display]

    yield console, lines
    os.close(reader)
    os.close(writer)


def test_a_pipe_gets_plain_lines():
    with pipe() as (console, written):
        console.say("hello")
        console.status(ROW, -21.0)
        console.end()
        assert written() == f"hello\n{LINE}\n"


def test_while_games_are_started_the_line_says_how_many_play():
    with pipe() as (console, written):
        console.status(ROW, -21.0, wanted_games=512)
        assert written() == f"{LINE} [Games: 448 of 512]\n"


def test_a_terminal_gets_one_line_that_stays_below_what_is_said(monkeypatch):
    with terminal(120, monkeypatch) as (console, lines):
        console.status(ROW, -20.0)
        console.status(ROW, -21.0)
        console.say("hello")
        assert lines() == ["hello", LINE, "", "", ""]
        console.end()
        console.say("bye")
        assert lines() == ["hello", LINE, "bye", "", ""]


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_the_line_never_wraps(columns, monkeypatch):
    with terminal(columns, monkeypatch) as (console, lines):
        console.status(ROW, -21.0)
        line, *below = lines()
        assert below == [""] * 4
        assert 20 < len(line) < columns
        if columns >= 80:
            assert line.endswith("[NT: 1 NP: 2 NA: 14]")


def test_nothing_measured_is_a_dash():
    nothing = float("nan")
    with pipe() as (console, written):
        console.status(SimpleNamespace(**(vars(ROW) | {"mean_score": nothing})), nothing)
        assert "Score: - Mean: -]" in written()


def test_what_is_said_is_harmless():
    with pipe() as (console, written):
        kept = []
        console.keep(kept.extend)
        console.say("\x1b]0;title\a\x1b[2J\x9b2J\r\x7f \u202ebidi\n  in\ttwo lines")
        shown = r"\x1b]0;title\x07\x1b[2J\x9b2J\r\x7f \u202ebidi"
        assert written() == f"{shown}\n  in\ttwo lines\n"
        assert [row[1] for row in kept] == [shown, "  in\ttwo lines"]


def test_what_nobody_takes_is_left_out_and_counted():
    """And who says it waits for nobody."""
    reader, writer = os.pipe()
    filling = fill(writer)
    console = Console(writer)
    lines = [f"line {number} {'x' * 100}" for number in range(2 * KEPT_BYTES // 100)]
    for line in lines:
        console.say(line)
    found = b""
    while not found.endswith(f"{lines[-1]}\n".encode()):
        found += os.read(reader, 100_000)
    found = found[filling:].decode().splitlines()
    notes = [line for line in found if not line.startswith("line ")]  # several, if the writer came late to its turn
    left_out = [int(re.fullmatch(r"\((\d+) lines were left out: .*messages.csv.\)", note)[1]) for note in notes]
    assert min(left_out) > 0
    assert len(found) - len(notes) + sum(left_out) == len(lines)
    newest = found[len(found) - found[::-1].index(notes[-1]) :]
    assert newest == lines[-len(newest) :]
    os.close(reader)
    console.say("nobody is there any more")
    console._outlet.wait(HANG_SECONDS)
    os.close(writer)


def test_a_file_that_does_not_wait_gets_everything_later():
    """Some program set O_NONBLOCK on what it shares with this one."""
    reader, writer = os.pipe()
    filling = fill(writer)
    os.set_blocking(writer, False)
    console = Console(writer)
    console.say("hello")
    time.sleep(0.1)  # until it has been tried
    found = b""
    while not found.endswith(b"hello\n") and (part := os.read(reader, 100_000)):
        found += part
    assert found[filling:] == b"hello\n"
    os.close(reader)
    os.close(writer)
