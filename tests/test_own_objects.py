"""Environments, wrappers, networks and algorithms of a user's own, in the ways that a page does not show."""

import functools
import multiprocessing
import random

import gymnasium
import keras
import numpy as np
import pytest
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv

import ga3c
from ga3c.algorithms.a2c import A2C
from ga3c.algorithms.dqn import DQN
from ga3c.algorithms.ppo import PPO
from ga3c.commands import compare, tune
from ga3c.environments import make, own_games
from ga3c.environments.parallel_names import maker
from ga3c.environments.parts import Parts
from ga3c.networks import own
from ga3c.play.drawn_games import DrawnGames
from ga3c.python.words import words_of
from ga3c.records import chosen_runs
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings
from tests.test_parallel import Band
from tests.test_python import QUICK, results  # noqa: F401 (a fixture that all tests here use)
from tests.tiny_environment import SYMBOLS, Match


def test_each_run_of_a_program_has_a_seed_of_its_own():
    runs = [ga3c.train(Match, serial=True, **QUICK) for _ in range(2)]
    assert len({run.settings.learning.seed for run in runs}) == 2


def test_to_load_an_agent_leaves_the_random_numbers_alone():
    run = ga3c.train(Match, serial=True, **QUICK)
    before = random.getstate(), np.random.get_state()[1].tolist()
    ga3c.load(run)
    assert before == (random.getstate(), np.random.get_state()[1].tolist())


class Choice(Match):
    """It shows a number, not a vector."""

    observation_space = gymnasium.spaces.Discrete(SYMBOLS)

    def _show(self):
        return int(super()._show().argmax())


def test_an_agent_that_sees_a_choice_is_asked_and_evaluated():
    agent = ga3c.load(ga3c.train(Choice, serial=True, **QUICK))
    assert agent.act(1)[0] in range(SYMBOLS)
    assert len(ga3c.evaluate(agent, games=2).scores) == 2
    assert agent.act(1)[0] in range(SYMBOLS)


class Strict(CartPoleVectorEnv):
    """It cannot begin some games alone."""

    def reset(self, *, seed=None, options=None):
        assert not options
        return super().reset(seed=seed)


def test_a_vector_environment_of_its_own_kind():
    games = Strict(num_envs=4)
    run = ga3c.train(games, steps=200, t_max=5, plot_seconds=0)
    assert run.settings.learning.preset == "lockstep"
    assert ga3c.train(games, resume=run, steps=400, plot_seconds=0) == run
    assert run.rows()["steps"][-1] >= 400


@pytest.mark.parametrize("words", [{"wrapper": Match}, {"environment_arguments": {"size": 3}}])
def test_what_a_vector_environment_cannot_take(words):
    with pytest.raises(ga3c.ConfigError, match=f"leave {next(iter(words))} out"):
        ga3c.train(Strict(num_envs=4), steps=200, **words)


class Masked(Match):
    def action_masks(self):
        return [True] * SYMBOLS


def test_a_method_for_masks_in_a_vector_environment_is_refused():
    with pytest.raises(ga3c.ConfigError, match="have a method action_masks"):
        ga3c.train(gymnasium.vector.SyncVectorEnv([Masked] * 2), steps=200)


class BoldPPO(PPO):
    pass


class BoldDQN(DQN):
    pass


@pytest.mark.parametrize(
    ("algorithm", "like"),
    [(f"{__name__}:BoldPPO", "ppo"), (functools.partial(BoldPPO), "ppo"), (f"{__name__}:BoldDQN", "dqn")],
)
def test_an_algorithm_has_the_settings_of_what_it_descends_from(algorithm, like):
    words = words_of("CartPole-v1", None, algorithm, {})
    assert words[words.index("--algorithm") + 1] == like


def test_an_algorithm_with_the_settings_of_another_kind_is_one_line():
    with pytest.raises(ga3c.ConfigError, match="learns from a replay, and --algorithm ppo does not"):
        ga3c.train(Match, algorithm=BoldDQN, preset="ppo-paper", serial=True, steps=100)


class Doubling(BoldPPO):
    """Its number has the name of a column."""

    def update(self, *arguments):
        weights, state, numbers, *targets = super().update(*arguments)
        return weights, state, numbers | {"episodes": numbers["loss"]}, *targets


def test_a_number_with_the_name_of_a_column_is_refused():
    with pytest.raises(ga3c.ConfigError, match="The log has a column episodes already"):
        ga3c.train(Match, algorithm=Doubling, preset="ppo-paper", serial=True, steps=100)


def wrapped(game):
    return gymnasium.wrappers.TimeAwareObservation(gymnasium.wrappers.TimeLimit(game, 50))


