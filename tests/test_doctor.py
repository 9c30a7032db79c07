"""./run.sh doctor: what it finds on this machine, and what it says of one that lacks something."""

from importlib import metadata
from pathlib import Path

import pytest

from ga3c import machine
from ga3c.commands import doctor
from ga3c.records import run_directory
from tests import program


def test_on_this_machine():
    ended = program.run("doctor", "--no-measure")
    assert ended.stderr == ""
    lines = ended.stdout.splitlines()
    found = {line[4:13].strip(): line[:2] for line in lines if not line.startswith(" ")}
    assert list(found) == list(doctor.CHECKS)
    assert found["Python"] == found["packages"] == found["ffmpeg"] == "ok"
    assert ended.returncode == ("!!" in found.values())
    assert sum("->" in line for line in lines) == list(found.values()).count("!!")


def test_another_python_is_named(monkeypatch):
    assert doctor.python().well
    monkeypatch.setattr(doctor.platform, "python_version", lambda: "3.9.18")
    assert doctor.python().advice.startswith("name a 64-bit Python 3.10 to 3.13:")


def test_an_installed_program_asks_its_package_for_the_python(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "IS_INSTALLED", True)
    monkeypatch.setattr(doctor, "SETUP", tmp_path / "none")
    monkeypatch.setattr(metadata, "metadata", lambda name: {"Requires-Python": "<3.14,>=3.10"})
    assert doctor.python().well
    monkeypatch.setattr(doctor.platform, "python_version", lambda: "3.9.18")
    assert doctor.python().advice == "name a 64-bit Python 3.10 to 3.13: install ga3c there"


def test_packages_of_other_versions_are_named(monkeypatch):
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.1" if name == "numpy" else version(name))
    found = doctor.packages()
    assert not found.well
    assert found.text.startswith("numpy 0.1, not 2.")
    assert "delete .venv" in found.advice


def test_a_package_that_lacks_a_file_is_named(monkeypatch):
    lost = Path(metadata.distribution("tyro").locate_file("tyro/__init__.py"))
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda self, **more: self != lost and exists(self, **more))
    assert doctor.packages().text == "tyro lacks tyro/__init__.py"


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("shared_memory_free", 5_000_000, "--shm-size"),
        ("memory_available", 900_000_000, "--envs-per-agent 4"),
        ("raise_file_limit", 202, "ulimit -n"),
        ("address_space", 2_000_000_000, "ulimit -v"),
        ("processes_left", 30, "ulimit -u"),
    ],
)
def test_what_is_scarce_is_named_with_what_to_do(monkeypatch, name, value, advice):
    monkeypatch.setattr(machine, name, lambda: value)
    found = doctor.memory()
    assert not found.well
    assert advice in found.advice


def test_a_disk_that_is_full(monkeypatch):
    usage = type("Usage", (), {"free": 10_000})
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: usage)
    assert "make room" in doctor.disk().advice


def test_a_place_that_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    assert "--run-dir" in doctor.disk().advice


def test_a_gpu_that_tensorflow_does_not_find(monkeypatch):
    monkeypatch.setattr(doctor, "_output", lambda program, *_: "A GPU, 1.0, 8 GiB" if program == "nvidia-smi" else "0")
    found = doctor.gpu()
    assert not found.well
    assert "A GPU" in found.text


def test_speed_that_cannot_be_measured(monkeypatch):
    from ga3c.errors import ConfigError
    from ga3c.experiments import benchmark

    def fail(_):
        raise ConfigError("The run ended early: no reason")

    monkeypatch.setattr(benchmark, "measure_run", fail)
    assert not doctor.speed().well


def test_speed(monkeypatch):
    from ga3c.experiments import benchmark

    monkeypatch.setattr(benchmark, "measure_run", lambda options: {"pps": 1010.0, "frames_per_second": 4000.0})
    assert "1,000 steps/s of Pong (4,000 frames/s, 3.6 million steps an hour)" in doctor.speed().text


@pytest.mark.parametrize(
    ("agents", "batch", "said"),
    [
        (2000.0, 1500.0, "2,000 steps/s of Pong (8,000 frames/s, 7.2 million steps an hour), controller off: 96 games "
         "with agents, faster than --sampling batched (1,500)"),
        (1000.0, 1500.0, "96 games with --sampling batched, faster than agents (1,000)"),
        (1000.0, 990.0, "96 games with agents, about as fast as --sampling batched (990)"),
    ],
)  # fmt: skip
def test_which_system_is_faster_here(agents, batch, said):
    assert said in doctor.said_of_speed(agents, batch, 96)
