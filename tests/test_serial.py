"""A run in one thread: the same weights from the same seed."""

import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from ga3c.systems.one_thread import OneThread  # isort: skip (first: it loads TensorFlow)
from ga3c import environments, progress
from ga3c.records import checkpoint
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.run import RunSettings, Settings
from ga3c.settings.schedule import ScheduleSettings
from ga3c.systems import serial
from tests import program
from tests.program import TINY, Started
from tests.variants import long


def weights_of(run):
    return checkpoint.load_newest(run / "checkpoints")[1]


@pytest.mark.long
def test_the_same_seed_gives_the_same_weights(tmp_path):
    found = []
    for name in ("first", "second"):
        arguments = ["--algorithm", "ppo", "--preset", "ga3c", "--serial", "--seed", 7, "--steps", 2_000]
        arguments += ["--start-steps-limit", 30]
        ended = program.run(*TINY, *arguments, "--run-dir", tmp_path / name, "--log-seconds", 0.5)
        assert ended.returncode == 0, ended.stderr
        found.append(weights_of(tmp_path / name))
    first, second = found
    assert int(first["version"]) > 5
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_it_has_no_agents_trains_on_every_step_and_goes_on(tmp_path):
    run = tmp_path / "run"
    started = Started(tmp_path / "log", *TINY, "--serial", "--run-dir", run, "--log-seconds", 0.5)
    started.wait_for(lambda: any(float(row["tps"]) > 0 for row in program.rows(run / "throughput.csv")))
    assert not psutil.Process(started.process.pid).children()
    assert started.stop() == 130
    row = program.rows(run / "throughput.csv")[-1]
    assert int(row["steps"]) == int(row["trained_steps"])
    assert {float(row["max_policy_lag_updates"]) for row in program.rows(run / "throughput.csv")} <= {0.0, 1.0}
    before, settings = int(weights_of(run)["version"]), (run / "config.json").read_text()
    refused = program.run("--resume", run, "--algorithm", "dqn")
    assert refused.returncode == 2
    assert "does not fit the network 'dqn-mlp' of this game: give --algorithm" in refused.stderr
    assert (run / "config.json").read_text() == settings
    ended = program.run("--resume", run, "--steps", int(row["steps"]) + 2_000)
    assert ended.returncode == 0, ended.stderr
    assert int(weights_of(run)["version"]) > before


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")