def test_a_wrapper_is_handed_over_again(monkeypatch):
    run = ga3c.train(Match, wrapper=lambda game: wrapped(game), serial=True, **QUICK)
    monkeypatch.setattr(named_objects, "_given", {})
    with pytest.raises(ga3c.ConfigError, match=r"was defined in a script .*wrapper="):
        ga3c.load(run)
    with pytest.raises(ga3c.ConfigError, match="was trained with 1 of wrapper"):
        ga3c.load(run, wrapper=[wrapped, wrapped])
    assert ga3c.load(run, wrapper=wrapped).game == "Match"


def test_a_partial_of_a_game_of_several_players():
    name = named_objects.name_of(functools.partial(Band))
    assert maker(name) is named_objects.given(name)
    games = make(EnvironmentSettings(game=name), 3, 0)
    assert games.spec.players == 3
    games.close()


class Parted(Match):
    """It has an attribute of a name that a program might take for its own."""

    parts = ("a", "b")


def test_a_game_may_have_parts_of_its_own():
    games = make(EnvironmentSettings(game=f"{__name__}:Parted"), 1, 0)
    assert games.reset().shape == (1, SYMBOLS)
    games.close()


def hidden(observations, units=8):
    inputs = keras.Input(observations.shape)
    return keras.Model(inputs, keras.layers.Dense(units)(inputs))


def whole(observations, actions=None):
    raise AssertionError


@pytest.mark.parametrize(
    ("function", "one"), [(hidden, True), (functools.partial(hidden, units=4), True), (whole, False)]
)
def test_options_of_a_network_are_not_the_actions(function, one):
    assert own._takes_one(function) == one


