"""The agent's loop, with a scripted environment and a server that is a few lines of this test."""

import itertools
import threading
import time

import numpy as np
import pytest

from ga3c.agent import play
from ga3c.environments.games_in_play import Games
from ga3c.environments.random_start import random_start
from ga3c.environments.scores import Scores
from ga3c.prediction_queue import Order, PredictionQueue
from ga3c.rollout import EnvironmentSpec, Episode, discrete, rollout_dtype
from ga3c.settings.game import EnvironmentSettings
from ga3c.training_queue import TrainingQueue
from ga3c.transport.agent_memory import AgentMemory, Doing
from tests import program

T_MAX = 5


class Scripted:
    """Counts steps: the observation is the number of resets * 100 + steps since. Episodes of given lengths.

    Like the real ones, the step after an episode's end only starts the next one.
    """

    def __init__(self, lengths, truncated=False, lives=0):
        """`lives`: so many steps each; losing one does not end the game."""
        self.lengths, self.cut, self.life_steps = np.array(lengths), truncated, lives
        self.steps, self.games = np.zeros(len(lengths), int), np.zeros(len(lengths), int)
        self.spec = EnvironmentSpec("Scripted", (1,), "float32", discrete(2), 1)

    def _show(self):
        return (self.games * 100 + self.steps).astype(np.float32)[:, None]

    def reset(self):
        return self._show()

    def restart(self, envs):
        self.games[envs], self.steps[envs] = 0, 0
        return self._show()

    def step(self, actions):
        over = self.steps == self.lengths
        self.games += over
        self.steps = np.where(over, 0, self.steps + 1)
        ended = self.steps == self.lengths
        nothing = np.zeros_like(ended)
        rewards = np.where(over, 0.0, 3.0)
        lost = (self.steps > 0) & (self.steps % self.life_steps == 0) & ~ended if self.life_steps else nothing
        return self._show(), rewards, nothing if self.cut else ended, ended if self.cut else nothing, lost


def played(envs, count, rollouts=0, reward_clip=1.0, answers=0, pauses=None, start_steps_limit=0):
    """Plays until `rollouts` rollouts are complete, or so many `answers` given, then tells the agent to finish.

    With a list of `pauses` the agent pauses before each rollout, and what it had shipped until then is noted there.

    Values are the observations themselves, so a bootstrap value names the state it is of. Returns copies of
    (record, rollout), and the memory.
    """
    dtype = rollout_dtype(envs.spec, T_MAX, count)
    memory = AgentMemory(dtype, 4)
    predictions, training = PredictionQueue(), TrainingQueue(dtype, 1, ("valid",))
    handle, prediction_client = predictions.connect(memory)
    _, training_client = training.connect(0, memory, 4)
    settings = EnvironmentSettings(reward_clip=reward_clip, start_steps_limit=start_steps_limit)
    arguments = Games(envs, count, settings), memory, prediction_client, training_client, 3, False
    agent = threading.Thread(target=play, args=arguments, daemon=True)
    taken = []

    def predictor():
        given = 0
        while requests := predictions.take(1):
            given += 1
            if given == answers:
                handle.order(Order.FINISH)
            values = requests[0].observations[:, 0]
            if pauses is not None and requests[0].row == 0:
                handle.order(Order.PAUSE if len(pauses) % 2 == 0 else Order.GO_ON)
                pauses.append(None)
            requests[0].answer({"value": values}, 0, 0.0)
            while handle.pausing:
                time.sleep(0.005)
                if memory.doing[0] == Doing.PAUSING:
                    pauses[-1] = memory.shipments
                    handle.order(Order.FINISH if rollouts and len(taken) >= rollouts else Order.GO_ON)

    def trainer():
        while batch := training.next_batch():
            (rollout,) = batch.rollouts
            taken.append((rollout.record.copy(), rollout))
            training.done(batch)
            if len(taken) == rollouts:
                handle.order(Order.FINISH)

    threads = [threading.Thread(target=target, daemon=True) for target in (predictor, trainer)]
    for thread in (*threads, agent):
        thread.start()
    agent.join(program.HANG_SECONDS)
    assert not agent.is_alive()
    predictions.close()
    training.close()
    for thread in threads:
        thread.join(program.HANG_SECONDS)
        assert not thread.is_alive()
    return taken, memory


def test_every_transition_is_shipped_once_and_in_order():
    taken, memory = played(Scripted([7]), 1, rollouts=20)
    shown = [
        observation
        for record, rollout in taken
        for observation, valid in zip(
            record["observation"][: rollout.length, 0, 0], record["valid"][:, 0], strict=False
        )
        if valid
    ]
    expected = [game * 100 + step for game in range(50) for step in range(7)]
    assert shown == expected[: len(shown)]
    assert len(shown) == memory.steps == sum(rollout.transitions for _, rollout in taken)


def test_pauses_leave_nothing_out_and_nothing_to_get_old():
    pauses = []
    taken, memory = played(Scripted([7]), 1, rollouts=20, pauses=pauses)
    shown = [o for record, rollout in taken for o in record["observation"][: rollout.length, 0, 0]]
    whole = [game * 100 + step for game in range(50) for step in range(8)]  # with the restarts
    assert shown == whole[: len(shown)]
    assert memory.steps == sum(rollout.transitions for _, rollout in taken)
    assert [record["bootstrap_value"][0] for record, _ in taken[:3]] == [5, 7, 104]
    paused = [shipped for shipped in pauses if shipped is not None]
    assert paused == list(range(len(paused)))  # before each rollout, and all rollouts before it were shipped
    # After each pause but the last the row is asked for again.
    assert memory.requests - len(shown) - len(paused) in (0, 1)


