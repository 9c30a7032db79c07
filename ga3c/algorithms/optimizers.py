"""The optimizers, and which one an algorithm has."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import tensorflow as tf

from ga3c.algorithms import adam, muon, rmsprop
from ga3c.algorithms.algorithm import Tensors
from ga3c.settings.learning import LearningSettings


@dataclass(frozen=True)
class Optimizer:
    """A rule by which gradients change weights, as pure functions of tensors."""

    name: str
    """Its value of --optimizer; another word where it has none."""
    initial_state: Callable[[Tensors], Tensors]
    """Returns the state before the first update, for these weights."""
    update: Callable
    """Takes weights, state, gradients and the step size; returns the new weights and the new state."""
    decays: tuple[float | None, ...]
    """As `algorithm.SharedOptimizer` has it."""


def of_adam(settings: LearningSettings, rectified: bool = False) -> Optimizer:
    """Returns Adam, or its rectified form. The first tensor of its state counts the updates."""
    update = partial(adam.update, epsilon=settings.adam_epsilon, rectified=rectified)
    name = "radam" if rectified else "adam"
    return Optimizer(name, adam.initial_state, update, (None, adam.FIRST_DECAY, adam.SECOND_DECAY))


def of_muon(settings: LearningSettings) -> Optimizer:
    """Returns Muon. The first tensor of its state counts the updates, as Adam's does."""
    update = partial(muon.update, epsilon=settings.adam_epsilon)
    return Optimizer("muon", muon.initial_state, update, (None, muon.MOMENTUM, adam.SECOND_DECAY))


def of_rmsprop(settings: LearningSettings, first_mean_square: float = 1.0) -> Optimizer:
    """Returns RMSProp that is not centred."""
    initial_state = partial(rmsprop.initial_state, first=first_mean_square)
    update = partial(rmsprop.update, **_constants(settings))
    return Optimizer("rmsprop", initial_state, update, (settings.rmsprop_decay,))


def of_centred_rmsprop(settings: LearningSettings) -> Optimizer:
    """Returns RMSProp that divides by the gradient's deviation."""
    update = partial(rmsprop.update_centred, **_constants(settings))
    return Optimizer("centred-rmsprop", rmsprop.initial_state_centred, update, (settings.rmsprop_decay,) * 2)


def of_counting_rmsprop(settings: LearningSettings) -> Optimizer:
    """Returns RMSProp in Adam's place: the first tensor of its state counts the updates, too. Mean squares begin with
    zeros (Stooke and Abbeel 2018, appendix C: as Lasagne has it)."""

    def initial_state(weights):
        return tf.constant(0), *rmsprop.initial_state(weights, first=0.0)

    def update(weights, state, gradients, learning_rate):
        weights, squares = rmsprop.update(weights, state[1:], gradients, learning_rate, **_constants(settings))
        return weights, (state[0] + 1, *squares)

    return Optimizer("rmsprop", initial_state, update, (None, settings.rmsprop_decay))


def chosen(settings: LearningSettings, own: Callable[[LearningSettings], Optimizer]) -> Optimizer:
    """Returns the optimizer that --optimizer names, or the algorithm's own. own: makes that, as `of_adam` does."""
    optimizer = own(settings)
    if settings.optimizer in ("auto", optimizer.name):
        return optimizer
    return {"adam": of_adam, "muon": of_muon, "rmsprop": of_counting_rmsprop}[settings.optimizer](settings)


def _constants(settings: LearningSettings) -> dict[str, float]:
    return {"decay": settings.rmsprop_decay, "epsilon": settings.rmsprop_epsilon}
