"""Devices that learn on their own and share weights: the whole program, on parts of the CPU."""

import signal

import pytest

from ga3c.systems.learner import Learner  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, progress
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.systems import replayed
from ga3c.systems.wiring import Context, Unit
from tests import program
from tests.program import TINY, Started

FLAGS = [*TINY, "--devices", "cpu:2", "--device-updates", "asynchronous", "--discount", 0.5, "--seed", 3]
A2C = [*FLAGS, "--preset", "a2c", "--rmsprop-epsilon", 1e-5, "--learning-rate", 0.02]
PPO = [*FLAGS, "--preset", "ppo-paper", "--t-max", 16, "--learning-rate", 0.004]
RAINBOW = [*FLAGS, "--preset", "rainbow", "--learning-rate", 0.003, "--target-updates", 40, "--steps-per-update", 8]
RAINBOW += ["--replay-transitions", 3_000, "--replay-minimum-transitions", 400, "--exploration-decay-steps", 3_000]
EXCHANGING = [*PPO, "--device-exchange-minibatches", 3, "--device-pull-steps", 6]
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
    spec = EnvironmentSpec("Own", (4,), "float32", discrete(2), 1)
    algorithm, learner = algorithms.make(settings, spec.actions), Learner(None)
    wiring = wire(Context(settings, spec, progress.beginning(settings), algorithm, learner, print, unit=unit))
    assert wiring.replay._priorities._beta() == pytest.approx(beta)
