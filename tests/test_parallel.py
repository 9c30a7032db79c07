"""PettingZoo's parallel games: one policy for all players, each of which is one of a batch's games."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from ga3c import environments, networks
from ga3c.environments import own_games
from ga3c.environments.games_in_play import Games
from ga3c.environments.parallel import ParallelEnvironments
from ga3c.environments.restarted import Restarts
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.experiments.evaluation import play_games
from ga3c.play.playing import Stage, moments
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.settings.game import EnvironmentSettings
from tests import program
from tests.solving import POLICIES, VALUES, score
from tests.variants import variants

SYMBOLS, PLAYERS = 3, ("ann", "ben", "cid")


class ParallelEnv:
    """As PettingZoo's, which need not be installed."""

    possible_agents = PLAYERS


class Band(ParallelEnv):
    """Each player sees a symbol that it is to name. Who is right earns 1, if all who play are right: the others' points
    depend on it. Ann leaves after 4 steps, and Ben is cut off after 7. The game ends after 10."""

    metadata = {"render_fps": 5}  # noqa: RUF012
    STEPS = (4, 7, 10)
    BEST = sum(STEPS) / 3  # a player's mean score
    masked = False

    def __init__(self, render_mode=None):
        self._random = np.random.default_rng(0)

    def observation_space(self, player):
        return Box(0, 1, (SYMBOLS,), np.float32)

    def action_space(self, player):
        return Discrete(SYMBOLS, start=2)

    def _show(self, players):
        self._symbols = {player: int(self._random.integers(SYMBOLS)) for player in players}
        return {player: np.eye(SYMBOLS, dtype=np.float32)[symbol] for player, symbol in self._symbols.items()}

    def _infos(self, players):
        return {player: {} for player in players}

    def reset(self, seed=None, options=None):
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents, self._step = list(PLAYERS), 0
        return self._show(self.agents), self._infos(self.agents)

    def step(self, actions):
        assert list(actions) == self.agents, (actions, self.agents)
        assert all(type(action) is int for action in actions.values())
        all_right = all(action - 2 == self._symbols[player] for player, action in actions.items())
        self._step += 1
        playing, gone = self.agents, [p for p, s in zip(PLAYERS, self.STEPS, strict=True) if s == self._step]
        self.agents = [player for player in playing if player not in gone]
        rewards = dict.fromkeys(playing, float(all_right))
        ends = {player: player in gone and player != "ben" for player in playing}
        cuts = {player: player in gone and player == "ben" for player in playing}
        return self._show(playing), rewards, ends, cuts, self._infos(playing)

    def render(self):
        return np.full((8, 8, 3), 7, np.uint8)

    def close(self):
        pass


class Masked(Band):
    """Each player sees a part more, and may not take one of two wrong actions."""

    def observation_space(self, player):
        return Dict(more=Discrete(2), symbol=super().observation_space(player))

    def _show(self, players):
        return {player: {"more": 1, "symbol": one} for player, one in super()._show(players).items()}

    def _infos(self, players):
        masks = {}
        for player in players:
            mask = masks[player] = np.ones(SYMBOLS, np.int8)
            mask[(self._symbols[player] + 1) % SYMBOLS] = 0
        self.masks = masks
        return {player: {"action_mask": mask} for player, mask in masks.items()}

    def step(self, actions):
        assert all(self.masks[player][action - 2] for player, action in actions.items())
        return super().step(actions)


class Failing(Band):
    """Its fifth step fails, as often as a test says."""

    left = 0

    def step(self, actions):
        if self._step == 4 and Failing.left:
            Failing.left -= 1
            raise ArithmeticError("on purpose")
        return super().step(actions)


class Unlike(Band):
    def action_space(self, player):
        return Discrete(3 if player == "ann" else 2)


def parallel_env(render_mode=None):
    return Band()


BAND, MASKED, FAILING, UNLIKE = (f"{__name__}:{name}" for name in ("Band", "Masked", "Failing", "Unlike"))


def made(name=BAND, count=6, seed=1, **options):
    return environments.make(EnvironmentSettings(game=name), count, seed, **options)