class Starting(Match):
    """It starts a process, as a game with a server does."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        process = multiprocessing.get_context("fork").Process(target=print)
        process.start()
        process.join()

    def render(self):
        return np.zeros((4, 4, 3), np.uint8)


def test_a_game_of_no_module_is_drawn_and_may_start_processes():
    name = named_objects.name_of(lambda render_mode=None: Starting(render_mode))
    games = DrawnGames(name, EnvironmentSettings(game=name), 1, 0)
    try:
        assert games.reset().shape == (1, SYMBOLS)
        assert games.pictures().shape == (1, 4, 4, 3)
    finally:
        games.close()


def test_the_newest_run_is_of_the_game_and_not_of_its_namesake():
    first = ga3c.train(Match, serial=True, **QUICK)
    second = ga3c.train(f"{__name__}:Match", serial=True, **QUICK)
    assert second.path.parent == first.path.parent
    assert chosen_runs.newest(f"{__name__}:Match") == second.path
    assert chosen_runs.newest(first.settings.environment.game) == first.path


def test_games_of_one_name_are_not_compared_or_searched_in_one_directory(tmp_path, capsys):
    games = ["--game", "tests.tiny_environment:Match", f"{__name__}:Match"]
    with pytest.raises(ga3c.ConfigError, match="Two of them have the name Match"):
        tune.run([*games, "--search", "t-max=5:20"])
    with pytest.raises(ga3c.ConfigError, match="Two of them have the name Match-"):
        compare.run([*games, "--setting", "default", "--out", str(tmp_path), "--minutes", "0.01"])


def test_what_a_resume_names_is_noted(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    run = ga3c.train(Match, serial=True, **QUICK)
    ga3c.train(resume=run, wrapper="tests.tiny_environment:Slow", steps=500, plot_seconds=0)
    assert own_games._noted("tests.tiny_environment:Slow")


class Paying(Match):
    """A game of five steps, each of which pays the same."""

    def __init__(self, pay):
        super().__init__()
        self._pay = pay

    def step(self, action):
        seen, _, ended, cut, info = super().step(action)
        return seen, self._pay, ended, cut, info


def paying(pay):
    return lambda: Paying(pay)


def paying_by_a_function(pay):
    def make():
        return Paying(pay)

    return make


def paying_by_default(pay):
    return lambda amount=pay: Paying(amount)


def paying_class(pay):
    class Own(Paying):
        def __init__(self):
            super().__init__(pay)

    return Own


class PayingByCall:
    def __init__(self, pay):
        self._pay = pay

    def __call__(self):
        return Paying(self._pay)

    def by_a_method(self):
        return Paying(self._pay)


WAYS = {
    "lambdas": paying,
    "functions": paying_by_a_function,
    "defaults": paying_by_default,
    "classes": paying_class,
    "calls": PayingByCall,
    "methods": lambda pay: PayingByCall(pay).by_a_method,
}


@pytest.mark.parametrize("way", WAYS)
def test_objects_that_one_function_makes_are_told_apart(way):
    made = [WAYS[way](pay) for pay in (1.0, 7.0)]
    names = [named_objects.name_of(one) for one in made]
    assert names[0] != names[1]
    assert [named_objects.find(name, "")()._pay for name in names] == [1.0, 7.0]
    assert [named_objects.name_of(one) for one in made] == names


def test_a_run_goes_on_with_the_object_that_is_handed_over(monkeypatch):
    """In another process, where the same two functions come in another order, or one alone."""
    first, second = (ga3c.train(paying(pay), serial=True, **QUICK) for pay in (1.0, 7.0))
    assert second.settings.environment.game != first.settings.environment.game
    one, seven = (ga3c.evaluate(run, games=2).mean for run in (first, second))
    assert seven == pytest.approx(7 * one) != 0
    monkeypatch.setattr(named_objects, "_given", {})
    again = ga3c.train(paying(7.0), resume=second, steps=600)
    assert set(again.games()["score"]) == set(second.games()["score"])
    with pytest.raises(ga3c.ConfigError, match="was defined in a script"):
        ga3c.train(resume=first, steps=600)


def test_a_vector_environment_is_handed_over_again(monkeypatch):
    run = ga3c.train(gymnasium.vector.SyncVectorEnv([Match] * 3), steps=300, t_max=5, plot_seconds=0)
    again = ga3c.train(gymnasium.vector.SyncVectorEnv([Match] * 3), resume=run, steps=600)
    assert again.path == run.path


def test_the_objects_of_a_cell_that_is_run_again_keep_their_name():
    names = []
    for _ in range(2):
        scope = {"Match": Match, "__name__": "__main__"}
        exec("class Mine(Match): pass\ndef made(): return Mine()", scope)
        names.append((named_objects.name_of(scope["Mine"]), named_objects.name_of(scope["made"])))
    assert names[0] == names[1] == ("__main__:Mine", "__main__:made")


class NoLearningRate:
    learns_from, replays, network_options, devices = ("valid",), False, {}, None


class FailingAlgorithm(A2C):
    def update(self, *arguments):
        raise KeyError("mine")


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        (lambda settings, actions: NoLearningRate(), "has no act, which"),
        (lambda settings, actions: 1 / 0, "failed: ZeroDivisionError"),
        (FailingAlgorithm, "failed: KeyError: 'mine'"),
    ],
)
def test_an_algorithm_that_fails_at_the_start_is_one_line(algorithm, said):
    with pytest.raises(ga3c.ConfigError, match=said):
        ga3c.train(Match, algorithm=algorithm, serial=True, **QUICK)


def test_what_is_no_function_of_a_row():
    with pytest.raises(ga3c.ConfigError, match="on_row is 3"):
        ga3c.train(Match, on_row=3, **QUICK)


def test_words_of_numpys_scalars_and_of_help():
    assert words_of(None, None, None, {"serial": np.bool_(True), "steps": np.int64(3)}) == ["--serial", "--steps", "3"]
    with pytest.raises(ga3c.ConfigError, match="help is for the command"):
        ga3c.train(help=True)


@pytest.mark.parametrize("observation", [99, -1, 2.5, [], {"a": 1}, None, "no"])
def test_what_is_no_observation_is_one_line(observation):
    agent = ga3c.load(ga3c.train(Choice, serial=True, **QUICK))
    with pytest.raises(ga3c.ConfigError):
        agent.act(observation)


@pytest.mark.parametrize(
    ("space", "observation"),
    [
        (gymnasium.spaces.Box(-1, 1, (2,)), [np.nan, 0]),
        (gymnasium.spaces.Box(0, 1, (22, 24, 1)), np.full((22, 24, 1), 2.0)),
        (gymnasium.spaces.MultiDiscrete([3, 4]), [3, 0]),
        (gymnasium.spaces.Dict(a=gymnasium.spaces.Discrete(2), b=gymnasium.spaces.Discrete(2)), {"a": 1}),
        (gymnasium.spaces.Box(-1, 1, (2,)), np.zeros((0, 2))),
        (gymnasium.spaces.OneOf([gymnasium.spaces.Discrete(2), gymnasium.spaces.Box(-1, 1, (2,))]), (0, 1)),
    ],
)
def test_what_is_not_of_the_space_is_one_line(space, observation):
    parts = Parts(space, adapt=True, divide=True, mask_size=0)
    with pytest.raises(ga3c.ConfigError):
        parts.shown(observation, None)


def test_the_newest_run_of_an_object_is_meant_and_not_its_namesakes():
    first, second = paying(1.0), paying(7.0)
    runs = [ga3c.train(one, serial=True, **QUICK) for one in (first, second)]
    again = ga3c.train(second, resume=True, steps=600)
    assert again.path == runs[1].path
    assert ga3c.train(first, resume=np.bool_(True), steps=600).path == runs[0].path


def test_an_object_that_stands_for_one_of_a_module_keeps_its_own_name(monkeypatch):
    monkeypatch.setattr(named_objects, "_given", {})
    made = paying(1.0)
    named_objects.give("tests.tiny_environment:Match", made)
    assert named_objects.is_of_no_module(named_objects.name_of(made))


def test_a_registered_vector_environment_of_a_cell_that_is_run_again_keeps_its_name():
    names = [named_objects.name_of(gymnasium.make_vec("CartPole-v1", num_envs=2)) for _ in range(2)]
    assert names[0] == names[1]
