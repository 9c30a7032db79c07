"""What goes when a replay holds too much: which, how often, and held against a plain list of all that is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.replay.eviction import UPDATES, Eviction
from ga3c.replay.priorities import SMALLEST, Priorities
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from tests.test_replay import DISCOUNT, Player, restarted

ALPHA, EVICTION_ALPHA = 0.6, -0.4


class Often(Eviction):
    """Looks after each tenth update."""

    def due(self) -> bool:
        self._updates += 1
        return self._updates % 10 == 0


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_steps=st.integers(1, 3),
    stack=st.sampled_from([1, 4]),
    groups=st.integers(1, 3),
    envs=st.integers(1, 2),
    capacity=st.integers(1, 60),
)
def test_what_is_kept_is_what_a_list_keeps(seed, n_steps, stack, groups, envs, capacity):
    random = np.random.default_rng(seed)
    players = [Player(random, stack, envs) for _ in range(groups)]

    def empty() -> tuple[Priorities, Replay]:
        alphas = {"priority_alpha": ALPHA, "eviction_alpha": EVICTION_ALPHA}
        made = Replay(Recipe(players[0].spec, groups, envs, capacity, n_steps, DISCOUNT, **alphas, seed=seed))
        made._eviction = Often(capacity, EVICTION_ALPHA, ALPHA, seed)
        return made._priorities, made

    priorities, replay = empty()
    gone: set[tuple[int, int, int]] = set()  # (group, game, row), that were evicted
    values: dict[tuple[int, int, int], float] = {}
    for group, player in enumerate(players):
        replay.begin(group, player.begin())

    def kept() -> dict[int, tuple[int, int, int]]:
        """By place, all that can be drawn, by the list."""
        found = {}
        for group, player in enumerate(players):
            for env, game in enumerate(player.games):
                for row in range(max(0, len(game) - replay.length + stack - 1), len(game) - n_steps):
                    if game[row].valid and (group, env, row) not in gone:
                        found[(group * replay.length + row % replay.length) * envs + env] = group, env, row
        return found

    for update in range(1, 61):
        group = int(random.integers(groups))
        if random.random() < 0.7:
            replay.add(group, *players[group].rollout())
            replay.offer()
        if update == 25:
            (_, before), (priorities, replay) = (priorities, replay), empty()
            replay = restarted(before, replay)
        if not replay.size:
            continue
        drawn, before = replay.draw(8), kept()
        assert {*drawn.places.tolist()} <= {*before}
        errors = random.random(8).astype(np.float32)
        replay.learned(drawn, errors)
        for place, error in zip(drawn.places.tolist(), errors, strict=True):
            values[before[place]] = (float(error) + SMALLEST) ** ALPHA
        left = {*replay.places().tolist()}
        assert left <= {*before}
        gone |= {before[place] for place in {*before} - left}
        if len(left) < len(before):
            assert len(left) == capacity < len(before)  # no fewer are taken, and only now
            there = replay._rows.valid[drawn.places]
            replay.learned(drawn, np.where(there, np.nan, 9).astype(np.float32))  # late, of what is gone: no change
        after, places = kept(), replay.places()
        assert sorted(places) == sorted(after)
        assert replay.size == len(after)
        for place, value in zip(places.tolist(), priorities.of(places), strict=True):
            if after[place] in values:
                assert value == pytest.approx(values[after[place]], rel=1e-5)
        assert priorities._tree.total == pytest.approx(priorities.of(places).sum())


def test_small_priorities_go_more_often_as_a_draw_one_by_one_would_have_it():
    """Frequencies against NumPy's own draw without replacement; 8 standard errors."""
    priorities = (np.arange(1, 7) ** 2.0) ** ALPHA
    eviction, random, rounds = Eviction(4, EVICTION_ALPHA, ALPHA, 1), np.random.default_rng(2), 4000
    weights = (np.arange(1, 7) ** 2.0) ** EVICTION_ALPHA
    counts, wanted = np.zeros(6), np.zeros(6)
    for _ in range(rounds):
        gone = eviction.chosen(priorities)
        assert len({*gone.tolist()}) == len(gone) == 2
        counts[gone] += 1
        wanted[random.choice(6, 2, replace=False, p=weights / weights.sum())] += 1
    assert (np.diff(wanted) < 0).all()
    assert (np.abs(counts - wanted) < 8 * np.sqrt(rounds / 4)).all()
    assert (np.diff(counts) < 0).all()


def test_nothing_goes_while_there_is_room():
    eviction = Eviction(4, EVICTION_ALPHA, ALPHA, 1)
    assert len(eviction.chosen(np.ones(4))) == len(eviction.chosen(np.ones(0))) == 0
    assert [eviction.due() for _ in range(2 * UPDATES)].count(True) == 2


def test_dpg_has_the_constants_of_the_paper_and_it_needs_priorities():
    replay = parse_settings(["--preset", "apex-dpg"])[0].replay
    assert (replay.replay_eviction, replay.eviction_alpha, replay.replay_transitions) == ("priority", -0.4, 1_000_000)
    assert parse_settings(["--preset", "apex-dqn"])[0].replay.replay_eviction == "oldest"
    with pytest.raises(ConfigError, match="--replay-eviction priority needs priorities"):
        parse_settings(["--preset", "dqn", "--replay-eviction", "priority"])
