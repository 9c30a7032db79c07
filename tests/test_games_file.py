"""Games that go on in the middle after a resume: the same weights, bit for bit, as if nothing had come between."""

import shutil
import signal
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c import environments, progress
from ga3c.commands.train_options import parse_settings
from ga3c.emulator import state
from ga3c.environments.atari_ours import OwnAtariEnvironments
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.records.disk import Disk
from ga3c.records.recovery import Recovery
from ga3c.settings.game import EnvironmentSettings
from ga3c.systems import system_of
from ga3c.systems.under_way import UnderWay
from tests import program
from tests.program import CALM, Started
from tests.variants import long

PONG = ["--game", "Pong", "--emulator", "ours", "--seed", "7", "--checkpoint-games", "--episode-cap-frames", "140"]
STICKY = ["--sticky-action-probability", "0.25", "--reward-scaling-discount", "0.99"]
SMALL = ["--frame-size-pixels", "42"]
FEW_STEPS = ["--epochs", "2", "--minibatches", "3"]  # in an update: the preset's are 64
A2C = ["--algorithm", "a2c", "--preset", "ga3c", "--t-max", "4"]
GAMES = 3
BATCHED = ["--sampling", "batched", "--games", GAMES]


def made(game="pong", count=GAMES, seed=5, **rules):
    return OwnAtariEnvironments(game, EnvironmentSettings(game=game, **rules), count, seed)


def saved(games) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in games.state().items()}


def play(games, steps: int, random) -> list:
    """All that is seen."""
    said = []
    for _ in range(steps):
        said += [np.copy(part) for part in games.step(random.integers(games.spec.actions.count, size=GAMES))]
    return said


