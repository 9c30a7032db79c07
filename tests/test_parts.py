"""Observations of several parts: each has its own place in the network, and a row of bytes carries all."""

import gymnasium
import keras
import numpy as np
import pytest
import tensorflow as tf
from gymnasium.spaces import Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space, iterate

from ga3c import algorithms, environments, networks, progress
from ga3c.errors import ConfigError
from ga3c.layout import ONE_HOT, PICTURE, VECTOR, Part
from ga3c.model import Model
from ga3c.networks import own, row_network
from ga3c.networks.weights import first
from ga3c.rollout import rollout_dtype
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests.solving import POLICIES, VALUES, score
from tests.test_spaces import box, byte, game
from tests.tiny_environment import STEPS
from tests.variants import variants

ALL = [*POLICIES, *VALUES]


class Spread(gymnasium.Env):
    """One of two bits is in each part: both name the action that earns 1. With one part alone half can be earned."""

    action_space = Discrete(4)

    def _show(self):
        self._bits = self.np_random.integers(2, size=2)
        return self._parts(*self._bits.tolist())

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return self._show(), {}

    def step(self, action):
        right = action == 2 * self._bits[0] + self._bits[1]
        self._step += 1
        return self._show(), float(right), self._step == STEPS, False, {}


class PictureAndVector(Spread):
    """The picture is bright on the left or on the right; the vector is above or below 0."""

    def __init__(self, pixels):
        self.observation_space = Dict(image=byte(pixels, pixels), speed=box(-1, 1, 3))

    def _parts(self, left, above):
        picture = np.zeros_like(self.observation_space["image"].low)
        half = len(picture) // 2
        picture[:, half * left : half * left + half] = 255
        return {"image": picture, "speed": np.full(3, 2 * above - 1, np.float32)}


class Nested(Spread):
    """A choice, and within a Dict within a Tuple a vector that has to be standardised."""

    observation_space = Tuple((Discrete(2, start=7), Dict(more=Tuple((box(0, 1000, 1), MultiBinary((2, 2)))))))

    def _parts(self, choice, above):
        return 7 + choice, {"more": (np.array([500 + above], np.float32), np.zeros((2, 2), np.int8))}


gymnasium.register("Picture-v0", PictureAndVector, kwargs={"pixels": 20})
gymnasium.register("Larger-v0", PictureAndVector, kwargs={"pixels": 36})  # the least for the networks of Q-learning
gymnasium.register("Nested-v0", Nested)
PICTURE_GAME, LARGER, NESTED = (f"{__name__}:{name}-v0" for name in ("Picture", "Larger", "Nested"))


@pytest.mark.parametrize("algorithm", variants(ALL, "ppo", "dqn"))
def test_a_picture_and_a_vector_that_are_both_needed(algorithm):
    assert score(LARGER if algorithm in VALUES else PICTURE_GAME, algorithm, steps=6_000) > 0.85 * STEPS


@pytest.mark.parametrize("algorithm", variants(ALL, "ppo", "pqn"))
def test_a_nested_tuple_of_which_all_is_needed(algorithm):
    assert score(NESTED, algorithm, steps=12_000, input_scaling="standardized") > 0.85 * STEPS


@pytest.mark.long
def test_they_are_with_a_memory_too():
    assert score(NESTED, "ppo", steps=16_000, input_scaling="standardized", memory="lstm") > 0.85 * STEPS


EVERY = Dict(
    image=byte(3, 24, 30),
    grey=box(0, 1, 24, 24),
    body=Dict(speed=box(-1, 1, 2, 2), name=MultiDiscrete([2, 3])),
    ways=Tuple((Discrete(3, start=1), MultiBinary(2))),
)
WANTED = (  # in the order of Gymnasium, which sorts the keys of a dict
    Part("body.name", ONE_HOT, (5,)),
    Part("body.speed", VECTOR, (4,)),
    Part("grey", PICTURE, (24, 24, 1)),
    Part("image", PICTURE, (24, 30, 3)),
    Part("ways.0", ONE_HOT, (3,)),
    Part("ways.1", ONE_HOT, (2,)),
)


def seen_of(space=EVERY, count=2):
    """A game that shows samples of a space, its rows, and what it showed."""
    games = game(count, observations=space)
    rows = games.reset()
    space.seed(5)
    return games, rows, space.sample()


