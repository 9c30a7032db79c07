"""Agents to ship: small, whole, without traces of where they were made, and found where there is no other."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.__main__ import main
from ga3c.commands import export
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.export import FILES, command
from ga3c.records import checkpoint, chosen_runs, run_directory
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings, without_paths
from tests import program


@pytest.fixture(scope="module")
def pong_run(tmp_path_factory):
    """The directory of a run in which a few games have ended."""
    run = tmp_path_factory.mktemp("results") / "Pong" / "run"
    small = ["--serial", "--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 400, "--plot-seconds", 0]
    small += ["--episode-cap-frames", 400]
    ended = program.run("--game", "Pong", *small, "--steps", 1_300, "--run-dir", run)
    assert ended.returncode == 0, ended.stderr
    return run


@pytest.fixture(scope="module")
def exported(pong_run, tmp_path_factory):
    out = tmp_path_factory.mktemp("pretrained") / "Pong"
    ended = program.run("export", pong_run, "--out", out, "--episodes", 2)
    assert ended.returncode == 0, ended.stderr
    return out


def test_it_is_small_and_complete(exported):
    files = {str(path.relative_to(exported)) for path in exported.rglob("*") if path.is_file()}
    (weights,) = exported.glob("checkpoints/*.npz")
    rest = {"config.json", "evaluation.json", "learning-curve.csv", "learning-curve.png", "README.md"}
    assert files == rest | {f"checkpoints/{weights.name}"}
    assert sum(path.stat().st_size for path in exported.rglob("*")) < 3e6
    with np.load(weights) as arrays:
        assert {name.partition("/")[0] for name in arrays.files} == {"network", "version", "meta"}
    outcome = json.loads((exported / "evaluation.json").read_text())
    readme = (exported / "README.md").read_text()
    assert f"| sampled | {outcome['ways']['sampled']['mean']:.1f} |" in readme
    assert outcome["fingerprint"] in readme
    assert f"{outcome['steps_trained']:,} steps" in readme
    assert outcome["minutes"] > 0
    curve = program.rows(exported / "learning-curve.csv")
    assert [float(row["minutes"]) for row in curve] == sorted(float(row["minutes"]) for row in curve)


def test_it_says_nothing_of_where_it_was_made(exported, pong_run):
    for file in exported.rglob("*.*"):
        if file.is_file():
            assert str(pong_run).encode() not in file.read_bytes(), file
    clone = replace(Settings(), learning=LearningSettings(dataset="/home/me/games.npz"))
    assert without_paths(clone).learning.dataset == "games.npz"


def test_it_plays_as_the_run_did(exported, tmp_path):
    file = tmp_path / "scores.json"
    ended = program.run("evaluate", exported, "--episodes", 2, "--json", file)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(file.read_text())["ways"] == json.loads((exported / "evaluation.json").read_text())["ways"]


def content(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_training_begins_from_it_and_leaves_it_alone(exported, tmp_path):
    before = content(exported)
    refused = program.run("train", "--resume", exported)
    assert refused.returncode == 2
    assert f"--from {exported} begins a new run" in refused.stderr
    flags = ["--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 256, "--steps", 1_000]
    flags += ["--run-dir", tmp_path / "run", "--plot-seconds", 0]
    flags += ["--learning-rate", 1e-30, "--learning-rate-schedule", "inverse"]
    ended = program.run("train", "--game", "Pong", "--from", exported, *flags)
    assert ended.returncode == 0, ended.stderr
    assert content(exported) == before
    theirs, ours = (checkpoint.load_newest(place / "checkpoints")[1] for place in (exported, tmp_path / "run"))
    assert 0 < ours["version"] < 100
    statistics = 6  # the last: what it knows of states and values
    for name in [name for name in theirs if name.startswith("network/")][:-statistics]:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-20)


def test_an_agent_that_lies_there_is_not_overwritten_by_the_way(exported, pong_run, tmp_path):
    out = tmp_path / "shipped"
    shutil.copytree(exported, out)
    old = out / "checkpoints" / "checkpoint-999999999999.npz"
    next(out.glob("checkpoints/*.npz")).rename(old)  # one of more steps
    before = content(out)
    refused = program.run("export", pong_run, "--out", out, "--episodes", 1)
    assert refused.returncode == 2
    assert "add --replace" in refused.stderr
    assert content(out) == before
    ended = program.run("export", pong_run, "--out", out, "--episodes", 1, "--replace")
    assert ended.returncode == 0, ended.stderr
    assert len(list(out.glob("checkpoints/*"))) == 1
    assert not old.exists()


BREAKS = """
import os
from ga3c.experiments import export
export._draw = lambda *_: os._exit(9)
"""


def test_an_export_that_is_killed_leaves_no_half_agent(pong_run, tmp_path):
    out, words = tmp_path / "new", ["export", pong_run, "--episodes", 1, "--out", tmp_path / "new"]
    assert program.run(*words, code=BREAKS).returncode == 9
    assert all(path.name.startswith(".") for path in out.iterdir())
    ended = program.run(*words)
    assert ended.returncode == 0, ended.stderr
    assert sorted(path.name for path in out.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", ["README.md", "learning-curve.png", "evaluation.json"])
def test_files_of_somebody_else_are_not_overwritten(pong_run, tmp_path, capsys, name):
    (tmp_path / name).write_text("precious")
    for more in ([], ["--replace"]):
        assert main(["export", str(pong_run), "--out", str(tmp_path), "--episodes", "1", *more]) == 2
        assert f"There is {name} in {tmp_path}, which is no exported agent" in capsys.readouterr().err
    assert content(tmp_path) == {tmp_path / name: b"precious"}


def test_a_run_is_no_agent_to_replace(pong_run, capsys):
    before = content(pong_run)
    assert main(["export", str(pong_run), "--out", str(pong_run), "--episodes", "1", "--replace"]) == 2
    assert "which is no exported agent" in capsys.readouterr().err
    assert content(pong_run) == before


def test_a_game_of_ones_own_has_a_place_in_results(tmp_path, monkeypatch):
    """Where the program is installed, too: nothing is written beside its own files."""
    agent = SimpleNamespace(
        game="pistonball", settings=SimpleNamespace(environment=EnvironmentSettings(game="mine:Game")),
        has_action_values=True,
    )  # fmt: skip
    written = []
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run_directory, "PRETRAINED", tmp_path / "site-packages")
    monkeypatch.setattr(export, "load_run", lambda options, directory: agent)
    monkeypatch.setattr(export, "export", lambda agent, run, out, *_: written.append(out))
    (tmp_path / "config.json").touch()
    assert main(["export", str(tmp_path)]) == 0
    assert written == [tmp_path / "results" / "pretrained" / "Game"]


def test_frames_are_those_of_the_game(tmp_path):
    assert program.run(*program.TINY, "--run-dir", tmp_path / "run", "--steps", 2_000).returncode == 0
    ended = program.run("export", tmp_path / "run", "--out", tmp_path / "out", "--episodes", 1)
    assert ended.returncode == 0, ended.stderr
    outcome = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert outcome["frames"] == outcome["steps_trained"] >= 2_000


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--seed", "3", "--t-max", "20", "--normalize-advantages"],
        ["--preset", "paper"],
        ["--preset", "paper", "--protocol", "machado", "--learning-rate", "1e-4"],
    ],
)
def test_the_command_makes_the_same_settings_again(arguments):
    settings = parse_settings(["--game", "Boxing", *arguments])[0]
    words = command(settings).split()
    assert words[0] == "./run.sh"
    assert parse_settings(words[1:])[0] == settings
    preset = [] if "--preset" in arguments else ["--preset", "ga3c-ppo"]  # is always said
    assert len(words) <= len(["./run.sh", "--game", "Boxing", *preset, *arguments])  # nothing that a preset says


def test_a_run_of_ones_own_comes_first(tmp_path, monkeypatch):
    def make(*names):
        directory = tmp_path.joinpath(*names)
        (directory / "checkpoints").mkdir(parents=True)
        (directory / "config.json").touch()
        (directory / "checkpoints" / "checkpoint-000000000001.npz").touch()
        return directory

    monkeypatch.setattr(run_directory, "RESULTS", tmp_path)
    monkeypatch.setattr(run_directory, "PRETRAINED", tmp_path / "pretrained")
    with pytest.raises(ConfigError, match="No trained agent for Pong yet"):
        chosen_runs.trained("Pong")
    shipped = make("pretrained", "Pong")
    assert chosen_runs.trained("pong") == chosen_runs.trained(None) == shipped
    with pytest.raises(ConfigError):
        chosen_runs.newest(None)  # it is not a run to go on with, or to watch
    own = make("Pong", "first")
    assert chosen_runs.trained("Pong") == chosen_runs.trained(None) == own
    with pytest.raises(ConfigError, match="No trained agent for Boxing yet"):
        chosen_runs.trained("Boxing")
