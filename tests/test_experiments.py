"""Runs that are made once, and what is read from them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace

import numpy as np
import pytest

from ga3c.errors import ConfigError
from ga3c.experiments import runs
from ga3c.experiments.runs import RunFailed, directory_of, is_finished, perform
from ga3c.experiments.throughput import SpeedRun, measure, spread
from ga3c.records import lock
from tests import program
from tests.finished_runs import ENVS_PER_AGENT, make_run

RUN = SpeedRun("Pong", 4, 2, 1, seconds=50.0)


@pytest.fixture
def quick_runs(monkeypatch):
    """Runs whose process only writes files; those with 9 agents fail."""
    code = """
import json, pathlib, sys
directory, run = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
(directory / "checkpoints").mkdir()
(directory / "tensorboard").mkdir()
for name in ("config.json", "throughput.csv", "controller.csv", "episodes.csv"):
    (directory / name).write_text("new")
sys.exit(run["agents"] == 9)
"""
    monkeypatch.setattr(
        SpeedRun,
        "command",
        lambda run, directory: [sys.executable, "-c", code, str(directory), json.dumps(asdict(run))],
    )
    return [replace(RUN, agents=agents) for agents in range(1, 5)]


def made(capsys) -> list[str]:
    """Names of the runs that were made since the last call, in order."""
    return [line.split()[-1] for line in capsys.readouterr().out.splitlines() if line.startswith("[")]


def test_each_run_is_made_once_and_leaves_its_logs_only(quick_runs, tmp_path, capsys):
    perform(quick_runs, tmp_path)
    first = made(capsys)
    assert sorted(first) == [run.name for run in quick_runs]
    assert first != sorted(first), "neighbouring settings follow each other"
    kept = {"config.json", "throughput.csv", "controller.csv", "episodes.csv", runs.FINISHED}
    for run in quick_runs:
        assert {path.name for path in directory_of(run, tmp_path).iterdir()} == kept
    perform(quick_runs, tmp_path)
    assert capsys.readouterr().out == f"4 of 4 runs are finished in {tmp_path}.\n"
    perform(quick_runs, tmp_path / "elsewhere")
    assert made(capsys) == first


def test_an_interrupted_run_is_made_again(quick_runs, tmp_path, capsys):
    perform(quick_runs[:3], tmp_path)
    broken = directory_of(quick_runs[1], tmp_path)
    (broken / runs.FINISHED).unlink()
    (broken / "throughput.csv").write_text("old")
    (broken / "checkpoints").mkdir()
    capsys.readouterr()
    perform(quick_runs, tmp_path)
    out = capsys.readouterr().out
    assert out.startswith(f"2 of 4 runs are finished in {tmp_path}, 1 unfinished.\n")
    assert "[2/2" in out
    assert "[3/" not in out
    assert (broken / "throughput.csv").read_text() == "new"
    assert all(is_finished(run, tmp_path) for run in quick_runs)


@pytest.mark.parametrize("obeys", [True, False])
def test_an_interruption_ends_the_run_that_is_under_way(tmp_path, monkeypatch, obeys):
    code = """
import pathlib, signal, sys, time
directory = pathlib.Path(sys.argv[1])
if sys.argv[2] == "False": signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    (directory / "config.json").touch()
    while True: time.sleep(0.05)  # a signal just before a long sleep would wait for its end