def test_a_row_holds_every_part_and_the_graph_takes_it_apart():
    games, rows, shown = seen_of()
    layout = games.spec.layout
    assert {part.name: part for part in layout.parts} == {part.name: part for part in WANTED}
    assert rows.shape == (2, layout.size) == (2, 5 + 16 + 576 + 2160 + 3 + 2)
    found = {name: part.numpy()[0] for name, part in row_network.taken_apart(tf.constant(rows), layout).items()}
    np.testing.assert_array_equal(found["image"], shown["image"].transpose(1, 2, 0))
    np.testing.assert_array_equal(found["grey"][..., 0], np.rint(shown["grey"] * 255))
    np.testing.assert_array_equal(found["body.speed"], shown["body"]["speed"].ravel())
    name = shown["body"]["name"]
    np.testing.assert_array_equal(found["body.name"], [*np.eye(2)[name[0]], *np.eye(3)[name[1]]])
    np.testing.assert_array_equal(found["ways.0"], np.eye(3)[shown["ways"][0] - 1])
    np.testing.assert_array_equal(found["ways.1"], shown["ways"][1])
    assert {found[part.name].dtype for part in layout.parts if part.kind == PICTURE} == {np.dtype(np.uint8)}
    nested = row_network.taken_apart(tf.constant(rows[None]), layout)  # [time, columns, bytes]
    np.testing.assert_array_equal(nested["image"][0, 0], found["image"])
    assert progress.spaces_of(games.spec)["observations"][2:] == layout.described()
    games.close()


def test_a_line_says_what_was_made_of_each_part():
    games = game(observations=Dict(image=byte(24, 24), way=Discrete(4), speed=box(-1, 1, 3)))
    (line,) = games.start_lines("small")
    for said in (
        "image: uint8 [24, 24] from 0 to 255, taken as a picture [24, 24, 1]",
        "way: Discrete(4), taken as numbers 0 and 1, one of 4",
        "speed: float32 [3] from -1 to 1, taken as a vector of 3",
        "; network: small (convolutional).",
    ):
        assert said in line
    games.close()
    many = Dict({f"entry {number}": Discrete(2) for number in range(100)})
    (line,) = game(observations=many).start_lines("mlp")
    assert line.startswith("Observations: 100 parts, each of which the network sees by itself; network: mlp")


def test_flat_and_unadapted_it_is_one_vector_as_in_older_versions():
    for settings in ({"observation": "flat"}, {"adapt_spaces": False}):
        games = environments.make(EnvironmentSettings(game=PICTURE_GAME, **settings), 1, 0)
        assert games.spec[1:3] == ((20 * 20 + 3,), "float32")
        assert games.spec.layout is None
        games.close()


@pytest.mark.parametrize("algorithm", variants(ALL, "a3c", "dqn"))
def test_statistics_are_of_each_picture_and_of_all_vectors(algorithm):
    """No gradient changes them; they are in the order in which the network keeps them."""
    space = Dict(b=box(0, 9, 2), image=byte(40, 40), z=Tuple((box(-1, 1, 3), byte(36, 44), Discrete(2))))
    games, rows, _ = seen_of(space)
    settings = LearningSettings(algorithm=algorithm, t_max=2)
    made = algorithms.make(Settings(learning=settings), games.spec.actions)
    model = Model(games.spec, settings, made, 1, xla=False)
    shapes = sorted(one.mean.shape.as_list() for one in model._current[1].statistics)
    assert shapes == [[5], [36, 44, 1], [40, 40, 1]]
    model.warm_up(1, 1, 4)
    network = networks.build(model.network_name, games.spec, 1, True, **made.network_options)
    wrapped = row_network.RowNetwork(network, games.spec.layout, policy=True)
    for one, seen in zip(first(wrapped).statistics, wrapped.counted(tf.constant(rows)), strict=True):
        assert one.mean.shape == seen.shape[1:]
    batch = np.zeros((), rollout_dtype(games.spec, 2, 4)) if not made.replays else None
    if batch is not None:
        batch["observation"], batch["valid"] = rows[0], True
        model.train(batch)
        for one in model._current[1].statistics:
            counted = 8 if one.mean.shape.rank == 1 else 4
            assert float(one.count) == counted
            parts = row_network.taken_apart(tf.constant(rows[:1]), games.spec.layout)
            values = {tuple(p.shape[1:]): p.numpy()[0] for p in parts.values()}
            values[(5,)] = np.concatenate([parts["b"][0], parts["z.0"][0]])
            np.testing.assert_allclose(one.mean, values[tuple(one.mean.shape)], rtol=1e-5)
    games.close()


