"""Actions that a game allows in its state: never is another one taken, and none counts in entropy or target."""

import gymnasium
import numpy as np
import pytest
import tensorflow as tf
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ga3c import algorithms, environments, progress
from ga3c.algorithms import exploration, q_learning, softmax
from ga3c.algorithms.product import Product
from ga3c.environments import parts
from ga3c.environments.game_fault import GameFault
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import play_games
from ga3c.model import Model
from ga3c.networks import row_network
from ga3c.play.playing import _shares
from ga3c.rollout import FORBIDDEN, discrete, rollout_dtype
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import from_dict, to_dict
from tests.solving import POLICIES, VALUES, score
from tests.tiny_environment import STEPS
from tests.variants import long, variants

ACTIONS, ALLOWED = 4, 2


class Lower(gymnasium.Env):
    """Allows two of four actions, and shows for which the step earns 1: the lower (0) or the higher (1). It does not
    show which are allowed. At random, or with the best of all four, that is half of the points."""

    observation_space = Box(0, 1, (2,))
    action_space = Discrete(ACTIONS, start=5)
    choices, strict = 1, True  # an action that is not allowed is an error

    def __init__(self, strict=True):
        self.strict = strict

    def _show(self, over=False):
        self._allowed = np.zeros((self.choices, ACTIONS), np.int8)
        for row in self._allowed if not over else ():  # at the end of a game no action is allowed
            row[self.np_random.permutation(ACTIONS)[:ALLOWED]] = 1
        self._higher = int(self.np_random.integers(2))
        return np.eye(2, dtype=np.float32)[self._higher]

    def _info(self):
        return {"action_mask": self._allowed[0], "more": object()}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return self._show(), self._info()

    def step(self, action):
        taken = np.ravel(action) - 5
        assert not self.strict or all(row[a] for row, a in zip(self._allowed, taken, strict=True)), "it is not allowed"
        right = [np.flatnonzero(row)[-self._higher] == a for row, a in zip(self._allowed, taken, strict=True)]
        self._step += 1
        return self._show(self._step == STEPS), float(all(right)), self._step == STEPS, False, self._info()


class Both(Lower):
    """Two choices at once, of which the method tells what is allowed."""

    action_space = MultiDiscrete([ACTIONS, ACTIONS], start=[5, 5])
    choices = 2

    def _info(self):
        return {}

    def action_masks(self):
        return self._allowed


gymnasium.register("Lower-v0", Lower)
gymnasium.register("Both-v0", Both)
gymnasium.register("Loose-v0", Lower, kwargs={"strict": False})
LOWER, BOTH, LOOSE = (f"{__name__}:{name}-v0" for name in ("Lower", "Both", "Loose"))


def made(game, count=3, seed=0, **settings):
    return environments.make(EnvironmentSettings(game=game, **settings), count, seed)


@pytest.mark.parametrize("algorithm", variants([*POLICIES, *VALUES], "ppo", "dqn"))
def test_a_game_that_tells_by_its_mask_alone_is_solved(algorithm):
    steps = 16_000 if algorithm == "pqn" else 8_000
    assert score(LOWER, algorithm, steps, start_steps_limit=10) > 0.85 * STEPS


@pytest.mark.parametrize("algorithm", variants(POLICIES, "a3c", "ppo"))
def test_several_choices_have_a_mask_for_all(algorithm):
    assert score(BOTH, algorithm, start_steps_limit=10) > 0.8 * STEPS


@pytest.mark.parametrize(("algorithm", "steps"), [long("a3c", 30_000), ("ppo", 8_000)])
def test_it_is_solved_with_a_memory_too(algorithm, steps):
    """A memory that is to last learns more slowly what one step decides."""
    assert score(LOWER, algorithm, steps, memory="gru") > 0.85 * STEPS


@pytest.mark.parametrize("algorithm", [long("ppo"), "dqn"])
def test_without_its_mask_it_is_not(algorithm):
    assert score(LOOSE, algorithm, action_masks=False) < 0.7 * STEPS


