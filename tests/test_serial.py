"""A run in one thread: the same weights from the same seed."""

import numpy as np
import psutil
import pytest

from ga3c.records import checkpoint
from tests import program
from tests.program import TINY, Started


def weights_of(run):
    return checkpoint.load_newest(run / "checkpoints")[1]


@pytest.mark.parametrize("algorithm", ["a3c", "ppo", "pqn"])
def test_the_same_seed_gives_the_same_weights(tmp_path, algorithm):
    found = []
    for name in ("first", "second"):
        arguments = ["--algorithm", algorithm, "--preset", "default", "--serial", "--seed", 7, "--steps", 2_000]
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
    before = int(weights_of(run)["version"])
    ended = program.run("--resume", run, "--steps", int(row["steps"]) + 2_000)
    assert ended.returncode == 0, ended.stderr
    assert int(weights_of(run)["version"]) > before
