"""The trainer's loop: when it takes, trains, hands back and counts."""

import threading
from types import SimpleNamespace

import numpy as np

from ga3c.controller.counts import Counts
from ga3c.records import checkpoint
from ga3c.records.disk import Disk
from ga3c.records.recovery import Recovery
from ga3c.rollout import EnvironmentSpec, Episode, discrete, rollout_dtype
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Totals
from ga3c.trainer import train
from ga3c.training_queue import TrainingQueue
from ga3c.transport.agent_memory import AgentMemory

T_MAX, ENVS, SLOTS = 4, 2, 4
DTYPE = rollout_dtype(EnvironmentSpec("Test", (1,), "float32", discrete(2), 1), T_MAX, ENVS)
FIELDS = ("observation", "reward", "valid")


class Spy:
    """A model that notes what it is given, and whether the agent's slots are still with the trainer."""

    def __init__(self, agent, rollouts, applied=True):
        self.version, self.agent, self.rollouts, self.applied = 0, agent, rollouts, applied
        self.batches, self.steps = [], []

    def train(self, batch, steps):
        assert len(self.agent.held) == self.rollouts, "a slot went back before its rollout was trained on"
        self.batches.append({name: array.copy() for name, array in batch.items()})
        self.steps.append(steps)
        version, self.version = self.version, self.version + self.applied
        return Update(version, self.applied, {"loss": float(version)})

    def state(self):
        return {"version": np.int64(self.version)}


class Update:
    def __init__(self, version, applied, numbers):
        self.version, self.applied, self.numbers, self.errors = version, applied, numbers, None


def trained(lengths, rollouts_per_batch=1, make_stats=lambda spy: Stats(Totals()), **model):
    """Ships a rollout of each length, numbered through, and lets a trainer take them all."""
    memory = AgentMemory(DTYPE, SLOTS)
    queue = TrainingQueue(DTYPE, rollouts_per_batch, FIELDS)
    agent, client = queue.connect(7, memory, SLOTS)
    spy = Spy(agent, rollouts_per_batch, **model)
    stats = make_stats(spy)
    for number, length in enumerate(lengths, start=1):
        slot = client.free_slot()
        memory.slots["reward"][slot][:length] = number
        memory.slots["valid"][slot][:length] = True
        memory.slots["version"][slot] = 0
        episodes = [Episode(21.0, 1000 + number)] if number == 2 else []
        client.ship(slot, length, length * ENVS, episodes)
    queue.close()
    train(queue, spy, stats)
    return spy, stats, agent, client


def test_slots_go_back_when_their_rollouts_are_trained_on():
    _, _, agent, client = trained([T_MAX] * 3)
    assert agent.held == set()
    assert sorted(client.free_slot() for _ in range(SLOTS)) == list(range(SLOTS))


def test_each_rollout_is_trained_on_once():
    spy, _, _, _ = trained([T_MAX, 2, T_MAX, 1], rollouts_per_batch=2)
    rewards = [[batch["reward"][batch["valid"]].tolist() for batch in spy.batches]]
    assert rewards == [[[1.0, 1.0, 2.0, 2.0] * 2 + [1.0] * 4, [3.0, 3.0, 4.0, 4.0] + [3.0] * 6]]


def test_the_books_are_of_what_was_trained_on():
    spy, stats, _, _ = trained([T_MAX, 2, T_MAX], rollouts_per_batch=1)
    totals = stats.totals()
    assert totals.steps == totals.trained_steps == 10 * ENVS
    assert totals.updates == spy.version == 3
    assert totals.rollouts == 3 * ENVS
    assert totals.lag_rows == 10
    assert totals.lag_sum == 0 * T_MAX + 1 * 2 + 2 * T_MAX  # the rows are of version 0
    assert spy.steps == [0, T_MAX * ENVS, (T_MAX + 2) * ENVS]  # learnt from before
    ((_, steps, score, length, number),) = stats.take_episodes()
    assert (steps, score, length, number) == ((T_MAX + 2) * ENVS, "21", 1002, 7)
    assert stats.timings().updates == 3


def test_an_update_that_is_left_out_is_counted_as_such():
    _, stats, agent, _ = trained([T_MAX, T_MAX], applied=False)
    totals = stats.totals()
    assert (totals.updates, totals.skipped_updates, stats.skipped_in_a_row) == (0, 2, 2)
    assert (totals.steps, totals.trained_steps, totals.skipped_steps) == (16, 0, 16)
    assert agent.held == set()
    assert np.isnan(stats.take_window()[1].mean("loss"))


def test_a_checkpoint_is_of_one_moment(tmp_path):
    """It is asked for when an update is made and not counted yet."""
    savers = []

    class Asked(Stats):
        spy: Spy

        def trained(self, *arguments):
            system = SimpleNamespace(
                model=self.spy, stats=self, chosen_counts=Counts(1, 1, 1), next_agent=0, under_way=None
            )
            how = system, lambda: True
            savers.append(threading.Thread(target=Recovery(tmp_path, Settings(), Disk(print), print).save, args=how))
            savers[-1].start()
            savers[-1].join(0.2)  # what does not wait for the count is done by then
            super().trained(*arguments)

    def make_stats(spy):
        stats = Asked(Totals())
        stats.spy = spy
        return stats

    trained([T_MAX] * 2, make_stats=make_stats)
    for saver in savers:
        saver.join()
    files = checkpoint.saved(tmp_path / "checkpoints")
    assert files
    for arrays, meta in map(checkpoint.load, files):
        assert arrays["version"] == meta["totals"]["updates"]
        assert meta["totals"]["trained_steps"] == arrays["version"] * T_MAX * ENVS
