"""Commands that are interrupted in their first run or measurement, and gone on with. Their runs are made up."""

import csv
import importlib
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ga3c.experiments import comparison, emulation, runs
from ga3c.papers.accelerated import fig2
from ga3c.papers.contents import PAPERS
from ga3c.papers.cule import Options, fig4, fig8, fig10
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.records.run_directory import SECONDARY
from tests.finished_runs import PROTOCOL

NORMS = [f"{layer}_{kind}_norm" for layer in ("conv0", "fc0") for kind in ("weight", "gradient", "update")]
FIGURES = {
    "accelerated": "table1 fig2 fig3 table2 fig4 fig5 table3 fig6 fig7 fig9 fig12",
    "ga3c": "fig2 fig3 fig4 table2 fig5 table3 fig6 fig7 ablation",
    "fast_dqn": "table1 table4",
    "apex": "table1 fig3 fig4 fig5 fig6 fig7 fig11 fig12",
    "cule": "table1 fig3 table3 fig5 table4 table5",
}
COMMANDS = [(paper, name) for paper, names in FIGURES.items() for name in names.split()]


def write(file, names, rows) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([names, *rows])


def leave_a_run(directory, seconds: float) -> None:
    """Leaves what a run leaves that makes 500 steps a second, and has a score that rises to 19."""
    values = dict.fromkeys([*THROUGHPUT_COLUMNS, *NORMS, "weight_norm", "pods_bytes_per_second"], 2.0)
    values["games"] = 100.0
    times = np.linspace(0, seconds, 12)[1:]
    rows = [list((values | {"seconds": t, "steps": 500 * t, "frames": 2000 * t}).values()) for t in times]
    write(directory / "throughput.csv", values, rows)
    games = [
        (t, 500 * t, score, 50, 0)
        for t, score in zip(np.linspace(0, seconds, 200), np.linspace(-20, 19, 200), strict=True)
    ]
    write(directory / "episodes.csv", EPISODE_COLUMNS, games)
    way = {"mean": 19.0, "std": 1.0, "min": 19.0, "max": 19.0, "human_normalized": 1.0, "scores": [19.0]}
    ways = dict.fromkeys(("sampled", "greedy"), way | {"low": None, "high": None})
    evaluation = {"episodes": 3, "fingerprint": PROTOCOL, "ways": ways}
    (directory / comparison.EVALUATION).write_text(json.dumps(evaluation))
    settings = {"schedule": {"envs_per_agent": 1}}
    (directory / "config.json").write_text(json.dumps({"settings": settings, "hardware": {"cores": 2}}))


class Started:
    """A run that is interrupted where it is the first one, and else has ended as soon as it is waited for."""

    returncode, started = 0, 0

    def __init__(self, command, output):
        output.write_text("")
        words = list(map(str, command))
        self.directory, self.seconds = output.parent, 60 * float(words[words.index("--minutes") + 1])
        self.words = words
        Started.started += 1

    def wait(self, _seconds):
        if Started.started == 1:
            (self.directory / "config.json").write_text("{}")
            raise KeyboardInterrupt
        leave_a_run(self.directory, self.seconds)
        if "--secondary-batch" in self.words:
            shutil.copytree(self.directory, self.directory / SECONDARY, dirs_exist_ok=True)

    def send_signal(self, _number):
        pass

    def kill(self):
        pass


@pytest.mark.parametrize(("paper", "name"), COMMANDS)
def test_a_command_that_was_killed_goes_on_and_says_what_came_out(paper, name, tmp_path, monkeypatch, capsys):
    figure = importlib.import_module(f"ga3c.papers.{paper}.{name}")
    game = ("Pong", "Qbert") if (paper, name) == ("ga3c", "table3") else ()  # all nine take long to draw
    options = PAPERS[paper].options(seconds=60.0, episodes=3, seeds=1, game=game)
    monkeypatch.setattr(runs, "start", Started)
    monkeypatch.setattr(runs, "stop", lambda process: None)
    rates = {engine: [4e3, 6e3] for engine in emulation.engines()}
    monkeypatch.setattr(emulation, "frames_per_second", lambda *_: rates)
    monkeypatch.setattr(fig2, "without_inference", lambda *_: 700.0)
    Started.started = 0
    with pytest.raises(KeyboardInterrupt):
        figure.reproduce(options, tmp_path)
    capsys.readouterr()
    words = figure.reproduce(options, tmp_path)
    assert "1 unfinished" in capsys.readouterr().out
    assert words.strip()
    again = Started.started
    monkeypatch.setattr("ga3c.views.drawing.save", lambda *_: None)  # twice it was drawn
    assert figure.reproduce(options, tmp_path) == words
    assert Started.started == again  # all runs are finished


def test_every_command_is_interrupted_here():
    alone = {("cule", name) for name in ("fig4", "fig8", "fig10")}  # they have no runs
    assert {*COMMANDS, *alone} == {(paper, name) for paper in PAPERS for name in PAPERS[paper].figures}


@pytest.mark.parametrize(
    ("figure", "measured"), [(fig4, [fig4.Step(0, 1.0, 0.5, 90.0, 0)] * 2), (fig8, [fig8.Stretch(0, 4e3, 1)] * 2)]
)
def test_games_that_were_measured_before_it_was_killed_are_kept(figure, measured, tmp_path, monkeypatch):
    asked = []

    def measure(game, **_how):
        asked.append(game)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return measured

    monkeypatch.setattr(figure, "measure", measure)
    with pytest.raises(KeyboardInterrupt):
        figure.reproduce(Options(), tmp_path)
    words = figure.reproduce(Options(), tmp_path)
    assert asked == [fig4.GAMES[0], *fig4.GAMES[1:2] * 2, *fig4.GAMES[2:]]
    assert figure.reproduce(Options(), tmp_path) == words
    assert len(asked) == 5
    figure.reproduce(Options(games=(96,)), tmp_path)
    assert len(asked) == 9  # of other games nothing was measured


def test_evaluations_that_were_made_before_it_was_killed_are_kept(tmp_path, monkeypatch):
    asked = []

    def evaluate(command, **_how):
        asked.append(command)
        if len(asked) == 2:
            raise KeyboardInterrupt
        way = {"mean": 2.0, "std": 1.0, "min": 1.0, "max": 3.0, "low": 1.5, "high": 2.5, "scores": [1.0, 3.0]}
        evaluation = json.dumps({"episodes": 2, "ways": {"sampled": way}})
        Path(command[command.index("--json") + 1]).write_text(evaluation)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(comparison.subprocess, "run", evaluate)
    options = Options(game=("Pong", "Boxing"), episodes=2)
    with pytest.raises(KeyboardInterrupt):
        fig10.reproduce(options, tmp_path)
    words = fig10.reproduce(options, tmp_path)
    assert "2 of 2 games with the same score" in words
    assert fig10.reproduce(options, tmp_path) == words
    assert len(asked) == 5
