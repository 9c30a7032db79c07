"""Ready vector environments of Gymnasium, which are handed over from Python (`ga3c.train`)."""

import gymnasium
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from ga3c.environments import action_masks
from ga3c.errors import ConfigError


def games_of(ready: VectorEnv, count: int) -> int:
    """Returns the number of games of a ready vector environment. Raises ConfigError if it cannot play `count`."""
    if ready.metadata.get("autoreset_mode") not in (None, AutoresetMode.NEXT_STEP):
        raise ConfigError(
            "A vector environment starts a game anew in the step after its end: make it with "
            "autoreset_mode=AutoresetMode.NEXT_STEP."
        )
    if count > ready.num_envs:
        raise ConfigError(f"The vector environment has {ready.num_envs} games, and {count} are asked for.")
    return ready.num_envs


def check_masks(ready: VectorEnv) -> None:
    """Raises ConfigError for games that say by a method which actions are allowed: nobody asks it here."""
    for game in getattr(ready.unwrapped, "envs", ()):
        if isinstance(game, gymnasium.Env) and action_masks.method_of(game):
            raise ConfigError(
                f"The games of the vector environment have a method {action_masks.METHOD}, which is not asked there: "
                f"let them give info['{action_masks.KEY}'], or hand over their class."
            )


def restarts_some(ready: VectorEnv) -> bool:
    """Returns whether it can begin some games alone. Many a vector environment of its own kind begins all."""
    return isinstance(ready.unwrapped, SyncVectorEnv | AsyncVectorEnv)
