"""Trainer: a thread that groups rollouts to a batch and makes one update of the model with it."""

import time

from ga3c.model import Model
from ga3c.rollout import Batch
from ga3c.stats import Stats, Timings
from ga3c.training_queue import TrainingQueue


def train(queue: TrainingQueue, model: Model, stats: Stats, batch: Batch) -> None:
    """Runs until the queue says that this thread shall leave. `batch` is this thread's own."""
    trained = recorded = time.monotonic()
    while rollouts := queue.next_batch():
        taken, last_trained, waited_from = time.monotonic(), trained, recorded
        records = [(rollout.record, rollout.length) for rollout in rollouts]
        batch.fill(records)
        versions = batch.versions(records)
        filled = time.monotonic()
        update = model.train(batch, stats.trained_steps())
        trained = time.monotonic()
        for rollout in rollouts:
            rollout.release()  # not before: the batch may be the slot itself
        timings = Timings(
            rollouts=len(rollouts),
            rollout_queue=sum(taken - rollout.shipped for rollout in rollouts),
            updates=1,
            update_assembly=filled - taken,
            update_model=trained - filled,
            update_records=waited_from - last_trained,  # of the update before: this one's are still to come
            trainer_waiting=taken - waited_from,
        )
        stats.trained(rollouts, batch.envs, update, update.version - versions, timings)
        recorded = time.monotonic()
