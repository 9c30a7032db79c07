"""Names of games, and real games."""

import gymnasium
import numpy as np
import pytest
from PIL import Image

from ga3c import environments
from ga3c.environments import atari
from ga3c.environments.gymnasium import GameFault, GymnasiumEnvironments
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from tests.tiny_environment import Match

SPELLINGS = {
    "ms_pacman": ["ms_pacman", "MsPacman", "mspacman", "Ms. Pac-Man", "ALE/MsPacman-v5", "MsPacman-v4"],
    "up_n_down": ["UpNDown", "up_n_down", "up n down", "ALE/UpNDown-v5", "UpNDown-v4"],
    "pong": ["Pong", "PONG", "Pong-v0", "Pong-v4", "Pong-v5", "PongNoFrameskip-v4", "PongDeterministic-v4"],
    "qbert": ["Q*bert", "Qbert", "ALE/Qbert-v5"],
}


@pytest.mark.parametrize(("rom", "name"), [(rom, name) for rom, names in SPELLINGS.items() for name in names])
def test_usual_spellings(rom, name):
    assert environments.resolve(name) == ("atari", rom)


def test_every_game_by_its_names():
    roms = atari.rom_names()
    assert len(roms) > 100
    for rom in roms:
        shown = atari.display_name(rom)
        assert {environments.resolve(name) for name in (rom, shown, f"ALE/{shown}-v5")} == {("atari", rom)}
    assert set(RANDOM_AND_HUMAN_SCORES) <= set(roms)


def test_games_that_the_emulator_cannot_start_are_not_offered():
    """It ends the process when it loads one of these, which are for two players."""
    for rom in ("combat", "joust", "maze_craze", "warlords"):
        with pytest.raises(ConfigError):
            environments.resolve(rom)


NEAREST = {"Pogn": "Pong", "ALE/Breakot-v5": "Breakout", "CartPole-v9": "CartPole-v1", "xyzzy": "", "": ""}


@pytest.mark.parametrize("name", NEAREST)
def test_an_unknown_name_is_told_its_nearest(name):
    with pytest.raises(ConfigError, match=f"Unknown game '{name}'.*{NEAREST[name]}"):
        environments.resolve(name)


def test_gymnasium_ids():
    for name in ("CartPole-v1", "FrozenLake-v1", "tests.tiny_environment:Match-v0"):
        assert environments.resolve(name) == ("gymnasium", name)
    with pytest.raises(ConfigError, match="Cannot import 'no_such_module'"):
        environments.resolve("no_such_module:Foo-v0")
    with pytest.raises(ConfigError, match="registered no environment 'Foo-v0'"):
        environments.resolve("math:Foo-v0")
    for name in (":Foo-v0", ".relative:Foo-v0"):
        with pytest.raises(ConfigError):
            environments.resolve(name)


def play(game, steps, seed=1, count=2, threads=1, **settings):
    """What `step` returned in `steps` random steps, the same in each copy: arrays [time, env, ...]."""
    games = environments.make(EnvironmentSettings(game=game, **settings), count, seed, threads)
    rng, rows = np.random.default_rng(0), []
    first = games.reset()
    assert first.shape == (count, *games.spec.observation_shape)
    assert first.dtype == games.spec.observation_dtype
    for _ in range(steps):
        observations, *rest = games.step(np.full(count, rng.integers(games.spec.actions), np.int32))
        rows.append((observations.copy(), *rest))
    games.close()
    return [np.stack(column) for column in zip(*rows, strict=True)]


def test_atari_is_a_function_of_seed_and_actions():
    first, again, other = play("pong", 60), play("pong", 60, threads=2), play("pong", 60, seed=9)
    assert first[0].shape == (60, 2, 84, 84, 4)
    assert first[0].dtype == np.uint8
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[0][:, 0], first[0][:, 1])  # the copies have seeds of their own
    np.testing.assert_array_equal(first[0][1:, ..., :-1], first[0][:-1, ..., 1:])  # the newest frame is the last


def test_rewards_are_the_true_ones():
    assert play("ms_pacman", 150, reward_clip=1.0)[1].max() >= 10


def test_the_cap_truncates():
    _, _, terminated, truncated, _ = play("pong", 60, episode_cap_frames=100)
    assert not terminated.any()
    # 25 steps of 4 frames, then one that restarts
    np.testing.assert_array_equal(np.flatnonzero(truncated[:, 0]), [24, 50])


def test_a_lost_life_is_flagged_and_the_game_goes_on():
    breakout = {"game": "breakout", "steps": 300, "count": 1, "fire_reset": True}
    _, _, terminated, _, life_lost = play(**breakout, life_loss_terminates=True)
    ends = np.flatnonzero(terminated)
    assert len(ends) >= 1
    assert life_lost[: ends[0] + 1].sum() == 5  # all lives of the first game
    assert not (life_lost & terminated)[: ends[0]].any()
    assert not play(**breakout, life_loss_terminates=False)[4].any()