def test_terminal_transitions_and_their_rewards_are_there():
    taken, _ = played(Scripted([7]), 1, rollouts=20)
    terminal = [(r["observation"][t, 0, 0] % 100, r["reward"][t, 0], r["valid"][t, 0]) for r, rollout in taken
                for t in range(rollout.length) if r["terminated"][t, 0]]  # fmt: skip
    assert terminal
    assert set(terminal) == {(6.0, 1.0, True)}  # the last state before the end; reward clipped from 3 to 1


def test_one_game_ships_at_the_end_of_a_game_as_the_paper_does():
    taken, _ = played(Scripted([7]), 1, rollouts=6)
    # 5 steps, 2 to the end, then the restart is the first row of the next rollout.
    assert [rollout.length for _, rollout in taken[:4]] == [5, 2, 5, 3]


@pytest.mark.parametrize("truncated", [False, True])
def test_the_bootstrap_value_is_of_the_state_after_the_last_row(truncated):
    taken, _ = played(Scripted([7], truncated), 1, rollouts=6)
    assert [record["bootstrap_value"][0] for record, _ in taken[:3]] == [5, 7, 104]
    assert taken[1][0]["truncated"][1, 0] == truncated
    assert taken[1][0]["terminated"][1, 0] != truncated


def test_a_rollout_carries_the_state_after_its_last_step():
    taken, _ = played(Scripted([7, 9]), 2, rollouts=20)
    for (record, _), (following, _) in itertools.pairwise(taken):
        np.testing.assert_array_equal(record["last_observation"], following["observation"][0])
        np.testing.assert_array_equal(record["last_observation"][:, 0], record["bootstrap_value"])


def test_a_lost_life_is_an_end_for_training_and_the_game_goes_on():
    taken, _ = played(Scripted([7], lives=3), 1, rollouts=20)
    ends = [
        record["observation"][t, 0, 0] % 100
        for record, rollout in taken
        for t in range(rollout.length)
        if record["terminated"][t, 0]
    ]
    assert set(ends) == {2.0, 5.0, 6.0}  # the states before step 3 and 6, which cost a life, and before the end
    assert {episode for _, rollout in taken for episode in rollout.episodes} == {Episode(21.0, 7)}


def test_what_is_left_of_the_last_rollout_is_shipped():
    taken, memory = played(Scripted([100]), 1, answers=9)  # the ninth answer is for row 3 of the second rollout
    assert [(rollout.length, rollout.transitions) for _, rollout in taken] == [(5, 5), (3, 3)]
    assert taken[1][0]["bootstrap_value"][0] == 8
    assert taken[1][0]["last_observation"][0] == 8
    assert memory.steps == 8


def test_games_end_at_different_steps():
    taken, memory = played(Scripted([3, 8]), 2, rollouts=30)
    for record, rollout in taken:
        for t in range(rollout.length):
            steps = record["observation"][t, :, 0] % 100
            assert (record["valid"][t] == (steps < [3, 8])).all()
    assert memory.steps == sum(rollout.transitions for _, rollout in taken)
    episodes = [episode for _, rollout in taken for episode in rollout.episodes]
    assert set(episodes) == {Episode(9.0, 3, game=0), Episode(24.0, 8, game=1)}  # true scores, not clipped


def test_no_clipping_when_the_clip_is_zero():
    taken, _ = played(Scripted([7]), 1, rollouts=3, reward_clip=0.0)
    assert taken[0][0]["reward"].max() == 3


def started(lengths, limit, seed):
    """Random starts of Scripted games: what they show, which are over, and the scores."""
    envs, scores = Scripted(lengths), Scores(len(lengths))
    observations, over = random_start(envs, limit, seed, scores, alive=lambda: None)
    return observations[:, 0].astype(int), over, scores


def test_games_start_after_different_numbers_of_random_steps_up_to_the_limit():
    shown, over, scores = started([1000] * 64, 9, seed=1)
    assert set(shown) == set(range(10))
    assert not over.any()
    np.testing.assert_array_equal(started([1000] * 64, 9, seed=1)[0], shown)
    assert (started([1000] * 64, 9, seed=2)[0] != shown).any()
    assert scores.finished == []


def test_a_game_that_ends_in_the_random_steps_is_not_counted_and_the_next_one_is_whole():
    shown, over, scores = started([3] * 64, 9, seed=1)
    np.testing.assert_array_equal(over, shown % 100 == 3)
    assert over.any()
    assert not over.all()
    assert scores.take() == []
    rest = np.where(over, 0, 3 - shown % 100)  # to the end of what is under way
    scores.add(rest * 3.0, rest > 0, rest > 0)
    assert {episode.score for episode in scores.take()} == {9.0}


def test_nobody_learns_from_random_steps_and_first_games_have_their_true_scores():
    taken, memory = played(Scripted([7] * 8), 8, rollouts=12, start_steps_limit=20)
    assert memory.steps == sum(rollout.transitions for _, rollout in taken)
    for record, rollout in taken:
        for t in range(rollout.length):
            assert (record["valid"][t] == (record["observation"][t, :, 0] % 100 < 7)).all()
    assert len(set(taken[0][0]["observation"][0, :, 0])) > 3
    episodes = {episode for _, rollout in taken for episode in rollout.episodes}
    assert episodes == {Episode(21.0, 7, game) for game in range(8)}
