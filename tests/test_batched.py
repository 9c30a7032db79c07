"""Batched sampling: what each update is made of, the same weights from the same seed, and that it learns."""

import runpy
import signal
from dataclasses import replace

import numpy as np
import psutil
import pytest

from ga3c import environments, progress
from ga3c.algorithms.a2c import A2C
from ga3c.atari import on_gpu
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.settings.game import EnvironmentSettings
from ga3c.systems import system_of
from ga3c.views.run_view import RunView
from tests import program, solving
from tests.program import SLOW, Started
from tests.variants import long

TINY = ["--game", "tests.tiny_environment:Match-v0", "--learning-rate", "0.002", "--learning-rate-batch-steps", "0"]
QUICK = ["--learning-rate", 0.01, "--rmsprop-decay", 0.9, "--entropy-weight", 0.01, "--discount", 0.5]
BATCHED = ["--sampling", "batched", "--games", "12"]


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")


def made(*words, steps=600, game=TINY):
    settings = parse_settings([*game, "--seed", "7", *map(str, words), "--steps", str(steps)])[0]
    spec = environments.make(settings.environment, 1, 0).spec
    return system_of(settings)(settings, spec, progress.beginning(settings), lambda _: None, lambda _: None)


def played(*words, **options):
    """A system that has ended, at so many steps."""
    system = made(*words, **options)
    system.start(None)
    solving.until_ended(system)
    return system


def same(one, other) -> bool:
    state, found = one.model.state(), other.model.state()
    return state.keys() == found.keys() and all(np.array_equal(array, found[name]) for name, array in state.items())


@pytest.mark.parametrize("turns", [["--batches", "3", "--t-max", "6"], ["--t-max", "5"]])
def test_a_game_that_fails_starts_anew_and_its_step_counts_as_lost(monkeypatch, turns):
    monkeypatch.setattr("tests.tiny_environment.Failing.left", 2)
    game = ["--game", "tests.tiny_environment:Failing-v0"]
    totals = played("--algorithm", "a2c-vtrace", *BATCHED, *turns, game=game, steps=300).stats.totals()
    assert (totals.made_steps - totals.trained_steps, totals.lost_steps) == (1, 1)
    assert totals.updates > 3


class Recorded:
    """Games, and every action that they were given."""

    def __init__(self, games):
        self._games, self.actions = games, []

    def step(self, actions):
        self.actions.append(actions.copy())
        return self._games.step(actions)

    def __getattr__(self, name):
        return getattr(self._games, name)


