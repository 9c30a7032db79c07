"""Several devices that learn together: the model (`on_two_devices`), and the whole program."""

import subprocess
import sys

import numpy as np
import pytest

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.settings import devices
from tests import program
from tests.program import TINY, Started
from tests.variants import long, variants

A2C = [*TINY, "--preset", "a2c", "--learning-rate", 0.02, "--rmsprop-epsilon", 1e-5, "--discount", 0.5, "--seed", 3]
SOLVED = 15.0  # of 20 points; 5 is chance


def test_the_model(request):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests/on_two_devices.py"]
    command += ["--long"] * request.config.getoption("long")
    ended = subprocess.run(
        command, cwd=program.ROOT, capture_output=True, text=True, timeout=2 * program.HANG_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def state(run) -> tuple[dict, dict]:
    _, arrays, meta = checkpoint.load_newest(run / "checkpoints")
    return arrays, meta["totals"]


def test_two_learn_and_one_goes_on(tmp_path):
    run = tmp_path / "run"
    started = Started(tmp_path / "log", *A2C, "--devices", "cpu:2", "--log-seconds", 0.5, "--run-dir", run)
    solved = lambda row: float(row["mean_score"] or "nan") > SOLVED  # noqa: E731
    started.wait_for(lambda: any(map(solved, program.rows(run / "throughput.csv"))))
    assert started.stop() == 130, started.log.read_text()
    assert "CPU:0 and CPU:1" in started.log.read_text()
    rows = program.rows(run / "throughput.csv")
    assert max(float(row["max_policy_lag_updates"]) for row in rows) == 0
    _, before = state(run)
    assert before["made_steps"] == before["trained_steps"] + before["lost_steps"]
    ended = program.run("--resume", run, "--devices", "cpu:1", "--steps", before["steps"] + 1_000)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert state(run)[1]["updates"] > before["updates"]
    assert float(program.rows(run / "throughput.csv")[-1]["mean_score"]) > SOLVED


@pytest.mark.parametrize("system", variants([["--serial"], ["--sampling", "batched"]], ["--sampling", "batched"]))
def test_in_one_thread_two_make_the_weights_of_one(tmp_path, system):
    runs = {"one": [], "two": ["--devices", "cpu:2"]}
    for name, flags in runs.items():
        ended = program.run(*A2C, *system, *flags, "--steps", 400, "--run-dir", tmp_path / name)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    (one, totals), (two, same) = (state(tmp_path / name) for name in runs)
    assert totals["updates"] == same["updates"] > 5
    for name, array in one.items():
        np.testing.assert_allclose(two[name], array, rtol=1e-3, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--devices tpu:1", "gpu:all"),
        ("--devices cpu:0", "from 1 to 64"),
        ("--devices gpu:0,0", "twice"),
        ("--devices cpu:2 --device gpu", "does not go with"),
        ("--devices gpu:all --xla on", "--xla"),
        ("--devices cpu:2 --preset fast-dqn", "--concurrent-training"),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_line(flags, says):
    with pytest.raises(ConfigError, match=says):
        parse_settings(flags.split())


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        long("--preset a2c --sampling alternating --devices cpu:2", "--agents"),
        ("--devices gpu:7", "nvidia-smi"),
        long("--preset dqn --batch 1 --devices cpu:2", "--batch"),
    ],
)
def test_what_is_not_there_is_a_line(tmp_path, flags, says):
    ended = program.run(*TINY, *flags.split(), "--run-dir", tmp_path / "run")
    assert ended.returncode == 2
    assert says in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    assert not (tmp_path / "run").exists()


def test_what_names_devices():
    assert devices.named("gpu:all") == ("gpu", None)
    assert devices.named("gpu:2,0") == ("gpu", (2, 0))
    assert devices.named("cpu:3") == ("cpu", (0, 1, 2))
