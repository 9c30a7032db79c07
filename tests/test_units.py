"""Devices that learn on their own and share weights: the whole program, on parts of the CPU."""

import signal
from dataclasses import replace

import numpy as np
import pytest

from ga3c.devices.device import set_up_devices  # isort: skip (first: it loads TensorFlow)
import tensorflow as tf

from ga3c import algorithms, progress
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.model import Acting
from ga3c.records import checkpoint
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.stats import Totals
from ga3c.systems import replayed, units
from ga3c.systems.learner import Learner
from ga3c.systems.replay_parts import updates_of
from ga3c.systems.unit_model import SharedModel, Sharing, UnitModel
from ga3c.systems.wiring import Context, Unit
from tests import program
from tests.program import TINY, Started

FLAGS = [*TINY, "--devices", "cpu:2", "--device-updates", "asynchronous", "--discount", 0.5, "--seed", 3]
A2C = [*FLAGS, "--preset", "a2c", "--rmsprop-epsilon", 1e-5, "--learning-rate", 0.02]
PPO = [*FLAGS, "--preset", "ppo-paper", "--t-max", 16, "--learning-rate", 0.004]
RAINBOW = [*FLAGS, "--preset", "rainbow", "--learning-rate", 0.003, "--target-updates", 40, "--steps-per-update", 8]
RAINBOW += ["--replay-transitions", 3_000, "--replay-minimum-transitions", 400, "--exploration-decay-steps", 3_000]
EXCHANGING = [*PPO, "--device-exchange-minibatches", 3, "--device-pull-steps", 6]
SPEC = EnvironmentSpec("Own", (4,), "float32", discrete(2), 1)
SOLVED = 12.0  # of 20 points in the mean of 100 games; 5 is chance


def totals(run) -> dict:
    return checkpoint.load_newest(run / "checkpoints")[2]["totals"]


@pytest.mark.long
@pytest.mark.parametrize(("flags", "steps"), [(EXCHANGING, 40_000), (RAINBOW, 20_000)], ids=["ppo", "rainbow"])
def test_they_learn(tmp_path, flags, steps):
    run = tmp_path / "run"
    ended = program.run(*flags, "--steps", steps, "--run-dir", run)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows, found = program.rows(run / "throughput.csv"), totals(run)
    assert any(float(row["mean_score"] or "nan") > SOLVED for row in rows)
    assert found["made_steps"] == found["trained_steps"] + found["lost_steps"]
    assert max(float(row["max_policy_lag_updates"]) for row in rows) > 0  # the other one learned meanwhile


def test_a_run_that_is_killed_goes_on_with_one_device(tmp_path):
    run = tmp_path / "run"
    started = Started(tmp_path / "log", *A2C, "--run-dir", run, "--checkpoint-seconds", 1)
    started.wait_for(lambda: checkpoint.saved(run / "checkpoints") and totals(run)["updates"] > 100)
    started.stop(signal.SIGKILL)
    assert not started.left_over()
    before = totals(run)
    more = ["--devices", "cpu:1", "--device-updates", "synchronous", "--steps", before["steps"] + 12_000]
    ended = program.run("--resume", run, *more)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert totals(run)["updates"] > before["updates"] + 50
    assert float(program.rows(run / "throughput.csv")[-1]["mean_score"]) > SOLVED


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--preset a2c", "--devices"),
        ("--preset pqn --devices cpu:2", "a2c, a2c-vtrace, ppo, dqn or c51"),
        ("--preset dqn --devices cpu:2 --checkpoint-replay", "--checkpoint-replay"),
        ("--preset a2c --devices cpu:2 --serial", "--serial"),
        ("--preset ppo-paper --sampling asynchronous --devices cpu:2", "synchronised"),
        ("--preset a2c --devices cpu:2 --device-exchange-minibatches 2", "it is for --algorithm ppo and"),
    ],
)
def test_what_it_does_not_go_with_is_said_in_a_line(flags, says):
    with pytest.raises(ConfigError, match=says):
        parse_settings([*flags.split(), "--device-updates", "asynchronous"])


