"""Runs of games of one's own: who reads a run runs nothing that it names; who trained it plays it from anywhere."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ga3c import progress
from ga3c.__main__ import main
from ga3c.commands.train_options import parse_settings
from ga3c.environments import own_games
from ga3c.records import checkpoint, run_directory
from ga3c.records.checkpoint_meta import to_meta
from ga3c.records.columns import THROUGHPUT_COLUMNS
from ga3c.records.description import read_settings
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import to_dict
from ga3c.views.dashboard.shown_runs import Runs
from tests import program

EVIL = "from pathlib import Path\nPath(__file__).with_name('it_ran').touch()\n"


@pytest.fixture(params=["evil:Evil", "results.Evil.run.evil:Evil"])
def strangers_run(request, tmp_path, monkeypatch):
    """A run directory that somebody unpacked: its game is a module in it. The person stands where it is found."""
    run = tmp_path / "results" / "Evil" / "run"
    run.mkdir(parents=True)
    settings = replace(Settings(), environment=EnvironmentSettings(game=request.param))
    (run / "evil.py").write_text(EVIL)
    (run / "config.json").write_text(json.dumps({"settings": to_dict(settings)}))
    rows = "".join(",".join(str(n + 1) for _ in THROUGHPUT_COLUMNS) + "\n" for n in range(3))
    (run / "throughput.csv").write_text(",".join(THROUGHPUT_COLUMNS) + "\n" + rows)
    meta = to_meta(progress.beginning(Settings())) | {"settings": to_dict(settings)}
    checkpoint.save(run / "checkpoints", 10, {"network/0": np.zeros(3)}, meta, 1)
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")
    monkeypatch.chdir(run if request.param.startswith("evil") else tmp_path)
    monkeypatch.syspath_prepend(Path.cwd())
    for name in [name for name in sys.modules if name.startswith(("evil", "results"))]:
        monkeypatch.delitem(sys.modules, name)
    return run


def test_what_only_reads_a_run_runs_nothing_of_it(strangers_run, capsys):
    for command in (["list"], ["watch"], ["watch", strangers_run], ["plot", strangers_run]):
        assert main([str(word) for word in command]) == 0, capsys.readouterr()
    runs = Runs(run_directory.RESULTS)
    deadline = time.monotonic() + program.HANG_SECONDS
    while (found := runs.look(runs.names()).get("Evil/run")) is None or found.reading:  # in the background
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert found.view is not None
    assert not (strangers_run / "it_ran").exists()


def test_who_would_clone_its_data_set_is_asked_for_trust(strangers_run, tmp_path, capsys):
    data, settings = tmp_path / "data", read_settings(strangers_run)
    data.mkdir()
    spaces = {
        f"{what}_space": {"type": "Discrete", "dtype": "int64", "n": 2, "start": 0}
        for what in ("observation", "action")
    }
    own = {"settings": to_dict(settings), "protocol": None, "player": "an agent"}
    said = {"data_format": "hdf5", "total_steps": 100, "ga3c": own}
    said |= {name: json.dumps(space) for name, space in spaces.items()}
    (data / "metadata.json").write_text(json.dumps(said))
    words = ["--algorithm", "clone", "--dataset", str(data)]
    assert main(words) == 2
    assert "Add --trust" in capsys.readouterr().err
    assert not (strangers_run / "it_ran").exists()
    for trust in (["--trust"], ["--game", settings.environment.game]):
        assert main([*words, *trust]) == 2  # it registers nothing
        assert "registered no environment 'Evil'" in capsys.readouterr().err
    assert (strangers_run / "it_ran").exists()


ASKING = ["play", "play RUN --live", "play --checkpoint FILE", "evaluate RUN", "export RUN", "report RUN"]
ASKING += ["--resume RUN"]


@pytest.mark.parametrize("command", ASKING)
def test_who_would_play_it_is_asked_for_trust(strangers_run, command, capsys):
    places = {"RUN": strangers_run, "FILE": next(strangers_run.glob("checkpoints/*.npz"))}
    words = [str(places.get(word, word)) for word in command.split()]
    before = sorted(strangers_run.rglob("*"))
    assert main(words) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert ":Evil'" in said
    assert "Add --trust" in said
    assert sorted(strangers_run.rglob("*")) == before
    for trust in (["--trust"], ["--game", read_settings(strangers_run).environment.game]):
        assert main([*words, *trust]) == 2  # it registers nothing
        assert "registered no environment 'Evil'" in capsys.readouterr().err
    assert (strangers_run / "it_ran").exists()


OWN = """
import gymnasium
from tests.tiny_environment import Match

class Scaled(Match):
    def __init__(self, scale=1):
        self.scale = scale

    def step(self, action):
        observation, reward, *others = super().step(action)
        return observation, reward * self.scale, *others

class Plus(gymnasium.RewardWrapper):
    def reward(self, reward):
        return reward + 1

class Times(gymnasium.RewardWrapper):
    def reward(self, reward):
        return reward * 100

def network(observations, actions):
    import keras

    inputs = keras.Input(observations.shape)
    return keras.Model(inputs, (keras.layers.Dense(actions.policy_size)(inputs), keras.layers.Dense(1)(inputs)))
