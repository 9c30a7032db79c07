"""Networks of the user's own: a function that is given the spaces of the game and returns a Keras model."""

import keras
import numpy as np
from gymnasium import spaces

from ga3c.errors import ConfigError
from ga3c.layout import PICTURE
from ga3c.networks import inputs
from ga3c.networks.heads import Denormalization
from ga3c.networks.inputs import Seen
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import named_objects


def build(name: str, spec: EnvironmentSpec, has_policy: bool, options: dict) -> keras.Model:
    """Returns the model of the function that is named, with the outputs that an algorithm knows.

    The function takes the space of observations, as the network gets them, and the game's `rollout.Actions`. Its model
    returns (policy [batch, actions.policy_size], value [batch] or [batch, 1]), or for an algorithm without a policy
    the action values [batch, actions.count] alone. options: what the algorithm wants of a network.

    Raises ConfigError where the function fails, or where its model does not fit.
    """
    if options.get("support") or options.get("memory"):
        raise ConfigError(f"--network {name} does not go with c51 and rainbow, nor with --memory: leave it out.")
    function = named_objects.find(name, "--network")
    try:
        model = function(observation_space(spec), spec.actions)
        observations = inputs.of_game(spec)
        own = {one.name: one.dtype for one in getattr(model, "inputs", None) or ()}
        outputs = model(_cast(observations, own))
        outputs = [keras.ops.cast(output, "float32") for output in keras.tree.flatten(outputs)]
    except Exception as error:  # the user's own code
        said = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(f"--network {name} failed: {type(error).__name__}: {said}.") from error
    if fixed := model.non_trainable_variables:
        raise ConfigError(
            f"--network {name} has '{fixed[0].path}', which no gradient changes: leave out layers such as "
            "BatchNormalization and Dropout."
        )
    size, shapes = spec.actions.policy_size, [tuple(output.shape) for output in outputs]
    if not has_policy and shapes == [(None, size)]:
        return keras.Model(observations, (outputs[0], keras.ops.max(outputs[0], axis=1)))
    if has_policy and shapes in ([(None, size), (None, 1)], [(None, size), (None,)]):
        values = keras.ops.reshape(outputs[1], (-1,))
        normalize = options.get("normalize_values")
        return keras.Model(
            observations, (outputs[0], *(Denormalization(name="values")(values) if normalize else [values]))
        )
    wanted = f"(policy [batch, {size}], value [batch, 1])" if has_policy else f"the action values [batch, {size}] alone"
    raise ConfigError(f"--network {name} returns {' and '.join(map(str, shapes))}: it is to return {wanted}.")


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
