"""The console, as a terminal sees it and as a pipe sees it."""

import io
from types import SimpleNamespace

import pytest

from ga3c.records.console import Console

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


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def screen(self) -> list[str]:
        """What is to be read on it."""
        lines = [""]
        for piece in self.getvalue().replace("\r\x1b[K", "\0").replace("\n", "\1\0").split("\0"):
            lines[-1] = piece.rstrip("\1")
            if piece.endswith("\1"):
                lines.append("")
        return lines


def test_a_pipe_gets_plain_lines():
    pipe = io.StringIO()
    console = Console(pipe)
    console.say("hello")
    console.status(ROW, -21.0)
    console.end()
    assert pipe.getvalue() == f"hello\n{LINE}\n"


def test_while_games_are_started_the_line_says_how_many_play():
    pipe = io.StringIO()
    Console(pipe).status(ROW, -21.0, wanted_games=512)
    assert pipe.getvalue() == f"{LINE} [Games: 448 of 512]\n"


def test_a_terminal_gets_one_line_that_stays_below_what_is_said(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    terminal = Terminal()
    console = Console(terminal)
    console.status(ROW, -20.0)
    console.status(ROW, -21.0)
    console.say("hello")
    assert terminal.screen() == ["hello", LINE]
    console.end()
    console.say("bye")
    assert terminal.screen() == ["hello", LINE, "bye", ""]


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_the_line_never_wraps(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    Console(terminal).status(ROW, -21.0)
    (line,) = terminal.screen()
    assert len(line) < columns
    if columns >= 80:
        assert line.endswith("[NT: 1 NP: 2 NA: 14]")


def test_nothing_measured_is_a_dash():
    pipe = io.StringIO()
    nothing = float("nan")
    Console(pipe).status(SimpleNamespace(**(vars(ROW) | {"mean_score": nothing})), nothing)
    assert "Score: - Mean: -]" in pipe.getvalue()