def right_actions(games):
    found = [game._symbols.get(player, 0) for game in games._games for player in PLAYERS]
    return np.array(found, np.int32)


def test_each_player_is_a_game_of_the_batch():
    own_games.import_named(BAND)
    games = made()
    assert isinstance(games, ParallelEnvironments)
    assert games.spec == EnvironmentSpec("Band", (SYMBOLS,), "float32", discrete(SYMBOLS), 1, players=3)
    assert made(f"{__name__}:parallel_env").spec.name == "test_parallel"
    first = games.reset().copy()
    np.testing.assert_array_equal(first, np.eye(SYMBOLS)[right_actions(games)])
    np.testing.assert_array_equal(made().reset(), first)
    assert (first != made(seed=9).reset()).any()
    assert games.start_lines("mlp")[0] == "Players: 3, with one policy; each counts as a game."
    _, rewards, *_ = games.step(right_actions(games))
    np.testing.assert_array_equal(rewards, 1)
    wrong = right_actions(games)
    wrong[1] = (wrong[1] + 1) % SYMBOLS  # Ben of the first game
    np.testing.assert_array_equal(games.step(wrong)[1], [0, 0, 0, 1, 1, 1])


def test_rows_of_players_that_have_left_are_no_steps():
    """Rows of one game and the beginning of the next: Ann ends at its fourth, Ben is cut at its seventh."""
    games, steps = made(count=3), 14
    slots = np.zeros(1, rollout_dtype(games.spec, steps, 3))
    play = Games(games, 3, EnvironmentSettings())
    play.begin(0, lambda: None)
    moves = []
    for row in range(steps):
        slots["action"][0, row] = right_actions(games)
        _, moved, lost = play.step(slots, 0, row)
        moves.append(moved)
        assert lost == 0
    valid = slots["valid"][0].T
    for player, length in enumerate(Band.STEPS):
        # the game lasts 10 rows, the eleventh begins it anew
        assert valid[player].tolist() == [True] * length + [False] * (11 - length) + [True] * 3
    assert moves == [3] * 4 + [2] * 3 + [1] * 3 + [0] + [3] * 3
    assert np.argwhere(slots["terminated"][0]).tolist() == [[3, 0], [9, 2]]
    assert np.argwhere(slots["truncated"][0]).tolist() == [[6, 1]]
    np.testing.assert_array_equal(slots["reward"][0], slots["valid"][0])
    assert [(one.score, one.length_steps, one.game) for one in play.finished()] == [(4, 4, 0), (7, 7, 1), (10, 10, 2)]


def test_random_steps_at_the_start_are_as_many_for_all_players_of_a_game():
    games, settings = made(count=9), EnvironmentSettings(game=BAND, start_steps_limit=25)
    play = Games(games, 9, settings)
    play.begin(3, lambda: None)
    for game in range(3):
        columns = slice(3 * game, 3 * game + 3)
        playing = [player in games._games[game].agents for player in PLAYERS]
        assert (~play.over[columns]).tolist() == playing
        assert len(set(play._scores._lengths[columns][~play.over[columns]])) <= 1


@pytest.mark.parametrize("algorithm", variants([*POLICIES, *VALUES], "ppo", "dqn"))
def test_a_game_that_all_players_must_play_well_is_solved(algorithm):
    game = MASKED if algorithm in ("ppo", "dqn") else BAND
    assert score(game, algorithm, games=15, start_steps_limit=5) > 0.85 * Band.BEST


def test_parts_and_masks_are_those_of_each_player():
    games = made(MASKED, 3)
    rows = games.reset()
    assert [part.kind for part in games.spec.layout.parts] == ["one-hot", "vector", "mask"]
    masks = games._games[0].masks
    np.testing.assert_array_equal(games.spec.layout.mask(rows), [masks[player] != 0 for player in PLAYERS])
    random = np.random.default_rng(0)
    for _ in range(50):
        rows, *_ = games.step(games.spec.random_actions(random, rows))
    assert networks.resolve("auto", games.spec) == "mlp"