@pytest.mark.parametrize(("t_max", "steps"), [(6, 12 * 20), (6, 12 * 13), (6, 12 * 2), (3, 12 * 10)])
def test_batches_take_turns_and_each_step_is_learned_from_once(monkeypatch, t_max, steps):
    """Three batches of four games, a turn every `spu` steps. The actions say which steps of which games came."""
    recorded, batches, spu, make = [], [], t_max // 3, environments.make

    def make_recorded(*arguments, **options):
        recorded.append(Recorded(make(*arguments, **options)))
        return recorded[-1]

    system = made("--algorithm", "a2c-vtrace", *BATCHED, "--batches", 3, "--t-max", t_max, steps=steps)
    monkeypatch.setattr("ga3c.systems.one_thread.environments.make", make_recorded)
    next_batch = system._experience.next_batch

    def take():
        if batch := next_batch():
            copies = {name: array.copy() for name, array in batch.arrays.items()}
            batches.append((batch._replace(arrays=copies), system.model.version))
        return batch

    system._experience.next_batch = take
    system.start(None)
    system._thread.join(program.HANG_SECONDS)
    assert not system._thread.is_alive()
    system.stop()
    actions = np.stack(recorded[0].actions)
    assert len(actions) == steps / 12  # no game was over
    rows = len(actions)
    for turn, (batch, version) in enumerate(batches):
        now = min((turn + 1) * spu, rows)
        since = max(0, (turn + 1 - 3) * spu)
        columns = slice(turn % 3 * 4, turn % 3 * 4 + 4)
        assert batch.arrays["valid"].shape == (t_max, 4)
        assert batch.arrays["valid"][: now - since].all()
        assert not batch.arrays["valid"][now - since :].any()
        np.testing.assert_array_equal(batch.arrays["action"][: now - since], actions[since:now, columns])
        # Versions are those of the updates before: one more with each turn.
        np.testing.assert_array_equal(batch.versions, np.arange(since, now) // spu)
        if now - since == t_max and version == turn:
            assert (version - batch.versions).tolist() == np.repeat([2, 1, 0], spu).tolist()
    totals = system.stats.totals()
    assert totals.trained_steps == totals.made_steps == totals.steps == steps
    assert totals.lost_steps == 0
    assert sum(batch.rollouts[0].transitions for batch, _ in batches) == steps
    assert not system._experience._played


def learned_from(*words) -> list[dict]:
    """What three batches of games learn from in nine turns of a step, and until all is learned."""
    system = made("--algorithm", *words, *BATCHED, "--batches", 3, "--t-max", 3, steps=12 * 9)
    batches, next_batch = [], system._experience.next_batch

    def take():
        if batch := next_batch():
            batches.append({name: array.copy() for name, array in batch.arrays.items()})
        return batch

    system._experience.next_batch = take
    system.start(None)
    system._thread.join(program.HANG_SECONDS)
    assert not system._thread.is_alive()
    system.stop()
    assert len(batches) == 9 + 2
    return batches


def test_rows_that_are_not_played_have_no_value():
    """So that the network says what follows the last step."""
    for batch in learned_from("ppo"):
        np.testing.assert_array_equal(np.isnan(batch["value"]), ~batch["valid"])


def test_an_algorithm_that_waits_for_the_next_prediction_is_refused(monkeypatch):
    monkeypatch.setattr(A2C, "learns_from", (*A2C.learns_from, "bootstrap_value"))
    with pytest.raises(ConfigError, match="batched needs an algorithm that learns from 'last_observation'"):
        made("--algorithm", "a2c", *BATCHED)


def test_the_last_state_and_what_is_not_valid():
    """What follows a batch's last step is the first state of the steps after it."""
    batches = learned_from("a2c-vtrace")
    for turn in range(2, 6):
        np.testing.assert_array_equal(batches[turn]["last_observation"], batches[turn + 3]["observation"][0])
    first = batches[0]
    assert first["valid"][0].all()
    assert not first["valid"][1:].any()
    for row in (1, 2):
        np.testing.assert_array_equal(first["observation"][row], first["last_observation"])


@pytest.mark.parametrize("words", [("a2c-vtrace", "--batches", 3, "--t-max", 6), ("ppo", "--t-max", 6)])
def test_the_same_seed_gives_the_same_weights(words):
    first = played("--algorithm", *words, *BATCHED)
    assert same(first, played("--algorithm", *words, *BATCHED))
    assert not same(first, played("--algorithm", *words, *BATCHED, "--seed", 8))


def test_one_batch_is_a2c_in_one_thread():
    words = "--algorithm", "a2c", "--preset", "ga3c", "--t-max", 5
    batched = played(*words, *BATCHED)
    serial = played(*words, "--serial", "--agents", 3, "--envs-per-agent", 4, "--minimum-batch-steps", 60)
    assert same(batched, serial)
    assert batched.stats.totals().lag_sum == 0
    assert batched.stats.totals().updates == 10 + 1  # of 50 steps that count and 3 that start a new game
    other = played("--algorithm", "a2c-vtrace", "--preset", "ga3c", "--t-max", 6, *BATCHED, "--batches", 2)
    assert not same(batched, other)


def test_no_two_cores_change_what_pong_teaches(monkeypatch):
    """In compiled code, stepped by several threads, with a network that runs in pieces."""
    words = ["--preset", "cule", "--games", 48, "--batches", 2, "--t-max", 4, "--emulator", "ours"]
    found = []
    for threads in (1, 2):
        monkeypatch.setattr("ga3c.systems.batched.usable_cores", lambda threads=threads: threads)
        found.append(played(*words, game=["--game", "Pong"], steps=48 * 8))
    assert found[0].model.version == 4 + 1
    assert same(*found)


def test_games_on_our_emulator_do_not_know_how_many_threads_step_them():
    """Through the ends of games, and with more threads than games."""
    settings = EnvironmentSettings(game="Pong", emulator="ours", episode_cap_frames=60)
    games = [environments.make(settings, 3, 5, threads) for threads in (1, 2, 5)]
    random, ends = np.random.default_rng(0), 0
    begun = [one.reset() for one in games]
    for observations in begun[1:]:
        np.testing.assert_array_equal(observations, begun[0])
    for _ in range(50):
        actions = random.integers(6, size=3)
        first, *others = (one.step(actions) for one in games)
        for said in others:
            for one, other in zip(said, first, strict=True):
                np.testing.assert_array_equal(one, other)
        ends += int(first[3].sum())
    assert ends == 3 * 3
    for one in games:
        one.close()


@pytest.mark.parametrize(
    ("algorithm", "words", "steps"),
    [
        long("a2c", ["--t-max", 5, *QUICK], 20_000),
        ("a2c-vtrace", ["--t-max", 10, "--batches", 5, "--games", 20, *QUICK], 20_000),
        long("ppo", ["--t-max", 20, "--start-steps-limit", 50], 15_000),
        ("pqn", ["--t-max", 20, "--exploration-decay-steps", 5_000], 15_000),
        long("dqn", ["--replay-minimum-transitions", 500, "--exploration-decay-steps", 3_000], 6_000),
    ],
)
def test_each_algorithm_learns(algorithm, words, steps):
    system = played("--algorithm", algorithm, "--preset", "ga3c", *BATCHED, *words, steps=steps)
    assert system.stats.mean_score() > 15  # 20 is perfect, 5 is chance


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--sampling batched --algorithm a3c", "go with --algorithm a3c: use --preset cule, or a2c, a2c-vtrace"),
        ("--sampling batched --algorithm appo", "does not go with --algorithm appo"),
        ("--sampling batched --algorithm a2c --serial", "leave --serial out"),
        ("--preset cule --batches 3", "--batches 3 take turns in --t-max 20 steps: give a divisor"),
        ("--preset cule --games 50", "--games 50 cannot be dealt evenly to --batches 20: use --games 40"),
        ("--preset cule --algorithm dqn", "dqn has a replay memory"),
        ("--preset cule --games 0", "--batches 20 share the games: give --games a multiple of that."),
        ("--games 8", "--games goes with --sampling batched"),
        ("--preset cule --controller on", "--controller on does not go with --sampling batched"),
        ("--preset cule --cluster local", "--cluster does not go with --sampling batched"),
        ("--algorithm dqn --sampling batched --secondary-batch 64", "does not go with --sampling batched"),
        ("--preset cule --device-updates asynchronous --devices cpu:2", "does not go with --sampling batched"),
        ("--emulator gpu", "--emulator gpu goes with --sampling batched: add that, or use --emulator ours"),
        ("--preset cule --emulator gpu --device cpu", "the one GPU of the model, so not with --device cpu"),
        ("--preset cule --emulator gpu --devices gpu:all", "the one GPU of the model, so not with --devices gpu:all"),
    ],
)
def test_what_does_not_go_together_is_said_in_one_line(words, said):
    with pytest.raises(ConfigError, match=said) as refused:
        parse_settings(words.split())
    assert "\n" not in str(refused.value)