def played(
    steps=600, seed=7, begun=None, stop_at=None, start_steps_limit=20, algorithm="a2c", replay=None, game="Match",
    say=lambda _: None, **learning,
):  # fmt: skip
    """A system that has ended: at so many steps, or stopped at totals of which `stop_at` is true."""
    schedule = ScheduleSettings(serial=True, agents=2, envs_per_agent=4)
    learning = LearningSettings(algorithm=algorithm, seed=seed, **({"t_max": 5, "minimum_batch_steps": 80} | learning))
    game = EnvironmentSettings(game=f"tests.tiny_environment:{game}-v0", start_steps_limit=start_steps_limit)
    settings = Settings(game, schedule, learning, replay or ReplaySettings(), RunSettings(steps=steps))
    begun = begun or progress.beginning(settings)
    spec = environments.make(game, 1, 0).spec
    system = OneThread(serial.wire, settings, spec, begun, say, lambda _: None)
    system.start(None)
    deadline = time.monotonic() + program.HANG_SECONDS
    while system._thread.is_alive() if stop_at is None else not stop_at(system.stats.totals()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    system.stop()
    return system


def test_it_ends_at_the_steps_asked_for_and_has_learned_from_all():
    first = played()
    state = first.model.state()
    for other, same in (played(), True), (played(seed=8), False), (played(start_steps_limit=0), False):
        found = other.model.state()
        assert all(np.array_equal(array, found[name]) for name, array in state.items()) == same
    totals = first.stats.totals()
    assert 600 <= totals.steps < 600 + 8
    assert totals.made_steps == totals.trained_steps == totals.steps
    assert (totals.lost_steps, first.next_agent) == (0, 1)
    assert (totals.updates, totals.lag_sum) == (8, 0)
    assert first.games() == (8, 8)


def test_games_that_draw_from_the_state_that_all_share_go_by_the_seed_too():
    first, second = (played(200, game="Shared").model.state() for _ in range(2))
    assert all(np.array_equal(array, second[name]) for name, array in first.items())


@pytest.mark.parametrize("settings", [{}, {"algorithm": "dqn"}])
def test_a_game_that_fails_starts_anew_and_its_step_counts_as_lost(monkeypatch, settings):
    """The first game fails, and fails to start anew."""
    said, replays = [], DQN | {"replay": SMALL} if settings else {}
    monkeypatch.setattr("tests.tiny_environment.Failing.left", 2)
    system = played(200, game="Failing", say=said.append, start_steps_limit=0, **replays)
    totals = system.stats.totals()
    assert system.has_all_steps  # or the server would wait for the step that failed
    assert 200 <= totals.steps == totals.trained_steps == totals.made_steps - 1
    assert totals.lost_steps == 1
    (line,) = [line for line in said if "failed" in line]
    assert line.startswith("Game 0 failed (ArithmeticError: failed on purpose): it starts anew")


def test_a_game_that_shows_what_is_no_picture_starts_anew(monkeypatch):
    said = []
    monkeypatch.setattr("tests.tiny_environment.Bright.left", 1)
    totals = played(200, game="Bright", say=said.append, start_steps_limit=0).stats.totals()
    assert totals.lost_steps == totals.made_steps - totals.trained_steps == 1
    (line,) = [line for line in said if "failed" in line]
    assert line.startswith("Game 0 failed (an observation holds a number that is not within 0 and 1): it starts anew")


def test_games_that_go_on_failing_end_the_run_which_is_saved(tmp_path):
    run, broken = tmp_path / "run", ["--game", "tests.tiny_environment:Broken-v0"]
    ended = program.run(*TINY, *broken, "--serial", "--run-dir", run, "--plot-seconds", 0)
    assert ended.returncode == 1, ended.stderr
    assert "Games keep failing. The last, game 2: ArithmeticError: broken on purpose." in ended.stdout
    assert "self.env.step(action)" in ended.stdout
    assert checkpoint.saved(run / "checkpoints")


def test_it_stops_when_it_is_told_to_and_goes_on_to_the_steps_of_the_whole_run():
    totals = played(steps=None, stop_at=lambda totals: totals.steps >= 200).stats.totals()
    assert totals.made_steps == totals.trained_steps >= 200
    begun = replace(progress.beginning(Settings(schedule=ScheduleSettings(agents=2))), next_agent=4)
    begun.totals.steps = begun.totals.trained_steps = 400
    system = played(begun=begun)
    assert 600 <= system.stats.totals().steps < 600 + 8
    assert system.next_agent == 5


SMALL = ReplaySettings(replay_transitions=300, replay_minimum_transitions=200, batch=16, target_updates=20)
DQN = {"algorithm": "dqn", "t_max": 1, "minimum_batch_steps": 8, "exploration_decay_steps": 400}
RAINBOW = replace(SMALL, n_steps=3, double_q=True, dueling=True, priority_alpha=0.5)


@pytest.mark.parametrize(
    ("settings", "replay"),
    [long(DQN, SMALL), (DQN | {"algorithm": "c51"}, replace(RAINBOW, concurrent_training=True))],
    ids=["dqn", "rainbow in blocks"],
)
def test_a_replay_is_learned_from_in_the_same_thread(settings, replay):
    first, second = (played(**settings, replay=replay) for _ in range(2))
    state, other = first.model.state(), second.model.state()
    assert all(np.array_equal(array, other[name]) for name, array in state.items())
    totals = first.stats.totals()
    assert 600 <= totals.steps == totals.made_steps == totals.trained_steps < 600 + 8
    assert totals.lag_sum == 0
    if replay.concurrent_training:
        # 600 steps are 79 rows with the restarts in them: 7 blocks of 10, and no update before the replay has 200.
        assert totals.updates == (7 - 3) * replay.target_updates
        assert all(np.array_equal(state[f"target/{i}"], state[f"network/{i}"]) for i in range(4))
    else:
        assert totals.updates == (totals.steps - replay.replay_minimum_transitions) // replay.steps_per_update + 1
        assert not np.array_equal(state["target/0"], state["network/0"])


def test_who_is_stopped_leaves_the_rest_of_a_blocks_updates_out():
    replay = replace(SMALL, concurrent_training=True, target_updates=2_000, steps_per_update=1)
    totals = played(steps=None, stop_at=lambda totals: totals.updates, **DQN, replay=replay).stats.totals()
    assert totals.made_steps == totals.trained_steps == totals.steps >= 2_000
    assert 0 < totals.updates < replay.target_updates
