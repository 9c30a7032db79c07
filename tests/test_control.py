"""dm_control's tasks: what they are called, how they are played, and what is seen of them."""

import os
import subprocess
import sys
from ctypes.util import find_library

import numpy as np
import pytest

from ga3c import environments
from ga3c.__main__ import main
from ga3c.environments import control
from ga3c.environments.control import ControlTask
from ga3c.errors import ConfigError
from ga3c.play.playing import Stage
from ga3c.records import checkpoint
from ga3c.records.run_directory import RESULTS, game_directory
from ga3c.rollout import continuous
from ga3c.settings.game import EnvironmentSettings
from tests import program
from tests.test_play import NO_DISPLAY


@pytest.mark.parametrize("name", ["humanoid-walk", "Humanoid Walk", "humanoid_walk"])
def test_a_task_has_any_usual_spelling_and_a_directory_of_its_own(name):
    assert environments.resolve(name) == ("gymnasium", "ga3c.environments.control:humanoid-walk")
    assert game_directory(name) == RESULTS / "humanoid-walk"


@pytest.mark.parametrize(("name", "nearest"), [("humanoid-wlak", "humanoid-walk"), ("manipulatr-bring_ball", "manip")])
def test_a_wrong_domain_or_task_is_told_its_nearest(name, nearest, capsys):
    assert main(["--game", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"Nearest: {nearest}" in line


def test_every_task_of_dm_control_has_its_name_and_gymnasium_keeps_its_own():
    from ga3c.environments.gymnasium import known_ids

    code = "from dm_control import suite; print(*map('-'.join, suite.ALL_TASKS))"
    said = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"MUJOCO_GL": "disable"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert {*control.NAMES} == {name for name in said.stdout.split() if not name.startswith("lqr")}
    assert not {*control.NAMES} & {*known_ids()}
    assert environments.resolve("Humanoid-v5") == ("gymnasium", "Humanoid-v5")


def test_a_batch_of_tasks_is_seeded_and_its_limit_of_time_cuts():
    def games():
        return environments.make(EnvironmentSettings(game="cartpole-swingup"), 2, 7)

    one, other = games(), games()
    first = one.reset()
    assert first.dtype == np.float32
    assert first.shape == (2, 5)
    assert (first == other.reset()).all()
    assert (first[0] != first[1]).any()
    assert one.spec.actions == continuous([-1], [1])
    for step in range(1000):  # 10 s at 0.01 s
        action = np.full((2, 1), np.sin(step), np.float32)
        observations, rewards, terminated, truncated, _ = one.step(action)
        same = other.step(action)[0]
        assert (observations == same).all()
        assert ((rewards >= 0) & (rewards <= 1)).all()
        assert not terminated.any()
        assert truncated.all() == truncated.any() == (step == 999)
    assert (one.step(action)[0] == other.step(action)[0]).all()  # the next game has begun, from the same seed
    one.close()
    other.close()


def test_what_a_task_shows_is_flat_and_in_its_order():
    task = ControlTask("humanoid", "stand")
    first, _ = task.reset(seed=3)
    shown = task._task.task.get_observation(task._task.physics)
    assert first.shape == task.observation_space.shape == (67,)
    assert task.action_space.shape == (21,)
    np.testing.assert_array_equal(first, np.concatenate([np.ravel(one) for one in shown.values()]).astype(np.float32))
    assert list(shown) == task._names
    task.close()


@pytest.mark.parametrize(("asked", "given"), [(-1, -2), (0, 1), (1, 4), (0.5, 2.5)])
def test_actions_are_scaled_to_the_bounds(asked, given):
    task, taken = ControlTask("cartpole", "balance"), []
    after = task._task.step

    def step(action):
        taken.append(action.copy())
        return after(np.zeros(1))

    task.reset(seed=1)
    task._task.step = step
    task._low, task._high = np.array([-2.0]), np.array([4.0])
    task.step(np.array([asked], np.float32))
    assert taken == [[given]]


def test_an_end_that_is_none_of_time_terminates():
    """A manipulated clock: dm_control's own tasks end by time alone, but for a few."""
    task = ControlTask("cartpole", "balance")
    task.reset(seed=1)
    task._task.task.get_termination = lambda physics: 0.0
    *_, terminated, truncated, _ = task.step(np.zeros(1, np.float32))
    assert (terminated, truncated) == (True, False)


def test_without_dm_control_it_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "dm_control", None)
    with pytest.raises(ConfigError, match=r"need dm_control, which is not installed: \./run\.sh"):
        environments.make(EnvironmentSettings(game="cartpole-swingup"), 1, 1)


def test_a_task_is_trained_on(tmp_path):
    run = tmp_path / "run"
    small = ["--agents", 1, "--envs-per-agent", 2, "--replay-transitions", 2000, "--replay-minimum-transitions", 64]
    ended = program.run(
        "--game", "cartpole-swingup", "--preset", "apex-dpg", *small, "--batch", 16, "--steps", 500, "--run-dir", run
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert checkpoint.load_newest(run / "checkpoints")[2]["totals"]["updates"] > 0


def test_a_task_is_seen_or_says_what_that_takes(monkeypatch, capfd):
    for name in NO_DISPLAY:
        monkeypatch.delenv(name, raising=False)
    if not find_library("EGL") and not find_library("OSMesa"):
        with pytest.raises(ConfigError, match="install libegl1"):
            Stage(EnvironmentSettings(game="cartpole-swingup"), 1, 1).reset()
        return
    stage = Stage(EnvironmentSettings(game="cartpole-swingup"), 1, 1)
    stage.reset()
    before = stage.pictures.copy()
    for _ in range(3):
        stage.step(np.ones((1, 1), np.float32))
    assert before.shape == (1, 480, 640, 3)
    assert np.std(before) > 10  # not blank
    assert (stage.pictures != before).any()
    assert stage.steps_per_second == 100
    stage.close()
    assert capfd.readouterr().err == ""