def test_it_fits_into_memory_or_says_so(monkeypatch):
    monkeypatch.setattr("ga3c.machine.memory_available", lambda: 900_000_000)
    with pytest.raises(ConfigError, match=r"1,200 games and what is played take 2\.\d GB of memory, .* fewer --games"):
        made("--preset", "cule", "--games", 1200, game=["--game", "Pong"])


def test_a_rollout_larger_than_a_record_can_be_is_refused():
    with pytest.raises(ConfigError, match="20 steps of 4,096 games are more than the 2 GB"):
        made("--preset", "cule", "--games", 4096, "--batches", 1, game=["--game", "Pong"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--game", "Superman"], "ours is not proven to play this game as ale-py does"),
        (["--game", "Pong", "--frame-size-pixels", 200], "ours makes frames of 11 to 160 pixels"),
        (["--game", "CartPole-v1"], "it is for Atari games"),
        (["--game", "IceHockey"], "the beginning depends on the game before it"),
        (["--game", "Pong", "--fire-reset", "--sticky-action-probability", 0.1], "--fire-reset with sticky actions"),
        (["--game", "Pong"], r"numba-cuda is not installed \(.*pip install -r ga3c/emulator/cuda/requirements.txt\)"),
        (["--game", "Pong"], "Numba cannot use the GPU"),
        (["--game", "Pong"], "TensorFlow finds no GPU here"),
    ],
)
def test_why_games_are_not_played_on_a_gpu(monkeypatch, words, why):
    """Said in one line where it was asked for; where it was not, the cores play."""
    monkeypatch.setattr("ga3c.systems.batched.count_gpus", lambda: "TensorFlow" not in why)
    monkeypatch.setattr("ga3c.atari.on_gpu.find_spec", lambda _: "numba-cuda" not in why or None)
    monkeypatch.setattr("ga3c.atari.on_gpu.numba_has_gpu", lambda: False)
    words = [*words, "--algorithm", "a2c", *BATCHED]
    settings = parse_settings(list(map(str, words)))[0]
    settings = replace(settings, environment=replace(settings.environment, emulator="gpu"))
    spec = environments.make(replace(settings.environment, emulator="auto"), 1, 0).spec
    arguments = spec, progress.beginning(settings), lambda _: None, lambda _: None
    with pytest.raises(ConfigError, match=f"^--emulator gpu is not possible: .*{why}") as refused:
        system_of(settings)(settings, *arguments)
    assert "\n" not in str(refused.value)
    for kind in ("auto", "ours"):
        wished = replace(settings, environment=replace(settings.environment, emulator=kind))
        wiring = system_of(wished)(wished, *arguments)._wiring
        assert not wiring.on_gpu
        assert ("in one batch on the cores, because" in wiring.how) == (kind == "auto" and "TensorFlow" not in why)