class Careless(Lower):
    """Its masks are wrong in three ways."""

    action_masks = np.ones(ACTIONS)  # no method

    def reset(self, **options):
        return super().reset(**options)[0], {}

    def _info(self):
        return {"action_mask": np.zeros(7)}


def test_nobody_looks_at_masks_that_nobody_wants():
    careless = named_objects.name_of(lambda: Careless(strict=False))
    games = made(careless, action_masks=False)
    games.reset()
    for _ in range(2 * STEPS):
        games.step(np.zeros(3, int))
    games.close()


@pytest.mark.parametrize("mask", [([1, 0], [0, 1, 1]), np.array([1, 0, 0, 1, 1]), [1, 0, 0, 1, 1]])
def test_a_mask_for_several_choices_may_be_one_array_for_each(mask):
    assert parts._masks(mask, 1, 5, single=True).astype(int).tolist() == [[1, 0, 0, 1, 1]]


@pytest.mark.parametrize(("mask", "count", "single"), [([1, 0], 1, True), (1, 1, True), ([[1, 0], [1]], 2, False)])
def test_a_mask_of_another_size_is_one_line(mask, count, single):
    with pytest.raises(ConfigError, match="The mask is not 5 truth values"):
        parts._masks(mask, count, 5, single)


def test_the_mask_is_the_end_of_the_row():
    games = made(LOWER)
    rows = games.reset()
    assert (rows.shape, rows.dtype) == ((3, 8 + ACTIONS), np.uint8)
    wanted = np.array([game.unwrapped._allowed[0] for game in games.env.envs])
    np.testing.assert_array_equal(games.spec.layout.mask(rows), wanted)
    assert games.spec.actions == discrete(ACTIONS)._replace(masked=True)
    assert games.start_lines("mlp")[0].endswith(
        "; a mask says which actions are allowed; network: mlp (fully connected)."
    )
    random = np.random.default_rng(0)
    for _ in range(50):
        rows, *_ = games.step(games.spec.random_actions(random, rows))
        assert set(games.spec.layout.mask(rows).sum(axis=1)) <= {ALLOWED, ACTIONS}  # all at the end
    games.close()


def test_a_game_without_masks_has_no_field_and_no_byte_of_one():
    games = made("tests.tiny_environment:Match-v0")
    assert (games.spec.layout, games.spec.actions.masked) == (None, False)
    assert games.spec.observation_shape == (4,)
    off = made(LOOSE, action_masks=False)
    assert off.spec._replace(name=games.spec.name, observation_shape=(4,)) == games.spec
    names = rollout_dtype(games.spec, 2, 2).names
    with_mask = made(LOWER)
    assert rollout_dtype(with_mask.spec, 2, 2).names == names
    for one in (games, off, with_mask):
        one.close()


def test_an_agent_of_an_older_version_goes_on_without_masks():
    old = to_dict(Settings())
    del old["environment"]["action_masks"], old["environment"]["observation"]
    assert from_dict(old).environment.action_masks
    environment = from_dict(old, "gymnasium").environment
    assert (environment.action_masks, environment.observation) == (False, "flat")
    spec = made(LOWER).spec
    described = progress.spaces_of(spec)["observations"]
    assert described == ["uint8", [12], ["", "vector", [2]], ["/mask", "mask", [ACTIONS]]]


