"""When it is said that updates change no weight."""

import time
from types import SimpleNamespace

import pytest

from ga3c import environments
from ga3c.algorithms.a3c import A3C
from ga3c.model import Model
from ga3c.records import unchanged
from ga3c.records.unchanged import FEWEST_UPDATES, UnchangedWatch
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.server.recorded_run import RecordedRun
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import RunSettings, Settings
from ga3c.settings.schedule import ScheduleSettings
from ga3c.stats import Stats, Timings, Totals
from ga3c.systems import system_of
from tests.program import HANG_SECONDS
from tests.test_stats import batch, update


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(unchanged, "SECONDS", 0.0)
    monkeypatch.setattr(unchanged, "PASSING_SECONDS", 0.0)


def model_that(why, passes=False):
    return SimpleNamespace(why_unchanged=lambda steps: (why, passes))


def train(stats, norm, updates=FEWEST_UPDATES):
    for _ in range(updates):
        stats.trained(batch(), update(update_norm=norm), Timings())


def test_it_is_said_once_for_each_time_and_once_when_it_is_over():
    watch, stats, model = UnchangedWatch(), Stats(Totals()), model_that("the gradients are 0")
    for _ in range(2):
        train(stats, 0.1)
        assert watch.look(stats, model) is None
        train(stats, 0.0)
        said = watch.look(stats, model)
        assert said.startswith("Nothing is learned: 3 updates in ")
        assert said.endswith("changed no weight, because the gradients are 0.")
        train(stats, 0.0)
        assert watch.look(stats, model) is None
        train(stats, 0.1, updates=1)
        assert watch.look(stats, model) == "Updates change weights now."


def test_a_few_updates_that_change_nothing_are_no_case_nor_is_an_algorithm_that_learns_nothing():
    watch, stats, model = UnchangedWatch(), Stats(Totals()), model_that("the gradients are 0")
    train(stats, 0.0, updates=FEWEST_UPDATES - 1)
    assert watch.look(stats, model) is None
    stats = Stats(Totals())
    for _ in range(10):
        stats.trained(batch(), update(valid_share=1.0), Timings())
    assert watch.look(stats, model) is None


def test_what_passes_by_itself_is_said_later(monkeypatch):
    watch, stats, model = UnchangedWatch(), Stats(Totals()), model_that("states are counted first", passes=True)
    train(stats, 0.0)
    monkeypatch.setattr(unchanged, "PASSING_SECONDS", HANG_SECONDS)
    assert watch.look(stats, model) is None
    monkeypatch.setattr(unchanged, "PASSING_SECONDS", 0.0)
    assert "because states are counted first" in watch.look(stats, model)


def test_what_has_just_passed_is_not_taken_for_something_else(monkeypatch):
    watch, stats = UnchangedWatch(), Stats(Totals())
    monkeypatch.setattr(unchanged, "PASSING_SECONDS", HANG_SECONDS)
    train(stats, 0.0)
    assert watch.look(stats, model_that("states are counted first", passes=True)) is None
    train(stats, 0.0, updates=1)  # the last that changes nothing: now enough states are counted
    assert watch.look(stats, model_that("the gradients are 0")) is None
    train(stats, 0.1, updates=1)
    assert watch.look(stats, model_that("the gradients are 0")) is None
    train(stats, 0.0)
    assert watch.look(stats, model_that("the gradients are 0")).startswith("Nothing is learned: 3 updates in ")


def test_the_model_says_why():
    spec = EnvironmentSpec("Test", (36, 36, 2), "uint8", discrete(3), 4)
    found = {}
    for scaling, rate in (("standardized", 1e-3), ("bytes", 0.0), ("bytes", 1e-3)):
        settings = LearningSettings(t_max=1, input_scaling=scaling, learning_rate=rate)
        found[scaling, rate] = Model(spec, settings, A3C(Settings(learning=settings)), 1, xla=False).why_unchanged(0)
    why, passes = found["standardized", 1e-3]
    assert why.startswith("2,000 more states are to be counted first")
    assert passes
    assert "--learning-rate" in found["bytes", 0.0][0]
    assert found["bytes", 1e-3] == ("all gradients are 0", False)


def test_a_run_says_it_on_the_console(tmp_path, monkeypatch):
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")  # once in each process
    settings = Settings(
        environment=EnvironmentSettings(game="tests.tiny_environment:Match-v0"),
        schedule=ScheduleSettings(serial=True, agents=1, envs_per_agent=8),
        learning=LearningSettings(learning_rate=0.0, minimum_batch_steps=80, seed=1),
        run=RunSettings(run_dir=str(tmp_path)),
    )
    games = environments.make(settings.environment, 1, 0)
    said = []
    console = SimpleNamespace(say=said.append, status=lambda *_, **__: None)
    books = RecordedRun(system_of(settings), settings, tmp_path, games.spec, console)
    games.close()
    books.start()
    until = time.monotonic() + HANG_SECONDS
    while not any(line.startswith("Nothing is learned") for line in said):
        assert time.monotonic() < until
        books.look()
        time.sleep(0.01)
    books.system.stop()
    books.finish()
    (line,) = (line for line in said if line.startswith("Nothing is learned"))
    assert line.endswith("because the step size is 0 (--learning-rate, --learning-rate-schedule).")
