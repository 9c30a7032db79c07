"""The spaces of Gymnasium's games that can be learned, and what is wrong with others."""

import reprlib

import numpy as np
from gymnasium import spaces

from ga3c.environments import action_masks
from ga3c.environments.observations import Observations, description, leaves
from ga3c.errors import ConfigError
from ga3c.rollout import Actions, continuous, discrete, multidiscrete

MOST_NUMBERS = 500_000  # of an observation that is no picture: a network's first layer has 128 weights for each


def actions(name: str, space: spaces.Space, adapt: bool) -> Actions:
    """Returns the program's description of an action space. Raises ConfigError."""
    if isinstance(space, spaces.Discrete):
        return discrete(int(space.n))
    if sizes := action_masks.sizes(space):
        return multidiscrete(sizes)
    if not isinstance(space, spaces.Box) or space.dtype.kind != "f" or not space.shape or 0 in space.shape:
        raise ConfigError(
            f"The game '{name}' has the action space {reprlib.repr(space)}: only Discrete, MultiDiscrete, "
            "MultiBinary and boxes of floats can be learned."
        )
    if not space.is_bounded("both"):
        raise ConfigError(
            f"The game '{name}' has actions without bounds ({reprlib.repr(space)}): wrap it in gymnasium.wrappers."
            "RescaleAction, or give its Box finite bounds."
        )
    if adapt:
        return continuous(np.full(space.low.size, -1.0), np.full(space.high.size, 1.0))
    return continuous(space.low.ravel(), space.high.ravel())


def check_observations(name: str, space: spaces.Space, adapt: bool, divided: bool) -> None:
    """Raises ConfigError if no network can take observations of this space. `adapt`: as in `Observations`. `divided`:
    into its parts."""
    what = f"The game '{name}' has the observation space {reprlib.repr(space)}"
    try:
        numbers = spaces.flatdim(space)
    except (ValueError, NotImplementedError) as error:
        if texts := [keys[-1] for keys, part in leaves(space) if type(part).__module__.startswith("minigrid.")]:
            raise ConfigError(
                f"The game '{name}' shows a text ({texts[0]}), which no network reads: add --wrapper "
                "minigrid.wrappers:ImgObsWrapper for the picture alone, or minigrid.wrappers:"
                "DictObservationSpaceWrapper for the words of its text, too."
            ) from error
        raise ConfigError(f"{what}, whose observations have no fixed size: use a Box, or a Dict of them.") from error
    if numbers == 0:
        raise ConfigError(f"{what}, which holds no number: a policy needs something to see.")
    shown = [part for _, part in leaves(space)] if divided else [space]
    numbers = sum(spaces.flatdim(part) for part in shown if Observations(part, adapt).dtype != "uint8")
    if numbers > MOST_NUMBERS:
        raise ConfigError(
            f"{what}, which is {numbers:,} numbers for the network (a Discrete is one for each state), and it takes "
            f"{MOST_NUMBERS:,} at the most: show the state by fewer, in a Box."
        )


def as_the_game_wants(space: spaces.Space, actions: np.ndarray, adapt: bool) -> np.ndarray:
    """Returns actions [count, ...] as the game counts them, in its shape; continuous ones are within its bounds.

    adapt: they are within -1 and 1, which is scaled to the bounds.
    """
    if isinstance(space, spaces.Discrete):
        return actions + int(space.start)
    actions = actions.reshape(-1, *space.shape)
    if isinstance(space, spaces.MultiDiscrete):
        return actions + space.start
    if isinstance(space, spaces.MultiBinary):
        return actions.astype(space.dtype)
    if adapt:
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        actions = (low / 2 + high / 2) + np.clip(actions, -1, 1) * (high / 2 - low / 2)
    return np.clip(actions, space.low, space.high).astype(space.dtype)


def as_the_agent_acts(space: spaces.Space, actions: np.ndarray, adapt: bool) -> np.ndarray:
    """Returns actions of the game [count, ...] as the policy acts: the inverse of `as_the_game_wants`."""
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        return actions - space.start
    if adapt and isinstance(space, spaces.Box):
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        return (actions - (low / 2 + high / 2)) / np.maximum(high / 2 - low / 2, 1e-9)
    return actions


def start_lines(shown: str, space: spaces.Space, adapt: bool, network: str) -> list[str]:
    """Returns the lines that a run prints about what its game shows, about the actions in `space`, and the network."""
    kind = "fully connected" if network.endswith("mlp") else "your own" if ":" in network else "convolutional"
    lines = [f"Observations: {shown}; network: {network} ({kind})."]
    if isinstance(space, spaces.Box) and adapt and not ((space.low == -1) & (space.high == 1)).all():
        bounds = description(space)
        lines.append(f"Actions: {bounds}; the policy acts from -1 to 1, which is scaled to these bounds.")
    return lines
