"""Games that bring nothing for long begin anew: a scripted one step by step, and real ones of both emulators."""

import numpy as np

from ga3c import environments
from ga3c.environments.games_in_play import Games
from ga3c.rollout import rollout_dtype
from ga3c.settings.game import EnvironmentSettings
from tests.test_agent import Scripted

LIMIT_STEPS, COUNT = 30, 4


class Quiet(Scripted):
    """Only the first two steps of a game are rewarded. The third game loses a life every fourth step."""

    def step(self, actions):
        shown, rewards, *ends, _ = super().step(actions)
        lost = np.array([False, False, self.steps[2] % 4 == 0 and self.steps[2] > 0])
        return shown, np.where(self.steps > 2, 0.0, rewards), *ends, lost


def played(games, envs, first, steps):
    """Returns the rows of a rollout of random play, and the observations: the first, and those after each row."""
    slots, random = np.zeros(1, rollout_dtype(envs.spec, steps, len(first))), np.random.default_rng(0)
    shown = [first.copy()]
    for row in range(steps):
        slots["action"][0, row] = envs.spec.random_actions(random, shown[-1])
        shown.append(games.step(slots, 0, row)[0].copy())
    return slots[0], np.array(shown)


def begun(games):
    return games.begin(0, lambda: None)


def pong(emulator, seed=3):
    settings = EnvironmentSettings(game="Pong", frame_size_pixels=42, emulator=emulator, stall_limit_steps=LIMIT_STEPS)
    envs = environments.make(settings, COUNT, seed)
    return envs, Games(envs, COUNT, settings)


def test_a_quiet_game_is_cut_and_its_next_step_only_starts_a_new_one():
    """The first game would go on for long, the second ends in time, the third has something happen in time."""
    envs = Quiet([50, 5, 50])
    games = Games(envs, 3, EnvironmentSettings(stall_limit_steps=4, reward_clip=0.0))
    slots, shown = played(games, envs, begun(games), 15)
    steps = (shown[:, :, 0].T.astype(int) % 100).tolist()
    assert steps[0] == [*range(7), *range(7), 0, 1]  # two rewards, four quiet steps, and the row that starts anew
    assert steps[1] == [*range(6), *range(6), *range(4)]
    assert steps[2] == [*range(16)]
    assert np.argwhere(slots["truncated"]).tolist() == [[5, 0], [12, 0]]
    assert np.argwhere(~slots["valid"]).tolist() == [[5, 1], [6, 0], [11, 1], [13, 0]]
    assert np.argwhere(slots["terminated"]).tolist() == [[3, 2], [4, 1], [7, 2], [10, 1], [11, 2]]
    ended = [(one.game, one.score, one.length_steps) for one in games.finished()]
    assert ended == [(1, 6.0, 5), (0, 6.0, 6), (1, 6.0, 5), (0, 6.0, 6)]


def test_games_that_are_not_ataris_are_not_cut():
    envs = Quiet([50, 50, 50])
    games = Games(envs, 3, EnvironmentSettings(game="CartPole-v1", stall_limit_steps=4))
    assert not played(games, envs, begun(games), 15)[0]["truncated"].any()


def test_of_real_games_the_quiet_ones_are_cut_and_both_emulators_show_the_same():
    shown = {}
    for emulator in ("ours", "ale"):
        envs, games = pong(emulator)
        slots, shown[emulator] = played(games, envs, begun(games), 300)
        ends = 0
        for game in range(COUNT):
            quiet_steps, before = 0, False
            for row in range(300):
                valid, cut = slots["valid"][row, game], slots["truncated"][row, game]
                assert valid != before
                quiet_steps = quiet_steps + 1 if valid and not slots["reward"][row, game] else 0
                assert cut == (quiet_steps == LIMIT_STEPS)
                if before:  # a game that begins has no earlier frames
                    assert not shown[emulator][row + 1, game, ..., :-1].any()
                before, ends = cut, ends + cut
        assert ends > COUNT
        assert len(games.finished()) == ends
        envs.close()
    np.testing.assert_array_equal(shown["ours"], shown["ale"])


def test_quiet_steps_are_kept_with_the_games():
    envs, games = pong("ours")
    _, shown = played(games, envs, begun(games), LIMIT_STEPS - 5)
    saved = {name: array.copy() for name, array in games.state().items()}
    expected, after = played(games, envs, shown[-1], 80)
    other_envs, others = pong("ours", seed=9)
    others.restore(saved)
    found, seen = played(others, other_envs, begun(others), 80)
    np.testing.assert_array_equal(seen, after)
    np.testing.assert_array_equal(found["truncated"], expected["truncated"])
    assert expected["truncated"][:10].any()
