"""Trainer: a thread that groups rollouts to a batch and makes one update of the model with it."""

from ga3c.model import Model
from ga3c.rollout import Batch
from ga3c.stats import Stats
from ga3c.training_queue import TrainingQueue


def train(queue: TrainingQueue, model: Model, stats: Stats, batch: Batch) -> None:
    """Runs until the queue says that this thread shall leave. `batch` is this thread's own."""
    while rollouts := queue.next_batch():
        records = [(rollout.record, rollout.length) for rollout in rollouts]
        batch.fill(records)
        versions = batch.versions(records)
        for rollout in rollouts:
            rollout.release()  # copied: the agent may have its slot back before the update
        update = model.train(batch)
        stats.trained(rollouts, batch.envs, update, update.version - versions)
