"""What becomes of the observations and actions of any Gymnasium game on their way to the network, and back."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from ga3c import environments, networks, progress
from ga3c.commands.train import parse_settings
from ga3c.environments.game_fault import GameFault
from ga3c.environments.observations import Observations
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import play_games
from ga3c.play.playing import Stage, moments
from ga3c.records import checkpoint
from ga3c.records.checkpoint_meta import to_meta
from ga3c.records.description import describe, read_settings
from ga3c.records.initial_weights import initial_weights
from ga3c.rollout import continuous
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import from_dict, to_dict
from tests.tiny_environment import Match


class Shown(Match):
    """Shows what is drawn from its space. The reward is 1 - 4 x distance / range of the action from three quarters."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

    def __init__(self, observations=None, actions=None, render_mode=None):
        self.observation_space = observations or Box(-1, 1, (3,))
        self.action_space = actions or Discrete(4)
        self._random = np.random.default_rng(0)

    def _show(self):
        self._symbol = 0
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        self.observation_space.seed(5)
        return super().reset(seed=seed)

    def step(self, action):
        observation, reward, *ends = super().step(0)
        if isinstance(space := self.action_space, Box):
            assert space.contains(action), action
            low, high = space.low.astype(np.float64), space.high.astype(np.float64)
            reward = float(np.mean(1 - 4 * abs(action - (low + 0.75 * (high - low))) / (high - low)))
        return observation, reward, *ends

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


gymnasium.register("Shown-v0", Shown)


def game(count=2, adapt=True, observation="auto", **spaces):
    """`count` copies of a game with these spaces."""
    gymnasium.registry["Shown-v0"].kwargs = spaces
    settings = EnvironmentSettings(game=f"{__name__}:Shown-v0", adapt_spaces=adapt, observation=observation)
    return environments.make(settings, count, 0)


def box(low, high, *shape, dtype=np.float32):
    return Box(low, high, shape, dtype)


def byte(*shape, high=255):
    return Box(0, high, shape, np.uint8)


PICTURES = {  # space: shape of the bytes that are made of it, and the axes of the game's in that order
    "bytes": (byte(84, 84, 4), (84, 84, 4), (0, 1, 2)),
    "bytes, grey": (byte(24, 30), (24, 30, 1), (0, 1)),
    "bytes, large": (byte(600, 300, 3), (600, 300, 3), (0, 1, 2)),
    "bytes, channel first": (byte(1, 24, 30), (24, 30, 1), (1, 2, 0)),
    "bytes, four pictures first": (byte(4, 84, 80), (84, 80, 4), (1, 2, 0)),
    "bytes, all sides large": (byte(24, 84, 84), (24, 84, 84), (0, 1, 2)),
    "bytes of 0 and 1": (byte(20, 20, high=1), (20, 20, 1), (0, 1)),
    "bytes within other bounds": (byte(20, 20, 2, high=7), (20, 20, 2), (0, 1, 2)),
    "floats to 1": (box(0, 1, 24, 30), (24, 30, 1), (0, 1)),
    "floats to 255": (box(0, 255, 24, 30, 3, dtype=np.float64), (24, 30, 3), (0, 1, 2)),
    "floats, channel first": (box(0, 1, 3, 24, 30), (24, 30, 3), (1, 2, 0)),
    "floats, many channels": (box(0, 1, 30, 30, 12), (30, 30, 12), (0, 1, 2)),
    "integers": (box(0, 255, 24, 24, dtype=np.int64), (24, 24, 1), (0, 1)),
    "no and yes": (box(0, 1, 20, 20, dtype=np.bool_), (20, 20, 1), (0, 1)),
    "alone in a Dict": (Dict({"a": Dict({"b": box(0, 1, 3, 24, 30)})}), (24, 30, 3), (1, 2, 0)),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_become_bytes_with_their_channels_at_the_end(name):
    space, shape, axes = PICTURES[name]
    games = game(observations=space)
    assert (games.spec.observation_shape, games.spec.observation_dtype) == (shape, "uint8")
    assert networks.resolve("auto", games.spec) == "small"
    space.seed(5)
    shown = space.sample()
    while isinstance(shown, dict):
        (shown,) = shown.values()
    to_one = shown.dtype == np.bool_ or name in ("bytes of 0 and 1", "floats to 1", "floats, many channels")
    to_one |= name in ("floats, channel first", "alone in a Dict")
    wanted = np.rint(shown.astype(np.float32) * (255 if to_one else 1)).transpose(axes).reshape(shape)
    for found in (games.reset(), games.restart(np.array([True, True]))):
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found[0], wanted)
    assert games.step(np.zeros(2, np.int32))[0].shape == (2, *shape)
    games.close()


