"""A game's own code, called with care: what it returns is checked, and what goes wrong is said in the game's words."""

import contextlib
import reprlib
from collections.abc import Iterator

import gymnasium
import numpy as np
from gymnasium import spaces

from ga3c.errors import ConfigError

LARGEST_REWARD = float(np.finfo(np.float32).max)


class GameFault(Exception):
    """A game returned what it must not."""


@contextlib.contextmanager
def blaming(what: str) -> Iterator[None]:
    """For a call of a game's own code: whatever that raises becomes a ConfigError, `what` and the reason."""
    try:
        yield
    except ConfigError:
        raise
    except BaseException as error:
        if type(error) is KeyboardInterrupt:  # the person's, most likely
            raise
        raise ConfigError(f"{what}: {reason(error)}.") from error


def reason(error: BaseException) -> str:
    """The kind of an exception and what it says, in one line."""
    try:
        said = " ".join(str(error).split()).rstrip(".")
    except BaseException:  # it cannot even say what it is
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def make(name: str, **options) -> gymnasium.Env:
    """A registered game, checked. Its `info` goes no further: nobody needs it, and it may hold anything."""
    game = gymnasium.make(name, disable_env_checker=True, **options)  # Gymnasium's own only warns
    return Checked(game)


class Checked(gymnasium.Wrapper):
    """Names what vector environments would convert without a word, or fail at with another's error."""

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        observation, _ = self.env.reset(seed=seed, options=options or None)
        return self._checked(observation), {}

    def step(self, action):
        observation, reward, terminated, truncated, _ = self.env.step(action)
        if not _is_reward(reward):
            raise GameFault(f"a step returned the reward {reprlib.repr(reward)}, which is no finite number of float32")
        return self._checked(observation), reward, terminated, truncated, {}

    def close(self):
        with contextlib.suppress(ConfigError), blaming("It cannot be closed"):  # nobody needs it any more
            self.env.close()

    def _checked(self, observation):
        space = self.env.observation_space
        if not isinstance(space, spaces.Box):  # others are flattened, which checks them
            return observation
        array = np.asarray(observation)
        if array.shape != space.shape:
            raise GameFault(f"an observation has the shape {array.shape}, not {space.shape}")
        if not np.can_cast(array.dtype, space.dtype, "same_kind"):
            raise GameFault(f"an observation has the dtype {array.dtype}, which does not fit {space.dtype}")
        return observation


def _is_reward(value) -> bool:
    """Larger ones would be infinite in a rollout, and so would be the sum of a few."""
    try:
        return np.ndim(value) == 0 and bool(-LARGEST_REWARD <= value <= LARGEST_REWARD)
    except TypeError:  # a text, a complex number
        return False