except KeyboardInterrupt: (directory / "stopped").touch()
"""
    monkeypatch.setattr(
        SpeedRun, "command", lambda _, directory: [sys.executable, "-c", code, str(directory), str(obeys)]
    )
    monkeypatch.setattr(runs, "STOP_SECONDS", program.HANG_SECONDS if obeys else 0.1)
    processes = []

    def interrupted(process, _, directory, _stopped):
        processes.append(process)
        while not (directory / "config.json").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        perform([RUN], tmp_path)
    assert processes[0].wait(program.HANG_SECONDS) == (0 if obeys else -signal.SIGKILL)
    assert (directory_of(RUN, tmp_path) / "stopped").exists() == obeys
    assert not is_finished(RUN, tmp_path)


def test_how_busy_the_gpu_is_is_asked_while_a_run_trains(tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 37\necho 80\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    # It trains after a while, and until it was asked.
    code = "import os, time; time.sleep(1); open('throughput.csv', 'w').write('seconds,tps\\n7.5,1\\n')\n"
    code += "while not os.path.exists('gpu.csv'): time.sleep(0.05)"
    monkeypatch.setattr(
        SpeedRun, "command", lambda _, directory: ["sh", "-c", f'cd "{directory}" && "{sys.executable}" -c "{code}"']
    )
    quick = replace(RUN, seconds=1.2)
    perform([quick], tmp_path)
    header, *samples = (directory_of(quick, tmp_path) / "gpu.csv").read_text().splitlines()
    assert header == "seconds,gpu_percent"
    assert set(samples) == {"7.50,80"}, "of the busiest GPU, and only once the run trains"


def test_finished_runs_of_other_settings_are_not_mixed_in(quick_runs, tmp_path):
    perform(quick_runs, tmp_path)
    with pytest.raises(ConfigError, match="other settings"):
        perform([replace(run, seconds=60.0) for run in quick_runs], tmp_path)
    assert all(is_finished(run, tmp_path) for run in quick_runs)


@pytest.mark.parametrize(("changed", "goes_on"), [({"seconds": 60.0}, True), ({"network": "mlp"}, False)])
def test_an_unfinished_run_goes_on_for_longer_but_not_with_other_settings(
    quick_runs, tmp_path, monkeypatch, changed, goes_on
):
    monkeypatch.setattr(SpeedRun, "goes_on", True)
    monkeypatch.setattr(SpeedRun, "name", "run")
    with pytest.raises(RunFailed):
        perform([replace(RUN, agents=9)], tmp_path)
    with pytest.raises(RunFailed if goes_on else ConfigError, match="status 1" if goes_on else "with other settings"):
        perform([replace(RUN, agents=9, **changed)], tmp_path)


def test_a_run_that_still_saves_itself_is_waited_for(quick_runs, tmp_path, monkeypatch):
    run = quick_runs[0]
    directory = directory_of(run, tmp_path)
    directory.mkdir(parents=True)
    (directory / "config.json").write_text("old")
    file = os.open(directory / lock.LOCK, os.O_RDWR | os.O_CREAT)
    lock.take(file)
    monkeypatch.setattr(runs, "STOP_SECONDS", 0)
    with pytest.raises(ConfigError, match="Another process trains in"):
        perform([run], tmp_path)
    assert (directory / "config.json").read_text() == "old"
    monkeypatch.setattr(runs, "STOP_SECONDS", program.HANG_SECONDS)
    ends = threading.Timer(0.3, os.close, [file])
    ends.start()
    perform([run], tmp_path)
    assert not ends.is_alive()
    assert is_finished(run, tmp_path)


def test_a_run_that_fails_stops_the_figure_and_keeps_its_output(quick_runs, tmp_path):
    failing = replace(RUN, agents=9)
    with pytest.raises(RunFailed, match=r"status 1.*output.txt"):
        perform([failing], tmp_path)
    assert not is_finished(failing, tmp_path)
    assert (directory_of(failing, tmp_path) / "output.txt").exists()


def test_a_setting_that_train_refuses(tmp_path):
    with pytest.raises(ConfigError, match=r"^--predictors 100 is out of range: give a number from 1 to 64\.$"):
        perform([replace(RUN, predictors=100)], tmp_path)
    assert list((tmp_path / "runs").iterdir()) == []


def test_two_starts_in_one_directory(quick_runs, tmp_path):
    with runs.alone(tmp_path), pytest.raises(ConfigError, match="Another start"):
        perform(quick_runs, tmp_path)
    perform(quick_runs, tmp_path)


# What is read from them


def test_settling_and_stop_are_left_out(tmp_path):
    make_run(RUN, tmp_path, tps=100, training_queue=3, mean_prediction_batch=16)
    measured = measure(RUN, tmp_path)
    assert measured["tps"] == (100, 100, 100, 100)
    assert measured["pps"].highest == 500
    assert measured["training_queue"].mean == 3 * ENVS_PER_AGENT  # a message has the rollouts of an agent's games
    assert measured["prediction_batch"].mean == 16
    assert np.isnan(measured["cpu_percent"].median)
    assert np.isnan(measured["gpu_percent"].median)


def test_a_run_without_a_row_after_settling(tmp_path):
    make_run(RUN, tmp_path, rows=1)
    with pytest.raises(RunFailed, match="no row after settling"):
        measure(RUN, tmp_path)


def test_utilisation(tmp_path):
    make_run(RUN, tmp_path, cores_used=1.2)
    samples = "seconds,gpu_percent\n9.9,100\n10.1,40\n30,60\n"
    (directory_of(RUN, tmp_path) / "gpu.csv").write_text(samples)
    measured = measure(RUN, tmp_path)
    assert measured["cpu_percent"].median == pytest.approx(100 * 1.2 / 2)
    assert measured["gpu_percent"] == (50, 50, 40, 60)


def test_spread():
    assert spread(np.array([1.0, np.nan, 2.0, 9.0])) == (2, 4, 1, 9)


def test_a_run_ends_with_the_program_that_started_it(tmp_path):
    """Killed without warning, it leaves nothing behind that trains on."""
    arguments = ["compare", *program.TINY[:2], "--setting", "x: --agents 1 --envs-per-agent 4", "--seeds", 1]
    started = program.Started(tmp_path / "log", *arguments, "--out", tmp_path / "out")
    started.wait_for(lambda: list(tmp_path.glob("out/runs/*/throughput.csv")))
    assert len(started.family) >= 4
    started.process.kill()
    assert started.left_over() == []
    assert list(tmp_path.glob("out/runs/*/checkpoints/*.npz")), "it did not save"


def test_a_run_that_starts_after_its_parent_has_gone_ends_at_once(tmp_path):
    ended = program.run(*program.TINY, "--run-dir", tmp_path / "run", env={"GA3C_PARENT": "1"})
    assert ended.returncode == 143
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_what_is_written_beside_a_run_follows_no_link(link, tmp_path, monkeypatch):
    victim = tmp_path / "somebody's"
    victim.write_text("precious")
    link(victim, tmp_path / runs.OUTPUT)
    with pytest.raises(ConfigError, match="it is a link"):
        runs.start([sys.executable, "-c", "print(1)"], tmp_path / runs.OUTPUT)
    link(victim, tmp_path / "gpu.csv")
    write_gpu_percent(tmp_path, monkeypatch)
    assert victim.read_text() == "precious"


def test_the_load_of_the_gpu_is_written_beside_a_run(tmp_path, monkeypatch):
    write_gpu_percent(tmp_path, monkeypatch)
    assert (tmp_path / "gpu.csv").read_text() == "seconds,gpu_percent\n1.50,40\n1.50,40\n"


def write_gpu_percent(directory, monkeypatch):
    """Waits for a run that writes two rows."""

    class Process:
        left = 2

        def wait(self, seconds):
            self.left -= 1
            if self.left >= 0:
                raise subprocess.TimeoutExpired("run", seconds)

    (directory / "throughput.csv").write_text("seconds\n1.5\n")
    monkeypatch.setattr(runs.shutil, "which", lambda name: name)
    monkeypatch.setattr(runs, "_gpu_percent", lambda: 40.0)
    runs._wait(Process(), RUN, directory, lambda: False)
