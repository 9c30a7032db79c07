"""Trainer: a thread that takes batches of experience and makes one update of the model with each."""

import time

from ga3c.model import Model
from ga3c.stats import Stats, Timings


def train(experience, model: Model, stats: Stats) -> None:
    """Trains until the experience (a `transport.experience.Experience`) says that this thread shall leave."""
    trained = recorded = time.monotonic()
    while batch := experience.next_batch():
        last_trained, waited_from = trained, recorded
        with stats.updating:
            update = model.train(batch.arrays, stats.trained_steps() if batch.steps is None else batch.steps)
            trained = time.monotonic()
            timings = Timings(
                rollouts=len(batch.rollouts),
                rollout_queue=sum(batch.taken - rollout.shipped for rollout in batch.rollouts),
                updates=1,
                update_assembly=batch.assembled - batch.taken,
                update_model=trained - batch.assembled,
                update_records=waited_from - last_trained,  # of the update before: this one's are still to come
                trainer_waiting=batch.taken - waited_from,
            )
            stats.trained(batch, update, timings)
        experience.done(batch, update.errors)
        recorded = time.monotonic()
