"""Predictor: a thread that takes all requests that wait, makes one batched prediction and answers them."""

import numpy as np

from ga3c.model import Model
from ga3c.prediction_queue import PredictionQueue
from ga3c.stats import Stats


def predict(
    queue: PredictionQueue, model: Model, stats: Stats, dtype: np.dtype, max_requests: int, sizes: list[int]
) -> None:
    """Runs until the queue says that this thread shall leave.

    A request is a row of a `dtype` rollout: the states of one agent's games. Batches are padded to the next of
    `sizes`; [] means that any size will do.
    """
    observations = dtype["observation"]
    envs = observations.shape[1]
    states = np.zeros((max_requests * envs, *observations.shape[2:]), observations.base)
    while requests := queue.take(max_requests):
        count = len(requests) * envs
        for index, request in enumerate(requests):
            states[index * envs : (index + 1) * envs] = request.observations
        size = next((size for size in sizes if size >= count), count)
        actions, log_probabilities, values, version = model.predict(states[:size])
        for index, request in enumerate(requests):
            rows = slice(index * envs, (index + 1) * envs)
            request.answer(actions[rows], log_probabilities[rows], values[rows], version)
        stats.predicted(count)