def test_the_paper_settings():
    settings = parse_settings(["--preset", "cule"])[0]
    schedule, learning = settings.schedule, settings.learning
    assert (schedule.games, schedule.batches, learning.t_max, learning.algorithm) == (120, 20, 20, "a2c-vtrace")
    assert schedule.games // schedule.batches * learning.t_max == 120  # steps of an update
    assert settings.environment == EnvironmentSettings(emulator="auto")


def test_a_run_that_is_killed_goes_on(tmp_path):
    """It has no child; its rows say what it did; its screen knows how many games there are."""
    run, log = tmp_path / "run", tmp_path / "log"
    words = [*TINY, "--algorithm", "a2c-vtrace", *BATCHED, "--batches", "3", "--t-max", "6", "--run-dir", run]
    started = Started(log, *words, *SLOW, "--log-seconds", "0.5", "--checkpoint-seconds", "1", "--plot-seconds", "0")
    started.wait_for(lambda: checkpoint.saved(run / "checkpoints"))
    assert not psutil.Process(started.process.pid).children()
    rows = program.rows(run / "throughput.csv")
    assert {(row["agents"], row["predictors"], row["trainers"]) for row in rows} == {("0", "1", "1")}
    started.stop(signal.SIGKILL)
    before = int(checkpoint.load_newest(run / "checkpoints")[1]["version"])

    started = Started(log, "--resume", run)
    started.wait_for(lambda: int((program.rows(run / "throughput.csv") or [{"steps": 0}])[-1]["steps"]) > 0)
    started.wait_for(lambda: "Episode" in log.read_text())
    assert started.stop() == 130
    assert "12 games in one batch" in log.read_text()
    row = program.rows(run / "throughput.csv")[-1]
    assert int(row["steps"]) == int(row["trained_steps"]) > 0
    assert max(float(row["max_policy_lag_updates"]) for row in program.rows(run / "throughput.csv")) == 2
    arrays, meta = checkpoint.load_newest(run / "checkpoints")[1:]
    assert int(arrays["version"]) > before
    assert meta["totals"]["lost_steps"] == 0
    assert RunView(run).games == (12, 12)


def test_an_installed_program_says_what_pip_installs_for_a_gpu(monkeypatch):
    monkeypatch.setattr("ga3c.installation.IS_INSTALLED", True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    obstacle = runpy.run_path(on_gpu.__file__)["obstacle"]
    assert obstacle("pong", False, "") == "numba-cuda is not installed (python -m pip install 'ga3c[cuda]')"