VECTORS = {
    "numbers": (box(-1, 1, 4), 4, ""),
    "a long vector within 0 and 1": (box(0, 1, 400), 400, ""),
    "one of some": (Discrete(16), 16, ""),
    "a grid": (box(0, 1, 4, 5), 20, "20 pixels"),
    "a grid of bytes": (byte(4, 5), 20, "20 pixels"),
    "a cube": (byte(3, 3, 3), 27, "20 pixels"),
    "channels on both sides": (byte(4, 84, 4), 1344, "20 pixels"),
    "a board": (box(0, 1, 17, 19, 19), 6137, "20 pixels"),
    "floats within other bounds": (box(-1, 1, 24, 24), 576, "0 and 1, or 0 and 255"),
    "floats without bounds": (box(-np.inf, np.inf, 3, 24, 24), 1728, "0 and 1, or 0 and 255"),
    "bounds of their own": (Box(np.zeros((24, 24)), np.arange(1, 577).reshape(24, 24)), 576, "0 and 1, or 0 and 255"),
    "four axes": (byte(2, 24, 24, 3), 3456, "2 or 3 axes"),
    "no picture in a Dict": (Dict({"a": box(-1, 1, 3)}), 3, ""),
}


@pytest.mark.parametrize("name", VECTORS)
def test_everything_else_becomes_a_vector(name):
    space, size, why = VECTORS[name]
    games = game(observations=space)
    assert (games.spec.observation_shape, games.spec.observation_dtype) == ((size,), "float32")
    assert networks.resolve("auto", games.spec) == "mlp"
    observations = games.reset()
    assert (observations.shape, observations.dtype) == ((2, size), np.float32)
    (line,) = games.start_lines("mlp")
    assert f"taken as a vector of {size:,}" in line
    assert line.endswith("; network: mlp (fully connected).")
    assert why in line
    assert ("(pictures" in line) == bool(why)
    games.close()


def test_a_line_says_what_the_game_shows_and_what_was_made_of_it():
    games = game(observations=box(0, 1, 3, 24, 30))
    assert games.start_lines("small") == [
        "Observations: float32 [3, 24, 30] from 0 to 1, taken as a picture, uint8 [24, 30, 3], its channels moved to "
        "the end, times 255; network: small (convolutional)."
    ]
    games.close()
    games = game(actions=Box(0, 1000, (2,)))
    assert games.start_lines("separate-mlp") == [
        "Observations: float32 [3] from -1 to 1, taken as a vector of 3; network: separate-mlp (fully connected).",
        "Actions: float32 [2] from 0 to 1000; the policy acts from -1 to 1, which is scaled to these bounds.",
    ]
    games.close()
    many = Dict({f"entry {number}": Discrete(2) for number in range(100)})
    flat = game(observations=many, observation="flat")
    assert "Dict of 100 entries, taken as a vector of 200;" in flat.start_lines("mlp")[0]
    flat.close()
    flat = game(observations=Dict({"image": byte(24, 24), "way": Discrete(4)}), observation="flat")
    assert "taken as a vector of 580 (with the picture in it, --observation flat);" in flat.start_lines("mlp")[0]
    flat.close()


@pytest.mark.parametrize("wrong", [1.1, -0.1, 255.0, np.nan])
def test_a_picture_out_of_its_bounds_is_named(wrong):
    space = box(0, 1, 24, 24)
    seen, pictures = Observations(space), np.full((1, 24, 24), 0.5, np.float32)
    assert (seen.convert(pictures, None) == 128).all()
    pictures[0, 3, 3] = wrong
    with pytest.raises(GameFault, match="not within 0 and 1"):
        seen.convert(pictures, None)


BOXES = {
    "1000": Box(0, 1000, (1,)),
    "100 to 200": Box(100, 200, (1,), np.float64),
    "tiny": Box(1e-6, 3e-6, (1,)),
    "lopsided": Box(np.array([[-1, -1000], [-0.1, 5]], np.float32), np.array([[1, 1], [1e6, 5.001]], np.float32)),
    "huge": Box(-np.finfo(np.float64).max, np.finfo(np.float64).max, (3,), np.float64),
}


@pytest.mark.parametrize("name", BOXES)
def test_actions_from_minus_one_to_one_reach_the_bounds_and_all_between(name):
    space = BOXES[name]
    size, games = space.low.size, game(actions=space)
    assert games.spec.actions == continuous([-1] * size, [1] * size)
    games.reset()

    def taken(action):
        found = games.as_the_game_wants(np.full((2, size), action, np.float32))
        assert all(map(space.contains, found))
        return found[0]

    np.testing.assert_array_equal(taken(-1), space.low)
    np.testing.assert_array_equal(taken(1), space.high)
    for beyond in (5, np.inf):
        np.testing.assert_array_equal(taken(beyond), space.high)
    if name != "huge":  # what is the same in [-1, 1] earns the same
        for action, reward in ((0.5, 1), (0, 0), (-1, -2), (1, 0)):
            rewards = games.step(np.full((2, size), action, np.float32))[1]
            np.testing.assert_allclose(rewards, reward, atol=0.01)
    games.close()


