"""The list of all runs, of directories that this test writes."""

import csv
import json
import os
import shutil
import time
from dataclasses import replace

import pytest

from ga3c.commands import list as listing
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.columns import THROUGHPUT_COLUMNS
from ga3c.settings import saved_settings
from ga3c.settings.run import RunSettings, Settings
from ga3c.views.dashboard.shown_runs import Runs


def make_run(path, age_seconds, command=(), rows=1, game=None, **learning):
    path.mkdir(parents=True)
    settings = Settings(learning=replace(Settings().learning, **learning))
    settings = replace(settings, environment=replace(settings.environment, game=game or path.parent.name))
    (path / "config.json").write_text(
        json.dumps({"settings": saved_settings.to_dict(settings), "command": list(command)})
    )
    row = dict.fromkeys(THROUGHPUT_COLUMNS, 1) | {"steps": 12_345, "episodes": 37, "mean_score": -20.25}
    with (path / "throughput.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([THROUGHPUT_COLUMNS, *[row.values()] * rows])
    when = time.time() - age_seconds
    for file in path.iterdir():
        os.utime(file, (when, when))
    return path


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results"
    make_run(path / "Pong" / "new", 200, ["--t-max", "5", "--seed", "3"], t_max=5, seed=3)
    make_run(path / "Pong" / "old", 3 * 86_400 + 1, seed=77)  # this seed was drawn
    make_run(path / "Boxing" / "none", 7_300, rows=0)
    shutil.copytree(run_directory.PRETRAINED / "Pong", path / "pretrained" / "Pong")
    return path


def listed(capsys, *arguments):
    assert listing.run([*map(str, arguments)]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split()[:6] == ["run", "state", "steps", "games", "score", "age"]
    return [" ".join(line.split()) for line in lines]


def test_what_does_not_fit_into_the_terminal_stands_below(results):
    wide, narrow = listing.table(results, None), listing.table(results, None, 60)
    assert [line for line in wide if len(line) > 60]
    assert all(len(line) <= 60 for line in "\n".join(narrow).split("\n"))
    assert " ".join(" ".join(wide).split()) == " ".join(" ".join(narrow).split())


def test_all_runs_the_newest_last(results, capsys):
    found = json.loads((results / "pretrained" / "Pong" / "evaluation.json").read_text())
    steps, mean = f"{found['steps_trained']:,}", f"{found['ways']['sampled']['mean']:.2f}"
    shipped, *runs = listed(capsys, "--results", results)
    assert shipped.startswith(f"pretrained/Pong shipped {steps} - {mean} -")
    assert runs == [
        "Pong/old ended 12,345 37 -20.25 3 d",
        "Boxing/none ended 0 0 - 2 h",
        "Pong/new ended 12,345 37 -20.25 3 min t_max 5, seed 3",
    ]


def test_of_one_game(results, capsys):
    assert [line.split()[0] for line in listed(capsys, "--results", results, "--game", "ALE/Pong-v5")] == [
        *("pretrained/Pong", "Pong/old", "Pong/new")
    ]


def test_the_game_is_that_of_the_run_and_not_of_its_folder(results, capsys):
    """A comparison of several games has all its runs in one folder."""
    make_run(results / "runs" / "Boxing-fast-seed1", 60, game="Boxing")
    names = [line.split()[0] for line in listed(capsys, "--results", results, "--game", "Boxing")]
    assert names == ["Boxing/none", "runs/Boxing-fast-seed1"]


def test_a_secondary_learners_run_is_one_too(results, capsys):
    inner = make_run(results / "Pong" / "new" / run_directory.SECONDARY, 60, game="Pong")
    *_, last = listed(capsys, "--results", results, "--game", "Pong")
    assert last == "Pong/new/secondary ended 12,345 37 -20.25 1 min"
    runs = Runs(results)
    assert runs.names()[0] == "Pong/new/secondary"
    shown = runs.labelled(["Pong/new", "Pong/new/secondary"])
    assert [(label.partition(":")[0], run.view.run_dir) for label, run in shown.items()] == [
        ("new", inner.parent),
        ("new-secondary", inner),
    ]


def test_who_trains_is_running(results, capsys):
    run_directory.lock(results / "Pong" / "old", RunSettings())
    assert any(line.startswith("Pong/old running") for line in listed(capsys, "--results", results))


def test_a_run_that_cannot_be_read_is_a_line(results, capsys):
    (results / "Pong" / "new" / "config.json").write_text("{")
    (results / "Boxing" / "none" / "throughput.csv").write_bytes(b"\xff\0,seconds\n1,x\n")
    lines = listed(capsys, "--results", results)
    assert len(lines) == 4
    (broken,) = [line for line in lines if line.startswith("Pong/new")]
    assert "cannot be read" in broken.lower()
    assert any(line.startswith("Boxing/none ended 0") for line in lines)


def test_none(tmp_path, capsys):
    assert listing.run(["--results", str(tmp_path)]) == 0
    assert "No runs" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="no such directory"):
        listing.run(["--results", str(tmp_path / "none")])
