"""Networks of the user's own: a function that is given the spaces of the game and returns a Keras model."""

import inspect
from functools import partial

import keras
import numpy as np
from gymnasium import spaces

from ga3c.errors import ConfigError
from ga3c.layout import PICTURE
from ga3c.networks import action_value, heads, inputs, recurrent
from ga3c.networks.inputs import Seen
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import named_objects


def build(name: str, spec: EnvironmentSpec, has_policy: bool, options: dict) -> keras.Model | recurrent.Recurrent:
    """Returns the model of the function that is named, with the outputs that an algorithm knows.

    The function takes the space of observations, as the network gets them, and the game's `rollout.Actions`. Its model
    returns (policy [batch, actions.policy_size], value [batch] or [batch, 1]), or for an algorithm without a policy
    the action values [batch, actions.count] alone. A function that takes the space alone returns a model of hidden
    units, [batch, n]: a memory where there is one, and the last layers, come after them.

    options: what the algorithm wants of a network.

    Raises ConfigError where the function fails, or where its model does not fit.
    """
    function = named_objects.find(name, "--network")
    hidden_alone = _takes_one(function)
    if not hidden_alone and (options.get("support") or options.get("memory")):
        raise ConfigError(
            f"--network {name} has its own last layers, so it does not go with c51 and rainbow, nor with --memory: let "
            "it take the space of observations alone, and return hidden units [batch, n]."
        )
    with named_objects.blaming("--network", name):
        model = function(observation_space(spec), *(() if hidden_alone else (spec.actions,)))
        if not isinstance(model, keras.Layer):
            raise TypeError(f"it returned {type(model).__name__}, which is no Keras model")
        observations = inputs.of_game(spec)
        own = {one.name: one.dtype for one in getattr(model, "inputs", None) or ()}
        outputs = model(_cast(observations, own))
        outputs = [keras.ops.cast(output, "float32") for output in keras.tree.flatten(outputs)]
    if model.losses:
        raise ConfigError(f"--network {name} has regularizers, which no algorithm learns with: leave them out.")
    if fixed := model.non_trainable_variables:
        raise ConfigError(
            f"--network {name} has '{fixed[0].path}', which no gradient changes: leave out layers such as "
            "BatchNormalization and Dropout."
        )
    size, shapes = spec.actions.policy_size, [tuple(output.shape) for output in outputs]
    if hidden_alone:
        if len(shapes) != 1 or len(shapes[0]) != 2 or not shapes[0][1]:
            raise ConfigError(
                f"--network {name} returns {_said(shapes)}: it is to return hidden units [batch, n] alone."
            )
        return _with_last_layers(observations, outputs[0], spec, has_policy, options)
    if not has_policy and shapes == [(None, size)]:
        return keras.Model(observations, (outputs[0], keras.ops.max(outputs[0], axis=1)))
    if has_policy and shapes in ([(None, size), (None, 1)], [(None, size), (None,)]):
        values = keras.ops.reshape(outputs[1], (-1,))
        normalize = options.get("normalize_values")
        return keras.Model(
            observations, (outputs[0], *(heads.Denormalization(name="values")(values) if normalize else [values]))
        )
    wanted = f"(policy [batch, {size}], value [batch, 1])" if has_policy else f"the action values [batch, {size}] alone"
    raise ConfigError(f"--network {name} returns {_said(shapes)}: it is to return {wanted}.")


def _takes_one(function) -> bool:
    """Whether a function has one parameter, the space of observations, besides options of its own."""
    try:
        known = list(inspect.signature(function).parameters.values())
        wanted = [one for one in known if one.default is one.empty or one.name == "actions"]
        return len(wanted) == 1 and wanted[0].kind is not wanted[0].VAR_POSITIONAL
    except (TypeError, ValueError):  # it is no function, which its call will say, or one whose parameters are not known
        return False


def _said(shapes: list[tuple]) -> str:
    return " and ".join(map(str, shapes))


def _with_last_layers(observations, hidden, spec: EnvironmentSpec, has_policy: bool, options: dict):
    """Returns the network whose hidden units are a function's own."""
    if not has_policy:
        dueling, support = options.get("dueling", False), options.get("support")
        units, actions = hidden.shape[1], spec.actions.count
        return action_value.with_last_layers(observations, hidden, units, actions, dueling, support)
    normalize = options.get("normalize_values", False)
    last = partial(heads.policy_and_value, actions=spec.actions, gain=0.01, normalize=normalize)
    return recurrent.network(observations, hidden, last, options.get("memory"))


def _cast(observations, dtypes: dict[str, str]):
    """Returns inputs with the dtypes that a model wants, by the names of its inputs."""
    if isinstance(observations, dict):
        return {name: keras.ops.cast(one, dtypes.get(name, one.dtype)) for name, one in observations.items()}
    return keras.ops.cast(observations, next(iter(dtypes.values()), observations.dtype))


def observation_space(spec: EnvironmentSpec) -> spaces.Space:
    """Returns the space of observations as a network gets them: pictures of bytes, or vectors; or a Dict of the parts,
    where there are several."""
    seen = Seen.of(spec, standardize=False)
    if seen.parts:
        boxes = {part.name: _box(part.shape, part.kind == PICTURE) for part in seen.parts}
        return spaces.Dict(boxes)
    return _box(seen.shape, spec.has_pictures)


def _box(shape: tuple[int, ...], picture: bool) -> spaces.Box:
    return spaces.Box(0, 255, shape, np.uint8) if picture else spaces.Box(-np.inf, np.inf, shape, np.float32)