def test_machado_has_all_actions_and_sticky_ones():
    settings = with_presets(Settings(), None, "machado").environment
    games = environments.make(settings, 1, 0)
    assert games.spec.actions == 18
    games.close()
    plain, sticky = (play("pong", 60, no_op_max_steps=0, sticky_action_probability=p)[0] for p in (0.0, 0.25))
    assert not np.array_equal(plain, sticky)


@pytest.mark.parametrize("game", ["breakout", "ms_pacman"])
def test_the_screen_shows_the_game_that_is_played(game):
    """What moves in it is what moves in the network's view: at every step, after a restart too."""
    settings = EnvironmentSettings(game=game, sticky_action_probability=0.25)
    games, screen = environments.make(settings, 1, 7), atari.AtariScreen(game, settings, 7)
    rng, views, pictures, ends = np.random.default_rng(3), [games.reset()[0, ..., -1].copy()], [screen.reset()[0]], []
    assert pictures[0].shape == (210, 160, 3)
    while not ends or len(views) < ends[0] + 100:
        action = rng.integers(games.spec.actions)
        observations, _, terminated, truncated, _ = games.step(np.array([action]))
        views.append(observations[0, ..., -1].copy())
        pictures.append(screen.step(np.array([action]))[0])
        if terminated[0] or truncated[0]:
            ends.append(len(views))
    grey = [Image.fromarray(p).convert("L").resize((84, 84), Image.Resampling.BOX) for p in pictures]
    view, picture = (np.stack(frames).reshape(len(views), -1).astype(float) for frames in (views, grey))
    view, picture = view - view.mean(axis=0), picture - picture.mean(axis=0)
    alike = (view * picture).sum(axis=1) / np.linalg.norm(view, axis=1) / np.linalg.norm(picture, axis=1)
    assert alike.min() > 0.9


def test_gymnasium_restarts_in_the_step_after_the_end():
    games = GymnasiumEnvironments("CartPole-v1", count=2, seed=3)
    assert games.spec == ("CartPole-v1", (4,), "float32", 2, 1)
    first = games.reset()
    np.testing.assert_array_equal(first, games.reset())
    assert not np.array_equal(first[0], first[1])
    for _ in range(50):
        observations, rewards, terminated, truncated, life_lost = games.step(np.array([1, 0]))
        assert observations.dtype == np.float32
        if terminated[0]:
            break
    assert abs(observations[0, 2]) > 0.2  # the last state of the game: the pole has fallen
    assert rewards[0] == 1
    observations, rewards, terminated, truncated, life_lost = games.step(np.array([1, 0]))
    assert abs(observations[0]).max() < 0.05  # a first state, whatever the action was
    assert not any([rewards[0], terminated[0], truncated[0], life_lost.any()])
    games.close()


def test_gymnasium_states_that_are_numbers_become_vectors():
    games = environments.make(EnvironmentSettings(game="FrozenLake-v1"), 2, 0)
    assert games.spec == ("FrozenLake-v1", (16,), "float32", 4, 1)
    np.testing.assert_array_equal(games.reset(), np.eye(16)[[0, 0]])
    for _ in range(20):
        observations = games.step(np.array([2, 1]))[0]
        np.testing.assert_array_equal(np.sort(observations, axis=1), np.eye(16)[[15, 15]])
    games.close()


class Shifted(Match):
    """Its actions are 3, 4, 5 and 6."""

    action_space = gymnasium.spaces.Discrete(4, start=3)

    def step(self, action):
        return super().step(action - 3)


gymnasium.register("Shifted-v0", Shifted)


@pytest.mark.parametrize("game", ["tests.tiny_environment:Match-v0", f"{__name__}:Shifted-v0"])
def test_a_game_of_ones_own(game):
    games = environments.make(EnvironmentSettings(game=game), 3, 0)
    assert (games.spec.name, games.spec.actions) == (game.partition(":")[2], 4)
    states = games.reset()
    for _ in range(20):
        states, rewards, *_ = games.step(states.argmax(axis=1))
        np.testing.assert_array_equal(rewards, 1)
    games.close()


def test_actions_that_are_not_discrete_are_refused():
    with pytest.raises(ConfigError, match="only discrete actions"):
        environments.make(EnvironmentSettings(game="Pendulum-v1"), 1, 0)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("reward", "the reward nan"),
        ("number", "not finite"),
        ("shape", r"shape \(2,\), not \(4,\)"),
        ("dtype", "complex"),
    ],
)
def test_what_a_game_must_not_return_is_named(what, says):
    games = environments.make(EnvironmentSettings(game=f"tests.tiny_environment:Strange-{what}-v0"), 2, 0)
    games.reset()
    with pytest.raises(GameFault, match=says):  # noqa: PT012 (any of the steps, but not the reset)
        for _ in range(11):
            games.step(np.zeros(2, int))


@pytest.mark.parametrize("game", ["Pong", "CartPole-v1"])
def test_seeds_may_be_as_large_as_they_get(game):
    games = environments.make(EnvironmentSettings(game=game), 3, seed=2**31 - 2)
    assert len(games.reset()) == 3
    games.close()
