"""The predictor's loop, with real queues and a model whose answers say what was asked."""

import threading

import numpy as np
import pytest

from ga3c.prediction_queue import PredictionQueue
from ga3c.predictor import predict
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.stats import Stats, Totals
from ga3c.transport.agent_memory import AgentMemory
from tests import program

ENVS, T_MAX, SLOTS = 2, 3, 2
DTYPE = rollout_dtype(EnvironmentSpec("Test", (1,), "float32", discrete(100), 1), T_MAX, ENVS)


class Echo:
    """The action is the observation, the value twice that; the version counts the calls."""

    def __init__(self, per_game=False):
        self.sizes, self.states, self.games, self.per_game = [], [], [], per_game

    def predict(self, observations, games=None, recurrent_states=None):
        self.sizes.append(len(observations))
        self.games += [] if games is None else [games.copy()]
        asked = observations[:, 0].copy()
        self.states.append(asked)
        fields = {"action": asked.astype(np.int32), "log_probability": -asked, "value": 2 * asked}
        if recurrent_states is not None:
            fields["recurrent_state"] = recurrent_states + asked[:, None]
        return fields, len(self.sizes)


def answered(asked, max_requests=10, sizes=(), per_game=False):
    """Lets a predictor answer `asked`, (slot, row) of as many agents, all at once. Returns rows, model and stats.

    Game g of agent n shows 10 n + g.
    """
    queue, stats, model = PredictionQueue(), Stats(Totals()), Echo(per_game)
    memories = [AgentMemory(DTYPE, SLOTS) for _ in asked]
    clients = [queue.connect(memory)[1] for memory in memories]
    for number, (memory, client, (slot, row)) in enumerate(zip(memories, clients, asked, strict=True)):
        memory.slots["observation"][slot, row] = [[10 * number], [10 * number + 1]]
        client.ask(slot, row)
    arguments = queue, model, stats, DTYPE, max_requests, list(sizes)
    predictor = threading.Thread(target=predict, args=arguments, daemon=True)
    predictor.start()
    for client in clients:
        client.wait()
    queue.close()
    predictor.join(program.HANG_SECONDS)
    assert not predictor.is_alive()
    return [memory.slots[slot] for memory, (slot, _) in zip(memories, asked, strict=True)], model, stats


@pytest.mark.parametrize(("max_requests", "sizes"), [(10, ()), (2, ()), (1, ()), (10, (2, 16))])
def test_each_agent_gets_the_answers_to_its_own_observations(max_requests, sizes):
    asked = [(0, 0), (1, 2), (0, 1), (1, 0), (0, 2)]
    records, model, _ = answered(asked, max_requests, sizes)
    for number, (record, (_, row)) in enumerate(zip(records, asked, strict=True)):
        own = np.array([10 * number, 10 * number + 1])
        np.testing.assert_array_equal(record["action"][row], own)
        np.testing.assert_array_equal(record["log_probability"][row], -own)
        np.testing.assert_array_equal(record["value"][row], 2 * own)
        others = [other for other in range(T_MAX) if other != row]
        assert not record["action"][others].any(), "a row that did not ask was written"
    assert all(size in sizes for size in model.sizes if sizes)
    assert max(model.sizes) <= max_requests * ENVS


def test_each_row_says_which_weights_answered_it():
    records, model, _ = answered([(0, 0)] * 4, max_requests=1)
    assert sorted(record["version"][0] for record in records) == [1, 2, 3, 4]
    assert model.sizes == [ENVS] * 4


def test_it_counts_states_not_padding():
    _, model, stats = answered([(0, 0)] * 3, sizes=(2, 16))
    totals, timings = stats.totals(), stats.timings()
    assert totals.predictions == 3 * ENVS
    assert totals.prediction_batches == len(model.sizes)
    assert timings.requests == 3
    assert timings.request_queue > 0
    assert timings.request_model > 0


@pytest.mark.parametrize("sizes", [(), (16,)])
def test_a_model_is_told_which_game_a_state_is_of_if_it_asks(sizes):
    """Game g of agent n shows 10 n + g."""
    _, model, _ = answered([(0, 0), (1, 2), (0, 1)], max_requests=2, sizes=sizes, per_game=True)
    assert [len(games) for games in model.games] == model.sizes
    told = []
    for games, states in zip(model.games, model.states, strict=True):
        told += [game for game, state in zip(games, states, strict=True) if game == state // 10 * ENVS + state % 10]
    assert set(told) == set(range(3 * ENVS))
    assert answered([(0, 0)])[1].games == []


def test_an_agent_has_the_position_of_the_one_that_it_replaces():
    queue = PredictionQueue()
    agents = [queue.connect(AgentMemory(DTYPE, SLOTS), number)[0] for number in range(3)]
    assert [agent.position for agent in agents] == [0, 1, 2]
    for replaced, number in ((1, 3), (0, 4)):
        queue.disconnect(agents[replaced])
        assert queue.connect(AgentMemory(DTYPE, SLOTS), number)[0].position == replaced
    assert queue.connect(AgentMemory(DTYPE, SLOTS), 5)[0].position == 3