@pytest.mark.parametrize("wire", [replayed.wire, replayed.wire_concurrent])
@pytest.mark.parametrize(("unit", "beta"), [(Unit(None, None, lambda: 1_000), 1.0), (None, 0.4)])
def test_the_bias_of_priorities_goes_by_the_steps_of_all_units(wire, unit, beta):
    """At the end of a run of 1,000 steps, of which this unit has played none."""
    settings = parse_settings([*TINY, "--preset", "rainbow", "--steps", "1000", "--replay-transitions", "20000"])[0]
    begun, algorithm = progress.beginning(settings), algorithms.make(settings, SPEC.actions)
    wiring = wire(Context(settings, SPEC, begun, algorithm, Learner(None), print, unit=unit))
    assert wiring.replay._priorities._beta() == pytest.approx(beta)


def shared(*flags, count=2) -> tuple[SharedModel, list[UnitModel]]:
    """The models of units that exchange weights after each minibatch, and what they share."""
    settings = parse_settings([*TINY, *flags])[0]
    models = [
        UnitModel(
            "CPU:0", SPEC, settings.learning, algorithms.make(settings, SPEC.actions), 1, Acting(), Sharing(None, 1)
        )
        for _ in range(count)
    ]
    return SharedModel(models), models


def test_each_draws_random_numbers_of_its_own():
    _, models = shared("--preset", "a2c")
    first, second = (model.predict(np.zeros((64, 4), np.float32))[0]["action"].tolist() for model in models)
    assert first != second


def test_versions_go_on_where_they_were():
    model, _ = shared("--preset", "a2c")
    model.restore(model.state() | {"version": np.int64(7)})
    assert (model.version, int(model.state()["version"])) == (7, 7)


def test_a_minibatch_that_is_not_finite_stays_out_of_the_store():
    """And the unit goes on from there, where the minibatches before it are."""
    model, (unit,) = shared("--preset", "ppo-paper", "--t-max", "1", "--minibatches", "4", count=1)
    random, first = np.random.default_rng(0), model.state()
    for _ in range(4):
        batch = np.zeros((), rollout_dtype(SPEC, 1, 4))
        batch["valid"], batch["reward"] = True, [1.0, 2.0, 3.0, np.nan]
        batch["observation"] = random.normal(size=(1, 4, 4))
        assert not unit.train(batch).applied
        for own, there in zip(unit.tensors, model._store.pull().tensors, strict=True):
            assert np.isfinite(there).all()
            np.testing.assert_array_equal(own, there)
    assert any((first[name] != array).any() for name, array in model.state().items() if name != "version")


def test_devices_are_refused_where_tensorflow_computes_already(monkeypatch):
    tf.constant(1.0)
    # As where these threads are chosen already.
    monkeypatch.setattr(tf.config.threading, "set_intra_op_parallelism_threads", lambda threads: None)
    with pytest.raises(ConfigError, match="give them in a new process"):
        set_up_devices("cpu", (0, 1), 1)


def test_only_games_that_explore_little_have_scores(monkeypatch):
    flags = ["--preset", "dqn", "--exploration", "per-game", "--replay-transitions", "2000"]
    settings = parse_settings([*FLAGS[: FLAGS.index("--discount")], *flags, "--replay-minimum-transitions", "100"])[0]
    monkeypatch.setattr(units, "set_up_devices", lambda *_: ["CPU:0"] * 2)
    monkeypatch.setattr(units.Stations, "start", lambda *_: None)
    said = []
    system = units.Units(settings, SPEC, progress.beginning(settings), said.append, print)
    system.start(None)
    assert system.stats._scored.tolist() == [[False, True, True, True]]  # 40 %, 4.7 %, ... of each unit's agent
    assert said[-1].startswith("Scores are those of 6 of 8 games")


def test_what_a_run_has_made_counts_to_the_next_copy_of_its_network():
    settings = parse_settings([*TINY, "--preset", "dqn"])[0]
    begun = replace(progress.beginning(settings), totals=Totals(updates=8))
    context = Context(settings, SPEC, begun, algorithms.make(settings, SPEC.actions), Learner(None), print)
    assert updates_of(context).made == 8
