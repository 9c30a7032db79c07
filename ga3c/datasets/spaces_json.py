"""Spaces as Minari's metadata has them, in JSON."""

import json

import numpy as np
from gymnasium import spaces

from ga3c.rollout import Actions, EnvironmentSpec


def to_json(space: spaces.Space) -> str:
    """Returns a space as text. Raises TypeError for a space that the format does not have."""
    return json.dumps(_described(space))


def _described(space: spaces.Space) -> dict:
    kind = type(space).__name__
    if isinstance(space, spaces.Box):
        bounds = {"low": space.low.tolist(), "high": space.high.tolist()}
        return {"type": kind, "dtype": str(space.dtype), "shape": list(space.shape), **bounds}
    if isinstance(space, spaces.Discrete):
        return {"type": kind, "dtype": "int64", "start": int(space.start), "n": int(space.n)}
    if isinstance(space, spaces.MultiDiscrete):
        numbers = {"nvec": space.nvec.tolist(), "start": space.start.tolist()}
        return {"type": kind, "dtype": str(space.dtype), **numbers}
    if isinstance(space, spaces.MultiBinary):
        return {"type": kind, "n": space.n if isinstance(space.n, int) else list(space.n)}
    raise TypeError(f"{space} has no form in a data set")


def from_json(text: str) -> spaces.Space:
    """Returns the space that a text describes. Raises ValueError, KeyError or TypeError where it describes none."""
    return _space(json.loads(text))


def _space(said: dict) -> spaces.Space:
    kind = said["type"]
    if kind == "Box":
        low, high = (np.array(said[bound], said["dtype"]) for bound in ("low", "high"))
        return spaces.Box(low, high, tuple(said["shape"]), np.dtype(said["dtype"]))
    if kind == "Discrete":
        return spaces.Discrete(said["n"], start=said["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(said["nvec"], np.dtype(said["dtype"]), start=said["start"])
    if kind == "MultiBinary":
        return spaces.MultiBinary(said["n"])
    if kind == "Dict":
        return spaces.Dict({name: _space(part) for name, part in said["subspaces"].items()})
    if kind == "Tuple":
        return spaces.Tuple([_space(part) for part in said["subspaces"]])
    raise ValueError(f"a space of the kind {kind} cannot be learned")


def of_observations(spec: EnvironmentSpec) -> spaces.Box:
    """Returns the space of what the agent sees."""
    low, high = (0, 255) if spec.observation_dtype == "uint8" else (-np.inf, np.inf)
    return spaces.Box(low, high, spec.observation_shape, np.dtype(spec.observation_dtype))


def of_actions(actions: Actions) -> spaces.Space:
    """Returns the space of an agent's actions, where the game has none of its own to say."""
    if actions.continuous:
        return spaces.Box(np.array(actions.low, np.float32), np.array(actions.high, np.float32))
    return spaces.MultiDiscrete(actions.sizes) if actions.sizes else spaces.Discrete(actions.count)
