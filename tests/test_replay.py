"""The replay memory, held against a plain list of all that was played."""

import io
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ga3c.replay.priorities import SMALLEST, Priorities
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.replay.sum_tree import SumTree
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype, transition_dtype
from tests import program

T_MAX, DISCOUNT = 5, 0.9


class Step(NamedTuple):
    """What one game's row has to hold."""

    state: np.ndarray
    action: int = 0
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    valid: bool = False


class Player:
    """Plays made-up games for one group, and remembers all that it saw in plain lists, one for each game."""

    def __init__(self, random: np.random.Generator, stack: int, envs: int):
        self.random, self.stack, self.envs = random, stack, envs
        self.spec = EnvironmentSpec(
            "made up", (3, 3, stack) if stack > 1 else (3, 3, 2), "uint8", discrete(4), 1, stack
        )
        self.games: list[list[Step]] = [[] for _ in range(envs)]

    def begin(self) -> np.ndarray:
        """Other games, in the middle or at their start; returns their states."""
        for env, game in enumerate(self.games):
            if game:
                game[-1] = game[-1]._replace(truncated=True)
                game.append(Step(self.states[env]))
        self.states = self.random.integers(256, size=(self.envs, *self.spec.observation_shape), dtype=np.uint8)
        self.restarting = np.zeros(self.envs, np.bool_)
        for env, game in enumerate(self.games):
            game += [Step(self.states[env])] * (self.stack - 1)  # rows that hold its older pictures
        return self.states

    def _next(self, env: int) -> np.ndarray:
        if self.stack == 1:
            return self.random.integers(256, size=self.spec.observation_shape, dtype=np.uint8)
        before = self.states[env] * (not self.restarting[env])
        return np.concatenate([before[..., 1:], self.random.integers(256, size=(3, 3, 1), dtype=np.uint8)], axis=-1)

    def rollout(self) -> tuple[np.void, int]:
        record = np.zeros((), rollout_dtype(self.spec, T_MAX, self.envs))
        length = int(self.random.integers(1, T_MAX + 1))
        for row in range(length):
            failed = ~self.restarting & (self.random.random(self.envs) < 0.1)  # the next state is of a new game
            self.restarting |= failed
            after = np.stack([self._next(env) for env in range(self.envs)])
            for env, game in enumerate(self.games):
                step = Step(self.states[env])
                if failed[env] and game:
                    game[-1] = game[-1]._replace(truncated=True)
                if not self.restarting[env]:
                    # A life may end, and the game with it or not; it may be cut, too, also at that very step.
                    ended, cut = (bool(one) for one in self.random.random(2) < 0.15)
                    reward = float(self.random.integers(-9, 9))
                    step = Step(self.states[env], int(self.random.integers(4)), reward, ended, cut, True)
                game.append(step)
                self.restarting[env] = step.truncated or (step.terminated and self.random.random() < 0.5)
                for name in ("action", "reward", "terminated", "truncated", "valid"):
                    record[name][row, env] = getattr(step, name)
                record["truncated"][row, env] |= failed[env]
            record["observation"][row], self.states = self.states, after
        record["last_observation"] = self.states
        return record, length


def from_list(game: list[Step], at: int, n_steps: int) -> tuple:
    """What is to be drawn: return, discount and the state that follows."""
    total, factor = 0.0, 1.0
    for step in game[at : at + n_steps]:
        total, factor, at = total + factor * step.reward, factor * DISCOUNT, at + 1
        if step.terminated or step.truncated:
            factor *= not step.terminated
            break
    return total, factor, game[at].state