def test_actions_within_one_are_handed_on_bit_for_bit():
    """Those of each element whose bounds are that."""
    space = Box(np.array([-1, 0], np.float32), np.array([1, 10], np.float32))
    actions = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    games = game(count=1, actions=space)
    np.testing.assert_array_equal(games.as_the_game_wants(actions)[:, 0], np.clip(actions[:, 0], -1, 1))
    games.close()


def test_a_run_of_an_older_version_goes_on_as_it_was(tmp_path):
    """Its settings do not say whether observations and actions were adapted: of Gymnasium's games they were not."""
    old = to_dict(Settings())
    del old["environment"]["adapt_spaces"]
    assert from_dict(old, "paper-5818c1c8") == from_dict(old) == Settings()
    assert not from_dict(old, "gymnasium").environment.adapt_spaces
    games = game(adapt=False, observations=box(0, 1, 24, 24), actions=Box(0, 1000, (1,)))
    assert games.spec[1:4] == ((576,), "float32", continuous([0], [1000]))
    np.testing.assert_array_equal(games.as_the_game_wants(np.array([[-5], [300]])).ravel(), [0, 300])
    (line,) = games.start_lines("mlp")
    assert "vector of 576 (a picture with --adapt-spaces);" in line
    games.close()
    games = game(adapt=False, observations=byte(24, 3))
    assert games.spec[1:3] == ((24, 3, 1), "uint8")
    games.close()


def test_weights_of_a_run_that_saw_another_game_begin_no_new_one(tmp_path):
    settings = EnvironmentSettings(game=f"{__name__}:Shown-v0")
    games = game(actions=Box(0, 1000, (1,)))
    old = to_meta(progress.beginning(Settings(environment=settings)))
    assert old["protocol"] == "gymnasium"
    del old["settings"]["environment"]["adapt_spaces"]
    path = checkpoint.save(tmp_path, 1, {"network/0": np.zeros(1)}, old, 1)
    with pytest.raises(ConfigError, match=r"learned without --adapt-spaces.* add --no-adapt-spaces"):
        initial_weights(str(path), print, Settings(environment=settings), games.spec)
    same = game(actions=Box(-1, 1, (1,)))
    assert "network/0" in initial_weights(str(path), print, Settings(environment=settings), same.spec)


gymnasium.register("Film-v0", Shown, kwargs={"observations": box(0, 1, 3, 24, 30), "actions": Box(0, 1000, (1,))})


@pytest.mark.parametrize("adapt", [True, False])
def test_play_and_evaluation_see_what_training_does(adapt):
    """Play draws games in a process of its own; it shows actions by where they are between their bounds."""
    settings = EnvironmentSettings(game=f"{__name__}:Film-v0", adapt_spaces=adapt)
    games, seen = environments.make(settings, 1, 0), []
    first = games.reset()

    def policy(observations, _):
        seen.append(observations)
        return np.full((1, 1), 0.5, np.float32), np.zeros((1, 2), np.float32), np.zeros(1), np.zeros((1, 0))

    (score,), _ = play_games(policy, settings, 1, 0, False, 50)
    stage = Stage(settings, 1, 0)
    assert stage.actions == games.spec.actions
    played = moments(stage, policy, False, lambda: None)
    moment = next(played)
    while not moment.ended[0]:
        np.testing.assert_allclose(moment.shares, [[0.75 if adapt else 0.0005]])
        moment = next(played)
    assert score == pytest.approx(20 if adapt else -39.96)
    assert moment.scores[0] == pytest.approx(score)
    np.testing.assert_array_equal(seen[0], first)
    np.testing.assert_array_equal(seen[20], first)
    games.close()
    stage.close()


def test_a_run_keeps_what_it_began_with(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    description = describe(Settings(environment=EnvironmentSettings(game="Pendulum-v1")))
    for kept in (True, False):
        (run / "config.json").write_text(json.dumps(description))
        assert read_settings(run).environment.adapt_spaces == kept
        settings = parse_settings(["--resume", str(run), "--seed", "2"])[0]
        assert settings.environment.adapt_spaces == kept
        other = "--no-adapt-spaces" if kept else "--adapt-spaces"
        with pytest.raises(ConfigError, match=f"learned {'with' if kept else 'without'} --adapt-spaces"):
            parse_settings(["--resume", str(run), other])
        description["settings"]["environment"].pop("adapt_spaces", None)  # as an older version wrote it
