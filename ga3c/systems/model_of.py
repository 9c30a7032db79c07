"""The model that a system begins with."""

import numpy as np

from ga3c.devices.device import set_up_device, threads  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms, networks
from ga3c.devices.pieces import pieces
from ga3c.model import Model
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings


def model_of(
    settings: Settings, spec: EnvironmentSpec, algorithm, begun, arrays: dict[str, np.ndarray] | None
) -> tuple[str, Model]:
    """The device that it was put on, and the model; with the weights in `arrays`, if there are any.

    `begun`: a `records.progress.Progress`. Raises ConfigError where the arrays are of another network.
    """
    run, learning = settings.run, settings.learning
    network = networks.resolve(learning.network, spec, learning.algorithm)
    count = run.tensorflow_threads or threads(network)
    device = set_up_device(run.device, count)
    xla = run.xla == "on" or (run.xla == "auto" and device == "gpu")
    seed, steps = learning.seed + begun.totals.updates, begun.totals.trained_steps
    divided = pieces(algorithms.turns(settings, algorithm), count)
    acts, games = settings.replay.concurrent_training, begun.counts.agents * settings.schedule.envs_per_agent
    model = Model(spec, learning, algorithm, seed, xla, steps, divided, acts, games)
    if arrays is not None:
        model.restore(arrays)
    return device, model
