"""Predictor: a thread that takes all requests that wait, makes one batched prediction and answers them."""

import time

import numpy as np

from ga3c.model import Model
from ga3c.prediction_queue import PredictionQueue
from ga3c.rollout import RECURRENT_STATE
from ga3c.stats import Stats, Timings


def predict(
    queue: PredictionQueue, model: Model, stats: Stats, dtype: np.dtype, max_requests: int, sizes: list[int]
) -> None:
    """Answers requests until the queue says that this thread shall leave.

    A request is a row of a `dtype` rollout: the states of one agent's games. Batches are padded to the next of
    `sizes`; [] means that any size will do.
    """
    observations = dtype["observation"]
    envs = observations.shape[1]
    states = np.zeros((max_requests * envs, *observations.shape[2:]), observations.base)
    numbers = np.zeros(max_requests * envs, np.int32)
    remembers = RECURRENT_STATE in dtype.names
    recurrent = np.zeros((max_requests * envs, dtype[RECURRENT_STATE].shape[1]), np.float32) if remembers else None
    assembled = predicted = answered = time.monotonic()
    while requests := queue.take(max_requests):
        taken, model_began, model_ended, waited_from = time.monotonic(), assembled, predicted, answered
        count = len(requests) * envs
        size = next((size for size in sizes if size >= count), count)
        if size == envs:
            batch = requests[0].observations  # the agent waits: nobody changes them
        else:
            for index, request in enumerate(requests):
                states[index * envs : (index + 1) * envs] = request.observations
            batch = states[:size]
        games = None
        if model.per_game:
            for index, request in enumerate(requests):
                numbers[index * envs : (index + 1) * envs] = request.agent.position * envs + np.arange(envs)
            games = numbers[:size]
        before = None
        if remembers:
            for index, request in enumerate(requests):
                recurrent[index * envs : (index + 1) * envs] = request.recurrent_states
            before = recurrent[:size]
        assembled = time.monotonic()
        fields, version = model.predict(batch, games=games, recurrent_states=before)
        predicted = time.monotonic()
        for index, request in enumerate(requests):
            rows = slice(index * envs, (index + 1) * envs)
            request.answer({name: values[rows] for name, values in fields.items()}, version, predicted)
        answered = time.monotonic()
        replies = [request.reply_seconds for request in requests if request.reply_seconds >= 0]
        stats.predicted(
            count,
            Timings(
                requests=len(requests),
                request_queue=sum(taken - request.asked for request in requests),
                # The model was at work on the predictions before, which these requests had to wait for.
                request_queue_model=sum(max(0.0, model_ended - max(r.asked, model_began)) for r in requests),
                request_assembly=len(requests) * (assembled - taken),
                request_model=len(requests) * (predicted - assembled),
                replies=len(replies),
                request_reply=sum(replies),
                predictor_waiting=taken - waited_from,
            ),
        )