def restarted(replay: Replay, again: Replay) -> Replay:
    """`again`, with what the other one holds."""
    content = io.BytesIO(b"".join(part.tobytes() for part in replay.parts()))
    again.restore(lambda array: content.readinto(array.reshape(-1).view(np.uint8)), lambda: None)
    assert not content.read()
    assert sorted(again.places()) == sorted(replay.places())
    assert again.size == replay.size
    return again


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    stack=st.sampled_from([1, 2, 4]),
    n_steps=st.integers(1, 4),
    envs=st.integers(1, 3),
    groups=st.integers(1, 3),
    room=st.integers(1, 100),
    alpha=st.sampled_from([0.0, 0.5]),
    copies=st.integers(1, 2),
)
@example(seed=1, stack=1, n_steps=2, envs=3, groups=2, room=1, alpha=0.0, copies=1)  # rollouts longer than the ring
def test_what_is_drawn_was_played_and_nothing_is_missing(seed, stack, n_steps, envs, groups, room, alpha, copies):
    random = np.random.default_rng(seed)
    players = [Player(random, stack, envs) for _ in range(groups)]

    def empty() -> Replay:
        more = {"compressed": bool(random.integers(2)), "seed": seed, "copies": copies}
        recipe = Recipe(players[0].spec, groups, envs, room, n_steps, DISCOUNT, alpha, **more)
        return Replay(recipe, lambda: 0.5)

    replay, played = empty(), 0
    for group, player in enumerate(players):
        replay.begin(group, player.begin())
    for _ in range(int(random.integers(1, 60))):
        group = int(random.integers(groups))
        if random.random() < 0.03:  # the run ends, and goes on with what was kept of the replay
            replay, played = restarted(replay, empty()), 0
            for other, player in enumerate(players):
                replay.begin(other, player.begin())
        if random.random() < 0.1:
            replay.begin(group, players[group].begin())
        record, length = players[group].rollout()
        played += int(record["valid"][:length].sum())
        replay.add(group, record, length)
        if random.random() < 0.5:
            replay.offer()
    replay.offer()
    assert replay.stored == copies * played

    places = {}  # that can be drawn, by the list
    for ring in range(groups * copies):
        for env, game in enumerate(players[ring // copies].games):
            for row in range(max(0, len(game) - replay.length + stack - 1), len(game) - n_steps):
                if game[row].valid:
                    places[(ring * replay.length + row % replay.length) * envs + env] = game, row
    assert sorted(replay.places()) == sorted(places)
    assert replay.size == len(places)
    assert (replay.length - n_steps - stack + 1) * groups * copies * envs >= room
    if not places:
        return
    drawn = replay.draw(50)
    dtype = transition_dtype(players[0].spec, 50)
    assert {name: (array.shape, array.dtype) for name, array in drawn.arrays.items()} == {
        name: (dtype[name].shape, dtype[name].base) for name in dtype.names
    }
    arrays = {name: array[0] for name, array in drawn.arrays.items()}
    for index, place in enumerate(drawn.places):
        game, row = places[place]
        total, factor, following = from_list(game, row, n_steps)
        assert drawn.rows[index] == row
        assert (arrays["observation"][index] == game[row].state).all()
        assert arrays["action"][index] == game[row].action
        np.testing.assert_allclose(arrays["return"][index], total, atol=1e-4)
        np.testing.assert_allclose(arrays["discount"][index], factor, rtol=1e-6)
        assert (arrays["next_observation"][index] == following).all()


def test_errors_of_what_is_written_over_change_nothing():
    random = np.random.default_rng(1)
    player = Player(random, 4, 1)
    replay = Replay(Recipe(player.spec, 1, 1, 30, 1, DISCOUNT, priority_alpha=1.0))
    replay.begin(0, player.begin())
    for _ in range(20):
        replay.add(0, *player.rollout())
    replay.offer()
    drawn = replay.draw(20)
    for _ in range(40):
        replay.add(0, *player.rollout())
    replay.offer()
    replay.learned(drawn, np.arange(100, 120, dtype=np.float32))
    assert (replay.draw(50).arrays["weight"] == 1).all()  # all have the same priority still


def test_priorities_decide_how_often_what_is_drawn():
    """Frequencies against probabilities: chi-square, 19 degrees of freedom, one in a million."""
    errors = np.arange(1, 21, dtype=np.float32)
    priorities, random = Priorities(20, 0.6, lambda: 0.4), np.random.default_rng(3)
    priorities.enter(np.arange(20))
    priorities.set(np.arange(20), errors * random.choice([-1, 1], 20).astype(np.float32))
    probabilities = (errors + SMALLEST) ** 0.6 / ((errors + SMALLEST) ** 0.6).sum()
    counts = np.zeros(20)
    for _ in range(10_000):
        places, weights = priorities.draw(1, 20, random)
        counts[places] += 1
    assert ((counts - 10_000 * probabilities) ** 2 / (10_000 * probabilities)).sum() < 63.2
    places, weights = priorities.draw(500, 20, random)
    wanted = (20 * probabilities[places]) ** -0.4
    np.testing.assert_allclose(weights, wanted / wanted.max(), rtol=1e-5)


def test_what_is_new_has_the_largest_priority_so_far():
    priorities = Priorities(4, 1.0, lambda: 1.0)
    priorities.enter(np.array([0]))
    priorities.set(np.array([0]), np.array([9.0], np.float32))
    priorities.set(np.array([0]), np.array([3.0], np.float32))
    priorities.enter(np.array([1]))
    places, _ = priorities.draw(12_000, 2, np.random.default_rng(0))
    assert abs((places == 1).mean() - 0.75) < 0.01


def test_a_sum_tree_is_an_array_with_sums_over_a_million_operations():
    random = np.random.default_rng(2)
    tree, plain = SumTree(1000), np.zeros(1000)
    for _ in range(1000):
        leaves = random.integers(1000, size=1000)
        values = random.choice([0.0, 1e-6, 1.0, 1e6], size=1000) * random.random(1000)
        tree.set(leaves, values)
        plain[leaves] = values  # of two for one leaf the last holds, as here
        np.testing.assert_allclose(tree.total, plain.sum())
        masses = random.random(20) * tree.total
        found, sums = tree.find(masses), np.cumsum(plain)
        assert (plain[found] > 0).all()
        rounding = 1e-9 * tree.total
        assert (sums[found] >= masses - rounding).all()
        assert (sums[found] - plain[found] <= masses + rounding).all()
    np.testing.assert_array_equal(tree[np.arange(1000)], plain)


def test_a_buffer_is_used_again_once_it_was_learned():
    player = Player(np.random.default_rng(1), 4, 2)
    replay = Replay(Recipe(player.spec, 1, 2, 100, 1, DISCOUNT, priority_alpha=1.0))
    replay.begin(0, player.begin())
    for _ in range(10):
        replay.add(0, *player.rollout())
    replay.offer()
    first, second = replay.draw(8), replay.draw(8)
    assert not np.shares_memory(first.arrays["observation"], second.arrays["observation"])
    replay.learned(first, np.full(8, np.nan, np.float32))  # of an update that was left out
    third = replay.draw(8)
    assert np.shares_memory(first.arrays["observation"], third.arrays["observation"])
    assert np.isfinite(third.arrays["weight"]).all()
    replay.learned(third, np.ones(8, np.float32))
    assert replay.draw(9).arrays["observation"].shape == (1, 9, 3, 3, 4)


COMPILE = """
import numpy as np
from ga3c.replay.sum_tree import SumTree
tree = SumTree(8)
tree.compile()
tree.set(np.arange(3), np.ones(3))
print(tree.find(np.array([1.5])))
"""
NO_ROOM = """
from numba.core.caching import IndexDataCacheFile
def save(*_):
    raise OSError(28, "No space left on device")
IndexDataCacheFile.save = save
"""


@pytest.mark.parametrize("code", ["", NO_ROOM], ids=["read-only", "full"])
def test_machine_code_that_cannot_be_kept_is_made_without_a_word(tmp_path, code):
    room = tmp_path / "ga3c"
    shutil.copytree(program.ROOT / "ga3c" / "replay", room / "replay", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (program.ROOT / "ga3c").iterdir():
        if path.name not in ("replay", "__pycache__"):
            (room / path.name).symlink_to(path)
    if not code:
        (room / "replay" / "__pycache__").touch()  # not even who may write everywhere can write there
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | nowhere | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code + COMPILE]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert (ended.stdout, ended.stderr) == ("[1]\n", "")