"""


def test_objects_of_ones_own_are_saved_with_the_run(tmp_path):
    """A class as a game, its arguments, two wrappers and a network: who trained with them needs to name none again, and
    plays from anywhere. What a stranger's directory calls by the same name stays alone, in agents too."""
    project, elsewhere, run = tmp_path / "project", tmp_path / "elsewhere", tmp_path / "run"
    project.mkdir()
    elsewhere.mkdir()
    (project / "mine.py").write_text(OWN)
    for name in ("mine", "keras", "matplotlib"):
        (elsewhere / f"{name}.py").write_text(EVIL)
    home = {"XDG_STATE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path / "home")}
    own = ["--game", "mine:Scaled", "--environment-arguments", '{"scale": 2}', "--network", "mine:network"]
    own += ["--wrapper", "mine:Plus", "mine:Times"]
    size = ["--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 40, "--plot-seconds", 0]
    ended = program.run("train", *own, *size, "--steps", 400, "--run-dir", run, cwd=project, env=home)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "network: mine:network (your own)." in ended.stdout
    scores = [float(row["score"]) for row in program.rows(run / "episodes.csv")]
    assert {score % 200 for score in scores} == {0}  # 20 steps of (0 or 2, plus 1) times 100
    assert min(scores) >= 2_000
    ended = program.run("--resume", run, "--steps", 800, cwd=elsewhere, env=home)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    ended = program.run("evaluate", run, "--episodes", 2, cwd=elsewhere, env=home)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert not (elsewhere / "it_ran").exists()
    strangers = {"XDG_STATE_HOME": "/dev/null/nowhere"}
    for words, what in ((), "is of the game 'mine:Scaled'"), (("--game", "mine:Scaled"), "has the wrapper 'mine:Plus'"):
        refused = program.run("evaluate", run, *words, cwd=project, env=strangers)
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
        assert what in refused.stderr
        assert "Add --trust" in refused.stderr


@pytest.mark.parametrize("setting", ["network", "own_algorithm", "wrapper"])
def test_no_file_of_a_run_names_what_is_imported(setting, tmp_path, monkeypatch, capsys):
    """Another object than the game asks for trust, too."""
    value = ["evil:Evil"] if setting == "wrapper" else "evil:Evil"
    saved = to_dict(replace(Settings(), environment=EnvironmentSettings(game="CartPole-v1")))
    saved["environment" if setting == "wrapper" else "learning"][setting] = value
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "config.json").write_text(json.dumps({"settings": saved}))
    meta = to_meta(progress.beginning(Settings())) | {"settings": saved}
    checkpoint.save(tmp_path / "checkpoints", 10, {"network/0": np.zeros(3)}, meta, 1)
    monkeypatch.chdir(tmp_path)
    for command in (["evaluate", "."], ["--resume", "."]):
        assert main(command) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert f"has the {setting.removeprefix('own_')} 'evil:Evil'" in said
        assert "Add --trust" in said
    assert not (tmp_path / "it_ran").exists()


def test_arguments_of_a_strangers_game_ask_for_trust(tmp_path, monkeypatch, capsys):
    """A game may take the name of a file or of a module."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    game = EnvironmentSettings(game="CartPole-v1", environment_arguments='{"sutton_barto_reward": true}')
    settings = replace(Settings(), environment=game)
    (tmp_path / "config.json").write_text(json.dumps({"settings": to_dict(settings)}))
    meta = to_meta(progress.beginning(Settings())) | {"settings": to_dict(settings)}
    checkpoint.save(tmp_path / "checkpoints", 10, {"network/0": np.zeros(3)}, meta, 1)
    for command in (["evaluate", str(tmp_path)], ["--resume", str(tmp_path)]):
        assert main(command) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert 'arguments that no run of yours has had here (CartPole-v1 {"sutton_barto_reward": true})' in said
    own_games.note_all(settings, str(tmp_path))
    own_games.import_all(settings, tmp_path, trusted=False)


def test_the_cluster_of_a_strangers_run_asks_for_trust(tmp_path, monkeypatch, capsys):
    """Whoever joins it shows it a token, and runs what it likes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    game, schedule = EnvironmentSettings(game="CartPole-v1"), replace(Settings().schedule, cluster="10.9.8.7:6379")
    settings = replace(Settings(), environment=game, schedule=schedule)
    (tmp_path / "config.json").write_text(json.dumps({"settings": to_dict(settings)}))
    resume = ["--resume", str(tmp_path)]
    assert main(resume) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "joins the cluster at 10.9.8.7:6379, on which you have trained no run here. Add --trust" in said
    for more in (["--trust"], ["--cluster", "auto"], ["--cluster", "local"]):
        assert parse_settings([*resume, *more]).resumed == tmp_path
    own_games.note_all(settings, str(tmp_path))
    assert parse_settings(resume).settings.schedule.cluster == "10.9.8.7:6379"


def test_a_game_that_goes_to_another_directory_takes_nothing_with_it(tmp_path):
    stands, elsewhere, home = (tmp_path / name for name in ("stands", "elsewhere", "home"))
    for place in (stands, elsewhere):
        place.mkdir()
    words = "train", "--game", "tests.tiny_environment:Leaving-v0", "--serial", "--envs-per-agent", 4, "--steps", 200
    where = {"cwd": stands, "env": {"ELSEWHERE": str(elsewhere), "XDG_STATE_HOME": str(home)}}
    ended = program.run(*words, "--run-dir", "here/run", **where)
    assert ended.returncode == 0, ended.stderr
    assert "Saved in here/run\n" in ended.stdout
    assert (stands / "here" / "run" / "plot.png").exists()
    assert list(elsewhere.iterdir()) == []
    (line,) = (home / "ga3c" / "games.jsonl").read_text().splitlines()
    assert json.loads(line) == ["tests.tiny_environment:Leaving-v0", str(stands)]