WRONG = {
    "all false": (np.zeros(ACTIONS, bool), r"step\(\) gave an action_mask that allows no action.*: allow one at least"),
    "too short": (np.ones(3), "not one truth value for each of 4 actions"),
    "text": ("all", "not one truth value for each"),
    "missing": (None, r"step\(\) gave no action_mask, as it did before"),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_fault_of_a_mask_is_named_in_one_line(what):
    given, says = WRONG[what]
    games = made(LOWER, 1)
    games.reset()
    game = games.env.envs[0].unwrapped
    game._info = lambda: {"action_mask": given}
    with pytest.raises(GameFault, match=says):
        games.step(np.array([np.argmax(game._allowed[0])]))


def test_a_mask_that_comes_late_is_a_fault():
    games = made("tests.tiny_environment:Match-v0", 1)
    games.reset()
    game = games.env.envs[0].unwrapped
    step = game.step
    game.step = lambda action: (*step(action)[:4], {"action_mask": np.ones(4)})
    with pytest.raises(GameFault, match="gave an action_mask, and reset"):
        games.step(np.array([0]))


def test_masks_of_each_kind_of_action():
    for space, size in ((MultiBinary(3), 6), (MultiDiscrete([2, 3]), 5), (Discrete(4), 4)):
        game = Lower(strict=False)
        game.action_space = space
        mask = np.arange(size) % 2
        game._info = lambda mask=mask: {"action_mask": mask}
        gymnasium.register("Kinds-v0", lambda game=game: game)
        games = made(f"{__name__}:Kinds-v0", 1)
        np.testing.assert_array_equal(games.spec.layout.mask(games.reset())[0], mask.astype(bool))
        games.close()
        del gymnasium.registry["Kinds-v0"]


def rows_with(mask, count):
    """Rows of LOWER, all with the same observation and mask."""
    row = np.concatenate([np.array([1, 0], np.float32).view(np.uint8), np.array(mask, np.uint8)])
    return np.tile(row, (count, 1))


def model(game=LOWER, algorithm="a3c", **learning):
    spec = made(game).spec
    settings = LearningSettings(algorithm=algorithm, t_max=2, **learning)
    return Model(spec, settings, algorithms.make(Settings(learning=settings), spec.actions), 1, xla=False)


def chi_square(actions, probabilities):
    count = len(actions)
    found = np.bincount(actions, minlength=len(probabilities))
    assert found[probabilities == 0].sum() == 0
    expected = count * probabilities[probabilities > 0]
    return ((found[probabilities > 0] - expected) ** 2 / expected).sum()


def test_samples_of_what_is_allowed_are_as_frequent_as_they_are_likely():
    """Chi-square: of two degrees of freedom one in a thousand is above 13.8."""
    rows = rows_with([1, 0, 1, 1], 30_000)
    player = model()
    _, policies, _ = player.decide(rows[:1])[:3]
    assert policies[0, 1] == np.float32(FORBIDDEN)
    odds = np.exp(policies[0].astype(np.float64))
    odds /= odds.sum()
    fields, _ = player.predict(rows)
    assert chi_square(fields["action"], odds) < 13.8
    np.testing.assert_allclose(fields["log_probability"], np.log(odds[fields["action"]]), rtol=1e-4)


@pytest.mark.parametrize("algorithm", VALUES)
def test_exploration_takes_what_is_allowed_all_as_often(algorithm):
    player = model(algorithm=algorithm, exploration_start=0.6, exploration_end=0.6)
    rows = rows_with([0, 1, 1, 1], 30_000)
    _, q_values, values = player.decide(rows[:1])[:3]
    assert q_values[0, 0] == np.float32(FORBIDDEN)
    assert values[0] == q_values[0, 1:].max()
    fields, _ = player.predict(rows)
    odds = np.array([0, 0.2, 0.2, 0.2])
    odds[q_values[0].argmax()] += 0.4
    assert chi_square(fields["action"], odds) < 13.8
    np.testing.assert_allclose(np.exp(fields["log_probability"]), odds[fields["action"]], rtol=1e-4)


def test_where_all_are_allowed_exploration_is_bit_for_bit_as_without_masks():
    q_values = np.random.default_rng(0).normal(size=(1000, 5)).astype(np.float32)
    outputs, seed = (q_values, q_values.max(axis=1)), np.array([1, 2], np.int32)
    found, plain = (exploration.act(outputs, seed, tf.constant(0.7), masked) for masked in (True, False))
    for name, field in plain.items():
        np.testing.assert_array_equal(found[name], field)


def test_what_is_forbidden_counts_in_no_entropy_gradient_or_target():
    logits, allowed = np.array([[0.3, 2.0, -1.0, 0.5]], np.float32), np.array([[True, False, True, True]])
    few = logits[allowed].astype(np.float64)
    odds = np.exp(few) / np.exp(few).sum()
    for policy, action in ((softmax, [2]), (Product([4]), [[2]])):
        for epsilon in (0.0, 1e-3):
            with tf.GradientTape() as tape:
                tensor = tf.constant(logits)
                tape.watch(tensor)
                taken, entropy = policy.terms(tf.where(allowed, tensor, FORBIDDEN), np.array(action, np.int32), epsilon)
                total = taken + entropy
            np.testing.assert_allclose(taken, np.log(odds[1] + epsilon), rtol=1e-4)
            np.testing.assert_allclose(entropy, -(odds * np.log(odds + epsilon)).sum(), rtol=1e-4)
            gradient = tape.gradient(total, tensor).numpy()
            assert np.isfinite(gradient).all()
            assert gradient[0, 1] == 0
    values = tf.where(allowed, tf.constant(logits), FORBIDDEN)
    target = q_learning.targets(tf.constant([1.0]), tf.constant([0.5]), values, values)
    np.testing.assert_allclose(target, [1.25])  # the best of what is allowed is 0.5


def test_an_evaluation_that_explores_and_a_person_take_what_is_allowed():
    """LOWER ends with an error where another action is taken."""
    player = model()
    scores, _ = play_games(player.decide, EnvironmentSettings(game=LOWER), 4, 0, True, 100, exploration=0.5)
    assert len(scores) == 4
    shares, _ = _shares(discrete(3), np.array([[FORBIDDEN, 1.0, 3.0]]), np.zeros(1), True)
    np.testing.assert_allclose(shares, [[0, 0, 1]])


def test_a_mask_beside_several_parts():
    game = Lower()
    game.observation_space = Dict(mask=Box(0, 1, (2,)), b=Discrete(3))
    show = game._show
    game._show = lambda over=False: {"mask": show(over), "b": 2}
    gymnasium.register("Two-v0", lambda: game)
    games = made(f"{__name__}:Two-v0", 1)
    assert games.spec.layout.size == 8 + 3 + ACTIONS
    rows = games.reset()
    np.testing.assert_array_equal(games.spec.layout.mask(rows)[0], game._allowed[0])
    parts = row_network.taken_apart(tf.constant(rows), games.spec.layout)
    np.testing.assert_array_equal(parts["mask"], np.eye(2)[[game._higher]])
    games.close()
    del gymnasium.registry["Two-v0"]


def test_a_ready_vector_environment_has_masks_too():
    ready = SyncVectorEnv([Lower] * 3, autoreset_mode=AutoresetMode.NEXT_STEP)
    named_objects.give("__main__:Masked", ready)
    games, plain = environments.make(EnvironmentSettings(game="__main__:Masked"), 3, 7), made(LOWER, seed=7)
    assert games.spec._replace(name="") == plain.spec._replace(name="")
    rows, random = plain.reset(), np.random.default_rng(0)
    np.testing.assert_array_equal(games.reset(), rows)
    for _ in range(45):
        actions = plain.spec.random_actions(random, rows)
        (rows, *others), found = plain.step(actions), games.step(actions)
        for one, two in zip(found, (rows, *others), strict=True):
            np.testing.assert_array_equal(one, two)


def test_games_of_a_ready_vector_environment_begin_one_by_one():
    ready = SyncVectorEnv([Lower] * 3, autoreset_mode=AutoresetMode.NEXT_STEP)
    named_objects.give("__main__:Masked", ready)
    games = environments.make(EnvironmentSettings(game="__main__:Masked"), 3, 7)
    games.reset()
    before = games.step(games.spec.random_actions(np.random.default_rng(0), games.reset()))[0].copy()
    after = games.restart(np.array([False, True, False]))
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])


def test_a_trained_agent_is_told_what_is_allowed():
    games = made(LOWER)
    for mask, wanted in ((None, [1, 1, 1, 1]), ([0, 1, 0, 1], [0, 1, 0, 1])):
        row, single = games.shown(np.array([1, 0], np.float32), mask)
        assert single
        np.testing.assert_array_equal(row, rows_with(wanted, 1))
    rows, single = games.shown(np.eye(2, dtype=np.float32), np.eye(2, 4))
    assert not single
    np.testing.assert_array_equal(games.spec.layout.mask(rows), np.eye(2, 4) != 0)