def test_a_game_that_fails_starts_anew_and_its_steps_count_as_lost(monkeypatch):
    said = []
    monkeypatch.setattr(Failing, "left", 1)
    games = made(FAILING, 6, restarts=Restarts(said.append, 5, 50))
    games.reset()
    lost = []
    for _ in range(8):
        games.step(right_actions(games))
        lost.append(games.lost.tolist())
    ann_had_left = [False, True, True]
    assert lost == [[False] * 6] * 4 + [[*ann_had_left, *[False] * 3]] + [[False] * 6] * 3
    assert said == ["Game 0 failed (ArithmeticError: on purpose): it starts anew, and the step counts as lost."]
    assert games._games[0]._step == 3
    monkeypatch.setattr(Failing, "left", 100)
    with pytest.raises(TrainingFailed, match="Games keep failing"):
        many_steps(games)
    games = made(FAILING, 3)
    games.reset()
    with pytest.raises(ArithmeticError):
        many_steps(games)


def many_steps(games):
    for _ in range(100):
        games.step(right_actions(games))


def test_a_game_that_cannot_be_closed_is_made_anew_all_the_same(monkeypatch):
    def fail(_):
        raise OSError("its process is gone")

    monkeypatch.setattr(Failing, "close", fail, raising=False)
    monkeypatch.setattr(Failing, "left", 1)
    said = []
    games = made(FAILING, 6, restarts=Restarts(said.append, 5, 50))
    games.reset()
    many_steps(games)
    assert len(said) == 1
    games.close()


def test_players_with_different_spaces_are_refused():
    with pytest.raises(ConfigError, match=r"'.*:Unlike' have different spaces \(action_space\).*one policy"):
        made(UNLIKE)
    with pytest.raises(ConfigError, match="registered no environment 'Nobody'"):
        own_games.import_named(f"{__name__}:Nobody")


def test_spaces_that_cannot_be_had_are_one_line(monkeypatch):
    monkeypatch.setattr(Band, "observation_space", lambda self, player: 1 / 0)
    with pytest.raises(ConfigError, match="failed: ZeroDivisionError"):
        made()


def test_evaluation_and_play_have_all_players():
    def policy(observations, _):
        odds = np.asarray(observations, np.float32) * 9
        return odds.argmax(axis=1), odds, np.zeros(len(odds)), np.zeros((len(odds), 0))

    scores, cut = play_games(policy, EnvironmentSettings(game=BAND), 4, 0, True, 100)
    assert (scores, cut) == ([4, 7, 10, 4], 0)
    stage = Stage(EnvironmentSettings(game=BAND), 1, 0)
    moment = next(moments(stage, policy, True, lambda: None))
    assert moment.pictures.shape == (3, 8, 8, 3)
    assert (moment.scores.shape, stage.count, stage.steps_per_second) == ((3,), 3, 5)
    stage.close()


def test_a_run_with_agents(tmp_path):
    words = ["--game", BAND, "--agents", 1, "--minimum-batch-steps", 60, "--steps", 600, "--plot-seconds", 0]
    refused = program.run("train", *words, "--envs-per-agent", 4, "--run-dir", tmp_path / "none")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "has 3 players, each of which counts as a game: give a multiple of 3 in place of" in refused.stderr
    ended = program.run("train", *words, "--envs-per-agent", 6, "--run-dir", tmp_path / "run")
    assert ended.returncode == 0, ended.stderr
    assert "Players: 3, with one policy" in ended.stdout
    lengths = {int(row["length_steps"]) for row in program.rows(tmp_path / "run" / "episodes.csv")}
    assert lengths == set(Band.STEPS)


def test_a_game_of_pettingzoo():
    pytest.importorskip("pettingzoo", reason="ga3c/environments/requirements.txt is not installed")
    name = "pettingzoo.butterfly.pistonball_v6:parallel_env"
    games = made(name, 20)
    assert (games.spec.name, games.spec.players, games.spec.has_pictures) == ("pistonball_v6", 20, True)
    assert games.step(games.spec.random_actions(np.random.default_rng(0), games.reset()))[1].shape == (20,)
    games.close()
