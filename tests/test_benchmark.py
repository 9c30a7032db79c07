"""The benchmark: what it makes of its measurements, and one real run of it on a small game."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.commands.benchmark import parse_options
from ga3c.commands.train import parse_settings
from ga3c.environments import rewards
from ga3c.experiments import station_costs
from ga3c.experiments.benchmark import bound, latency, since_first_update, summary
from ga3c.experiments.station_costs import Cost
from ga3c.machine import usable_cores
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import flags_of, to_flags
from tests import program
from tests.variants import long

SPEC = EnvironmentSpec("Test", (3,), "float32", discrete(2), 1)
COSTS = {"emulate": Cost(0.4, 0.5), "predict": Cost(0.1, 0.1), "train": Cost(0.2, 0.3), "queue": Cost(0.1, 0.1)}


def test_the_bound_without_a_gpu_is_all_cores_on_the_sum():
    assert bound(COSTS, on_gpu=False) == pytest.approx(usable_cores() * 1000 / 0.8)


def test_the_bound_with_a_gpu_is_its_slower_side():
    games = usable_cores() * 1000 / 0.5
    assert bound(COSTS, on_gpu=True) == pytest.approx(min(games, 1000 / 0.4))
    fast_model = COSTS | {"predict": Cost(0.1, 1e-6), "train": Cost(0.2, 1e-6)}
    assert bound(fast_model, on_gpu=True) == pytest.approx(games)


def test_the_bound_in_lockstep_is_the_sum_of_the_phases():
    games, update = 0.5 / usable_cores(), 0.3
    assert bound(COSTS, False, "synchronised") == pytest.approx(1000 / (games + 0.1 + update))
    playing = 0.6 / usable_cores()  # with the predictions for the other group
    assert bound(COSTS, False, "alternating") == pytest.approx(1000 / (playing + update))
    slow_model = COSTS | {"predict": Cost(0.1, 9.0)}
    assert bound(slow_model, True, "alternating") == pytest.approx(1000 / (9.0 + update))
    assert bound(COSTS, False, "serial") == pytest.approx(1000 / (0.5 + 0.1 + 0.3))  # nothing at the same time


def test_emulation_alone_is_on_the_cores_and_that_is_said_where_games_are_on_a_gpu(monkeypatch):
    settings, said = parse_settings(["--preset", "cule"])[0], station_costs.where_emulated
    monkeypatch.setattr("ga3c.environments.gpu_obstacle", lambda environment: None)
    assert "measured on the cores" in said(settings, True)
    assert not said(settings, False)
    assert not said(replace(settings, environment=replace(settings.environment, emulator="ours")), True)
    assert not said(parse_settings([])[0], True)  # agents play on cores
    monkeypatch.setattr("ga3c.environments.gpu_obstacle", lambda environment: "numba-cuda is not installed")
    assert not said(settings, True)


def test_what_a_replay_memory_costs_belongs_to_the_update():
    costs = COSTS | {"replay": Cost(0.7, 1.1)}
    assert bound(costs, on_gpu=False) == pytest.approx(usable_cores() * 1000 / 1.5)
    assert bound(costs, False, "synchronised") == pytest.approx(1000 / (0.5 / usable_cores() + 0.1 + 0.3 + 1.1))
    slow_model = costs | {"predict": Cost(0.1, 9.0)}
    assert bound(slow_model, on_gpu=True) == pytest.approx(1000 / (9.0 + 0.3 + 1.1))


def test_a_replay_memory_is_drawn_from_as_often_as_it_is_learned_from(monkeypatch):
    """2 agents of 4 games with rollouts of 3 steps are 24 steps, of which each 5 make an update due."""
    settings = parse_settings(["--algorithm", "dqn"])[0]
    replay = replace(settings.replay, replay_minimum_transitions=50, steps_per_update=5, batch=7, priority_alpha=0.5)
    schedule, learning = replace(settings.schedule, envs_per_agent=4), replace(settings.learning, t_max=3)
    drawn, stored, learned = [], [], []
    draw, add, learn = Replay.draw, Replay.add, Replay.learned
    monkeypatch.setattr(Replay, "draw", lambda self, count: drawn.append(draw(self, count)) or drawn[-1])
    monkeypatch.setattr(Replay, "add", lambda self, *what: stored.append(add(self, *what)))
    monkeypatch.setattr(Replay, "learned", lambda self, *what: learned.append(learn(self, *what)))

    def repeat(work, steps, seconds):
        assert (steps, 12 * len(stored), len(drawn)) == (24, 72, 5)  # filled; updates were due at 50, 55, ... 70
        for _ in range(10):
            work()
        return steps

    monkeypatch.setattr(station_costs, "_repeat", repeat)
    settings = replace(settings, replay=replay, schedule=schedule, learning=learning)
    assert station_costs.replay(SPEC, settings, agents=2, seconds=1) == 24
    assert 12 * len(stored) == 72 + 240
    assert len(drawn) == len(learned) == (72 + 240 - 50) // 5 + 1
    assert drawn[-1].arrays["next_observation"].shape == (1, 7, 3)


def test_an_update_of_transitions_is_worth_the_steps_between_two(monkeypatch):
    monkeypatch.setattr(station_costs, "_repeat", lambda work, steps, seconds: (steps, work()))
    model = SimpleNamespace(train=lambda batch: {name: array.shape for name, array in batch.items()})
    steps, shapes = station_costs.train_transitions(model, SPEC, batch=7, steps_per_update=5, seconds=1)
    assert steps == 5
    assert (shapes["observation"], shapes["return"]) == ((1, 7, 3), (1, 7))


class Affine:
    """A model whose predictions take CPU time: a fixed part and one for each state."""

    def __init__(self):
        self.sizes = []

    def predict(self, states):
        self.sizes.append(len(states))


@pytest.mark.parametrize(("mean_batch", "sizes"), [(16.0, {16, 24}), (20.0, {16, 24}), (3.0, {8, 16})])
def test_predictions_are_measured_at_the_sizes_around_the_mean(mean_batch, sizes):
    model = Affine()
    station_costs.predict(model, SPEC, 8, mean_batch, seconds=0.01)
    assert set(model.sizes) == sizes


def test_a_mean_batch_between_two_sizes_is_interpolated(monkeypatch):
    """5 ms for a batch and 1 ms for each state: 25 ms for 20 states, though none of 20 was measured."""
    model = Affine()

    def took(work, steps, seconds):
        work()
        return Cost(*[(5.0 + model.sizes[-1]) / steps] * 2)

    monkeypatch.setattr(station_costs, "_repeat", took)
    assert station_costs.predict(model, SPEC, 8, 20.0, seconds=1) == pytest.approx((25 / 20, 25 / 20))
    assert station_costs.predict(model, SPEC, 8, 24.0, seconds=1) == pytest.approx((29 / 24, 29 / 24))


def test_messages_of_an_agent_are_counted_on_both_sides():
    cost = station_costs.queue(SPEC, t_max=5, envs=4, slots=3, seconds=0.5)
    assert cost.core_ms > 0
    assert cost.wall_ms > 0


@pytest.mark.parametrize("words", ["--preset paper --full-action-set", "--preset c51 --batch 512", "--algorithm ppo"])
def test_flags_make_the_same_settings_again(words):
    settings = parse_settings(["--game", "Boxing", *words.split()])[0]
    flags = flags_of(settings, rewards.usual)
    assert ("--full-action-set" in flags) == ("full" in words)
    assert parse_settings(flags)[0] == settings


def test_what_is_off_is_a_flag_too():
    settings = parse_settings(["--full-action-set"])[0]
    assert to_flags(Settings(), settings).count("--no-full-action-set") == 1


def test_an_algorithm_is_measured_with_the_constants_and_the_games_that_it_is_trained_with():
    measured, trained = parse_options(["--algorithm", "ppo"]), parse_settings(["--algorithm", "ppo"])[0]
    assert (measured.learning, measured.schedule) == (trained.learning, trained.schedule)
    assert parse_options([]).schedule.controller == "off"
    large = ["--algorithm", "dqn", "--batch", "512", "--target-updates", "7"]
    measured, trained = parse_options(large), parse_settings(large)[0]
    assert measured.learning == trained.learning
    assert measured.replay == replace(trained.replay, replay_minimum_transitions=5_000)


def test_the_share_of_the_model_is_said_beside_the_papers():
    figures = {
        "prediction_ms": 10.0, "prediction_queue_ms": 5.0, "prediction_queue_model_ms": 3.0,
        "prediction_assembly_ms": 0.5, "prediction_model_ms": 4.0, "prediction_reply_ms": 0.5,
        "training_queue_ms": 20.0, "update_ms": 8.0, "update_assembly_ms": 1.0, "update_model_ms": 6.0,
    }  # fmt: skip
    text = "\n".join(latency({name: summary([value]) for name, value in figures.items()}))
    assert "the wait for it: 70 % (paper: 108 ms, of which the model 10 %)" in text
    assert "The model: 75 % (paper: 11.1 ms, of which the model 41 %)" in text
    assert "A rollout waits 20.0 ms for its batch. An update" in text
    alone = {name: value for name, value in figures.items() if name not in ("prediction_ms", "prediction_reply_ms")}
    text = "\n".join(latency({name: summary([value]) for name, value in alone.items()}))
    assert text.startswith("A prediction for all games takes 4.00 ms.\nA rollout waits")  # one thread plays, too
    del figures["training_queue_ms"]  # into a replay memory
    assert "A rollout waits" not in "\n".join(latency({name: summary([value]) for name, value in figures.items()}))


APEX = ["--preset", "apex-dqn", "--batch", "32", "--replay-minimum-transitions", "200", "--replay-transitions", "1000"]


@pytest.mark.parametrize("flags", [pytest.param([], id="ga3c"), long(APEX, id="apex")])
def test_the_command(tmp_path, flags):
    out = tmp_path / "figures.json"
    sizes = ["--t-max", 5, "--seconds", 2, "--rounds", 1]
    shorter = "from ga3c.experiments import benchmark; benchmark.SETTLING_SECONDS, benchmark.STATION_SECONDS = 1, 0.3"
    ended = program.run("benchmark", *program.TINY[:-2], *flags, *sizes, "--json", out, code=shorter)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    figures = json.loads(out.read_text())
    replays = flags == APEX
    stations = [f"{name}_core_ms" for name in ("emulate", "predict", "train", "queue", *["replay"] * replays)]
    assert set(stations) == {name for name in figures if name.endswith("_core_ms")} - {
        "agents_core_ms",
        "server_core_ms",
    }
    assert ("alone: replay memory" in ended.stdout) == replays
    for name in ("pps", "tps", "bound_pps", "efficiency", *stations):
        values = figures[name]
        assert 0 < values["minimum"] <= values["median"] <= values["maximum"] < np.inf, name
    for line in ("PPS", "efficiency", "An agent waits", "An update takes"):
        assert line in ended.stdout


@pytest.mark.parametrize(
    ("flags", "words"),
    [(["--rounds", "0"], "--rounds 0 is out of range"), (["--agents", "-1"], "--agents"), (["--game", "Pnog"], "Pong")],
)
def test_bad_input(flags, words):
    ended = program.run("benchmark", *flags)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_what_it_measures_begins_with_the_first_update():
    rows = {"updates_per_second": np.array([0.0, 0.0, 5.0, 0.0, 6.0])}  # a stall later on counts
    assert since_first_update(rows).tolist() == [2, 3, 4]
    assert len(since_first_update({})) == 0
