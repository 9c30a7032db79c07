"""Several choices at once: a product of softmaxes in closed form, and games that want all choices right."""

import itertools

import gymnasium
import numpy as np
import pytest
import tensorflow as tf
from gymnasium.spaces import Box, MultiBinary, MultiDiscrete

from ga3c import environments, networks, progress
from ga3c.algorithms import softmax
from ga3c.algorithms.product import Product
from ga3c.errors import ConfigError
from ga3c.play.playing import Stage, moments
from ga3c.rollout import multidiscrete
from ga3c.settings.game import EnvironmentSettings
from tests.solving import POLICIES, VALUES, score
from tests.tiny_environment import STEPS, Match
from tests.variants import long

SIZES = (3, 1, 4)


class All(Match):
    """Shows what is to be chosen; a step earns 1 if every choice is right. At random that is 1 of 12, or of 16."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

    def __init__(self, space, render_mode=None):
        self.action_space, self.render_mode = space, render_mode
        self._sizes = space.nvec if isinstance(space, MultiDiscrete) else np.full(space.shape, 2)
        self.observation_space = Box(0, 1, (int(self._sizes.sum()),))

    def _show(self):
        self._symbol = self.np_random.integers(self._sizes)
        shown = [np.eye(size)[one] for size, one in zip(self._sizes.ravel(), self._symbol.ravel(), strict=True)]
        return np.concatenate(shown).astype(np.float32)

    def step(self, action):
        assert self.action_space.contains(action), action
        start = self.action_space.start if isinstance(self.action_space, MultiDiscrete) else 0
        right = bool((action - start == self._symbol).all())
        self._step += 1
        return self._show(), float(right), self._step == STEPS, False, {}

    def render(self):
        return np.zeros((8, 8, 3), np.uint8)


gymnasium.register("Choices-v0", All, kwargs={"space": MultiDiscrete([[3], [4]], start=[[5], [-1]])})
gymnasium.register("Bits-v0", All, kwargs={"space": MultiBinary([2, 2])})
CHOICES, BITS = f"{__name__}:Choices-v0", f"{__name__}:Bits-v0"


def policies(seed=0, count=5):
    return np.random.default_rng(seed).normal(size=(count, sum(SIZES))).astype(np.float32) * 2


def naive(policy):
    """The probability of each action of one policy, by looking at all."""
    parts = [np.exp(one) / np.exp(one).sum() for one in np.split(policy.astype(np.float64), np.cumsum(SIZES)[:-1])]
    return {action: np.prod([p[a] for p, a in zip(parts, action, strict=True)]) for action in every()}


def every():
    return itertools.product(*map(range, SIZES))


def test_log_probabilities_add_and_entropies_add():
    """Against the sum over all actions."""
    product = Product(SIZES)
    for policy in policies():
        probabilities = naive(policy)
        actions = np.array(list(every()), np.int32)
        wide = tf.constant(np.tile(policy, (len(actions), 1)))
        taken, entropies = product.terms(wide, actions)
        wanted = np.log([probabilities[tuple(action)] for action in actions])
        np.testing.assert_allclose(taken, wanted, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(product.log_probabilities(wide, actions), wanted, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(entropies, -sum(p * np.log(p) for p in probabilities.values()), rtol=1e-4)
        assert sum(probabilities.values()) == pytest.approx(1)


def test_of_one_choice_it_is_the_softmax():
    policy, actions = tf.constant(policies()), np.arange(5, dtype=np.int32)
    one, seed = Product([sum(SIZES)]), np.array([1, 2], np.int32)
    for epsilon in (0.0, 1e-2):
        for found, wanted in zip(
            one.terms(policy, actions[:, None], epsilon), softmax.terms(policy, actions, epsilon), strict=True
        ):
            np.testing.assert_array_equal(found, wanted)
    outputs = policy, tf.zeros(5)
    np.testing.assert_array_equal(
        one.act(outputs, seed, tf.constant(0.0))["action"][:, 0], softmax.act(outputs, seed, tf.constant(0.0))["action"]
    )


def test_gradients_are_finite_and_those_of_a_sum():
    """Logits that fill a choice up have none."""
    policy, actions = tf.constant(policies()), np.array([[0, 0, 3]] * 5, np.int32)
    with tf.GradientTape() as tape:
        tape.watch(policy)
        taken = tf.reduce_sum(Product(SIZES).log_probabilities(policy, actions))
    wanted = [tf.one_hot(actions[:, i], size) - tf.nn.softmax(part) for i, (size, part) in enumerate(parts(policy))]
    np.testing.assert_allclose(tape.gradient(taken, policy), tf.concat(wanted, axis=1), atol=1e-6)


def parts(policy):
    return zip(SIZES, tf.split(policy, SIZES, axis=1), strict=True)


def test_samples_are_as_frequent_as_they_are_likely():
    """Chi-square over all 12 actions."""
    policy, count = policies(1, 1)[0], 60_000
    outputs = tf.constant(np.tile(policy, (count, 1))), tf.zeros(count)
    fields = Product(SIZES).act(outputs, np.array([3, 4], np.int32), tf.constant(0.0))
    probabilities = naive(policy)
    found = dict.fromkeys(probabilities, 0)
    for action in fields["action"].numpy():
        found[tuple(action)] += 1
    square = sum((found[a] - count * p) ** 2 / (count * p) for a, p in probabilities.items())
    assert square < 31.3  # of 11 degrees of freedom: one in a thousand is above
    wanted = np.log([probabilities[tuple(a)] for a in fields["action"].numpy()])
    np.testing.assert_allclose(fields["log_probability"], wanted, rtol=1e-4, atol=1e-6)


def test_what_can_have_been_chosen():
    actions, random = multidiscrete(SIZES), np.random.default_rng(0)
    drawn = actions.random(random, 1000)
    assert (drawn.shape, drawn.dtype) == ((1000, 3), np.int32)
    assert {tuple(one) for one in drawn} == set(every())
    assert actions.allowed(drawn)
    for wrong in ([3, 0, 0], [0, 1, 0], [0, 0, -1]):
        assert not actions.allowed(np.array([wrong]))
    policy = policies()
    best = [max(naive(one), key=naive(one).get) for one in policy]
    np.testing.assert_array_equal(actions.most_likely(policy), best)
    assert (str(actions), actions.kind, actions.policy_size, actions.continuous) == (
        "3 x 1 x 4", "multidiscrete", 8, False,
    )  # fmt: skip


SOLVED = [(CHOICES, "ppo"), (BITS, "a3c")]
SOLVED += [long(*both) for both in itertools.product((CHOICES, BITS), POLICIES) if both not in SOLVED]


@pytest.mark.parametrize(("game", "algorithm"), SOLVED)
def test_a_game_that_wants_all_choices_right_is_solved(game, algorithm):
    assert score(game, algorithm) > 0.8 * STEPS


@pytest.mark.parametrize("algorithm", [*VALUES, "dpg"])
def test_algorithms_that_know_no_product_say_so_in_one_line(algorithm):
    games = environments.make(EnvironmentSettings(game=CHOICES), 1, 0)
    with pytest.raises(ConfigError, match=f"'Choices-v0' has multidiscrete actions, and --algorithm {algorithm} .*use"):
        networks.resolve("auto", games.spec, algorithm)
    assert progress.spaces_of(games.spec)["actions"] == ["multidiscrete", [3, 4]]
    games.close()


def test_a_person_sees_how_likely_each_option_is():
    stage = Stage(EnvironmentSettings(game=CHOICES), 2, 0)
    assert stage.action_names == ["0: 0", "0: 1", "0: 2", "1: 0", "1: 1", "1: 2", "1: 3"]
    policy = np.zeros((2, 7), np.float32)
    decided = np.zeros((2, 2), int), policy, np.zeros(2), np.zeros((2, 0))
    moment = next(moments(stage, lambda *_: decided, True, lambda: None))
    np.testing.assert_allclose(moment.shares[0], [1 / 3] * 3 + [1 / 4] * 4)
    stage.close()