def test_fully_connected_networks_see_pictures_too():
    games, rows, _ = seen_of(Dict(image=byte(24, 24), speed=box(-1, 1, 3)))
    for name in ("mlp", "separate-mlp"):
        network = row_network.RowNetwork(networks.build(name, games.spec, 1), games.spec.layout, policy=True)
        weights = first(network)
        policies, values = network.stateless_call(weights.trained, weights.fixed, tf.constant(rows))[0]
        assert (policies.shape, values.shape) == ((2, 4), (2,))
    games.close()


def test_pictures_in_parts_that_are_too_small_are_named():
    games, *_ = seen_of(Dict(image=byte(24, 24), speed=box(-1, 1, 3)))
    with pytest.raises(ConfigError, match="Images of 24x24 pixels are too small for --network dqn"):
        networks.build("dqn", games.spec, 1, dueling=False, support=None)
    with pytest.raises(ConfigError, match="discrete actions"):
        networks.resolve("auto", games.spec, "dpg")
    games.close()


def test_the_agent_remembers_the_layout(tmp_path):
    games, *_ = seen_of(Dict(a=box(-1, 1, 2), b=box(-1, 1, 3)))
    other, *_ = seen_of(Dict(a=box(-1, 1, 3), b=box(-1, 1, 2)))
    saved = progress.beginning(Settings())
    saved = progress.Progress(**vars(saved) | {"spaces": progress.spaces_of(games.spec)})
    saved.check_spaces(games.spec, tmp_path)
    assert games.spec.observation_shape == other.spec.observation_shape
    with pytest.raises(ConfigError, match="The observations of the game"):
        saved.check_spaces(other.spec, tmp_path)
    games.close()
    other.close()


def test_the_network_runs_with_fewer_bits_and_with_xla():
    games, rows, _ = seen_of(Dict(image=byte(36, 36), speed=box(-1, 1, 3)))
    for precision, xla in (("bfloat16", False), ("float32", True)):
        settings = LearningSettings(precision=precision, t_max=2)
        made = algorithms.make(Settings(learning=settings), games.spec.actions)
        model = Model(games.spec, settings, made, 1, xla=xla)
        model.warm_up(2, 2, 4)
        assert model.predict(rows)[0]["action"].shape == (2,)
    games.close()


def own_network(space, actions):
    """A network of one's own for a game of several parts: it is given a Dict of them, by name."""
    inputs = {name: keras.Input(part.shape, name=name, dtype=part.dtype.name) for name, part in space.spaces.items()}
    numbers = [keras.layers.Flatten()(keras.ops.cast(one, "float32")) for one in inputs.values()]
    hidden = keras.layers.Dense(8)(keras.layers.Concatenate()(numbers))
    return keras.Model(inputs, [keras.layers.Dense(actions.policy_size)(hidden), keras.layers.Dense(1)(hidden)])


def test_a_network_of_ones_own_gets_the_parts_by_name():
    games, rows, _ = seen_of()
    settings = LearningSettings(network=f"{__name__}:own_network", t_max=2)
    made = algorithms.make(Settings(learning=settings), games.spec.actions)
    model = Model(games.spec, settings, made, 1, xla=False)
    model.warm_up(1, 1, 4)
    assert model.predict(rows)[0]["action"].shape == (2,)
    assert list(own.observation_space(games.spec).spaces) == sorted(part.name for part in WANTED)
    games.close()


def test_a_ready_vector_environment_shows_the_same_rows():
    made = [lambda: PictureAndVector(20)] * 3
    ready = SyncVectorEnv(made, autoreset_mode=AutoresetMode.NEXT_STEP)
    named_objects.give("__main__:Ready", ready)
    games = environments.make(EnvironmentSettings(game="__main__:Ready"), 3, 7)
    plain = environments.make(EnvironmentSettings(game=PICTURE_GAME), 3, 7)
    assert games.spec._replace(name="") == plain.spec._replace(name="")
    np.testing.assert_array_equal(games.reset(), plain.reset())
    for _ in range(25):
        for one, two in zip(*(some.step(np.arange(3)) for some in (games, plain)), strict=True):
            np.testing.assert_array_equal(one, two)
    plain.close()


def test_an_observation_of_the_game_is_shown_to_a_trained_agent():
    games = environments.make(EnvironmentSettings(game=NESTED), 2, 0)
    rows, space = games.reset(), Nested.observation_space
    seen, _ = gymnasium.vector.SyncVectorEnv([Nested] * 2).reset(seed=[0, 1])
    found, single = games.shown(seen)
    assert not single
    np.testing.assert_array_equal(found, rows)
    first = next(iter(iterate(batch_space(space, 2), seen)))
    found, single = games.shown(first)
    assert single
    np.testing.assert_array_equal(found, rows[:1])
    games.close()