@pytest.mark.parametrize(
    "rules", [{"episode_cap_frames": 200}, {"sticky_action_probability": 0.25, "episode_cap_frames": 124}]
)
def test_games_go_on_as_if_nothing_had_come_between(rules):
    """Through their ends: the no-ops of the next ones are those that would have been."""
    first, second = made(**rules), made(seed=99, **rules)
    first.reset()
    play(first, 40, np.random.default_rng(0))
    kept = saved(first)
    np.testing.assert_array_equal(second.restore(kept), kept["console/states"])
    for one, other in zip(
        play(first, 150, np.random.default_rng(1)), play(second, 150, np.random.default_rng(1)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def put(name, at, value):
    def change(arrays):
        arrays[name].reshape(-1)[at] = value

    return change


def in_record(field, value):
    def change(arrays):
        arrays["console/records"].view(np.int32)[1, field // 4] = value

    return change


IMPOSSIBLE = {
    "a third picture": put("console/turns", 0, 2),
    "an action that there is not": put("console/actions", 1, 18),
    "an end that there is not": put("console/ended", 1, -1),
    "more draws than there are": put("console/drawn", 0, 2000),
    "no-ops for ever": put("no_ops", 0, 2**40),
    "a generator that has gone too far": put("random/no_ops", 624, 2**31),
    "a position beside the screen": in_record(state.POSITION_P0, 160),
    "a picture drawn before its first line": in_record(state.DRAWN_CLOCK, 0),
    "another cartridge": in_record(state.CARTRIDGE, 5),
    "a bank that the cartridge does not have": in_record(state.BANK, 2**20),
    "a window that looks elsewhere": in_record(state.WINDOWS + 4 * state.WINDOW_BYTES, -(2**20)),
    "another emulator": put("emulator", -1, 0),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_is_refused_and_changes_nothing(change):
    games, kept = made(), saved(made())
    change(kept)
    before = saved(games)
    with pytest.raises(ValueError, match=r"another version of the emulator|there can be none such"):
        games.restore(kept)
    for name, array in games.state().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")


class Run:
    """A run without a server, which is stopped and resumed in its directory."""

    def __init__(self, directory, *words):
        directory.mkdir()
        self._directory, self._words, self.said = directory, words, []

    def __call__(self, steps: int, *words) -> dict[str, np.ndarray]:
        """To so many steps. Returns the model's state."""
        settings = parse_settings([*PONG, *SMALL, *map(str, (*self._words, *words)), "--steps", str(steps)])[0]
        recovery = Recovery(self._directory, settings, Disk(print), self.said.append)
        begun, arrays = progress.beginning(settings), None
        resumed = bool(checkpoint.saved(self._directory / "checkpoints"))
        if resumed:
            begun, arrays = recovery.load()
            begun = replace(begun, settings=settings)
        spec = environments.make(settings.environment, 1, 0).spec
        system = system_of(settings)(settings, spec, begun, self.said.append, lambda _: None)
        if resumed:
            recovery.load_games(system.under_way, begun.totals.steps)
        system.start(arrays)
        deadline = time.monotonic() + program.HANG_SECONDS
        while system._thread.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        system.stop()
        assert recovery.save(system, lambda: True)
        self.episodes = system.stats.take_episodes()
        return system.model.state()


def assert_same(one, other) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.mark.parametrize(
    "words",
    [
        long([*BATCHED, *A2C], id="a2c"),
        long(
            [*BATCHED, "--algorithm", "pqn", "--t-max", 4, *STICKY, *FEW_STEPS],
            id="pqn, sticky actions, scaled rewards",
        ),
        pytest.param(
            ["--serial", "--agents", 1, "--envs-per-agent", GAMES, "--minimum-batch-steps", 12, *A2C], id="serial"
        ),
        pytest.param([*BATCHED, "--memory", "gru", "--memory-units", 8, *A2C], id="with a memory"),
    ],
)
def test_a_run_that_was_stopped_has_the_weights_of_one_that_was_not(tmp_path, words):
    whole, halves, anew = (Run(tmp_path / name, *words) for name in ("whole", "halves", "anew"))
    steps = 4 * GAMES * 6  # of which no game ends in the first half: it ends with an update
    state = whole(2 * steps)
    halves(steps)
    shutil.copytree(tmp_path / "halves", tmp_path / "anew", dirs_exist_ok=True)
    assert_same(state, halves(2 * steps))
    assert f"{GAMES} games go on where they were." in halves.said
    assert [row[2:4] for row in halves.episodes] == [row[2:4] for row in whole.episodes] != []
    (kept,) = (tmp_path / "anew" / "checkpoints").glob("games-*.npz")
    kept.unlink()
    other = anew(2 * steps)
    assert "The games begin anew: none were kept with this checkpoint." in anew.said
    assert any(not np.array_equal(array, other[name]) for name, array in state.items())


def test_files_of_other_games_and_damaged_ones_are_said(tmp_path):
    run = Run(tmp_path / "run", "--sampling", "batched", *A2C)
    checkpoints, steps = tmp_path / "run" / "checkpoints", 4 * GAMES * 2
    run(steps, "--games", GAMES)
    run(2 * steps, "--games", 2)
    assert run.said[-1].startswith(
        "The games begin anew: those that were kept cannot go on, because they are of another"
    )
    (kept,) = checkpoints.glob("games-*.npz")  # the others went when its checkpoint was there
    assert kept.name == f"games-{2 * steps:012d}.npz"
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes(content)
    run(3 * steps, "--games", 2)
    line = next(line for line in run.said if line.startswith("Cannot read the games in"))
    assert line.endswith("They begin anew.")
    assert "\n" not in line


def test_the_player_is_held_between_two_rollouts_and_goes_on():
    under_way, steps, stop = UnderWay(print), [], threading.Event()
    games = SimpleNamespace(over=[], state=lambda: {"steps": np.array(len(steps))})

    def play():
        under_way.begin(games, None)
        while not stop.is_set():
            under_way.come_by((1, len(steps), 0), between=len(steps) % 5 == 0)
            steps.append(1)
        under_way.end()

    player = threading.Thread(target=play, daemon=True)
    player.start()
    for _ in range(20):
        with under_way.held() as arrays:
            held = len(steps)
            time.sleep(0.002)
            assert held % 5 == 0
            assert arrays["steps"] == len(steps) == held
            assert arrays["model/chance"].tolist() == [1, held, 0]
        deadline = time.monotonic() + program.HANG_SECONDS
        while len(steps) == held:
            assert time.monotonic() < deadline
    stop.set()
    player.join(program.HANG_SECONDS)
    with under_way.held() as arrays:
        assert arrays["steps"] == len(steps)


def test_nobody_waits_for_a_player_that_has_failed():
    under_way = UnderWay(print)
    under_way.end()
    with under_way.held() as arrays:
        assert arrays is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--game", "Pong"], "--checkpoint-games is for games that one thread plays"),
        (["--preset", "cule", "--game", "Pong", "--emulator", "ale"], "on our own emulator: leave it out. This"),
        (["--preset", "cule", "--game", "Superman"], "leave it out. Emulator: ale-py's, because ours is not proven"),
        (["--serial", "--game", "CartPole-v1"], "--checkpoint-games is for Atari games on our own emulator"),
    ],
)
def test_where_it_cannot_be_had_a_line_says_so(tmp_path, words, said):
    from ga3c.commands.train import run

    with pytest.raises(ConfigError, match=said) as refused:
        run([*words, "--checkpoint-games", "--run-dir", str(tmp_path / "run")])
    assert "\n" not in str(refused.value)


def test_a_killed_run_goes_on_from_its_checkpoint_and_its_games(tmp_path):
    words = [*PONG, *SMALL, *A2C, "--sampling", "batched", "--games", 4, "--checkpoint-seconds", 1]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    started = Started(tmp_path / "log", *words, "--run-dir", killed, code=CALM)
    started.wait_for(lambda: checkpoint.saved(killed / "checkpoints"))
    started.stop(signal.SIGKILL)
    path, _, meta = checkpoint.load_newest(killed / "checkpoints")
    assert (killed / "checkpoints" / path.name.replace("checkpoint", "games")).exists()
    steps = meta["totals"]["steps"] + 500
    went_on = program.run("--resume", killed, "--steps", steps)
    assert went_on.returncode == 0, went_on.stderr
    assert "4 games go on where they were." in went_on.stdout
    ended = program.run(*words, "--steps", steps, "--run-dir", whole)
    assert ended.returncode == 0, ended.stderr
    assert_same(*(checkpoint.load_newest(run / "checkpoints")[1] for run in (killed, whole)))
    assert len(list((killed / "checkpoints").glob("games-*.npz"))) == 1
    shutil.rmtree(killed)
