"""Masks of the actions that a game allows in its state, read from its `info` or its method, and checked."""

import reprlib
from collections.abc import Callable

import gymnasium
import numpy as np
from gymnasium import spaces

from ga3c.environments.game_fault import GameFault

KEY, METHOD = "action_mask", "action_masks"


def sizes(actions: spaces.Space | None) -> list[int]:
    """Returns the number of options of each choice in an action; an empty list where actions are numbers."""
    if isinstance(actions, spaces.Discrete):
        return [int(actions.n)]
    if isinstance(actions, spaces.MultiDiscrete):
        return [int(size) for size in actions.nvec.ravel()]
    return [2] * int(np.prod(actions.shape)) if isinstance(actions, spaces.MultiBinary) else []


def method_of(game: gymnasium.Env) -> Callable | None:
    """Returns the game's own method action_masks, if it has one."""
    found = game.get_wrapper_attr(METHOD) if game.has_wrapper_attr(METHOD) else None
    return found if callable(found) else None


class Masks:
    """The masks of one game. Each is bool [actions], or the options of all choices of an action, side by side."""

    def __init__(self, actions: spaces.Space | None, method: Callable | None = None):
        """actions: None where nobody asks for masks. method: is asked for the mask in place of `info`."""
        self._sizes, self._method = sizes(actions), method
        self.given: bool | None = None  # whether the game gives masks; None: it has not been started

    def of(self, info, call: str, over: bool) -> dict[str, np.ndarray]:
        """Returns {KEY: mask} after a `call`, or {} where the game gives none. Raises GameFault.

        `over`: the game has ended, so that its mask does not matter.
        """
        if not self._sizes:
            return {}
        given = self._method() if self._method else info.get(KEY) if isinstance(info, dict) else None
        if self.given is None:
            self.given = given is not None
        if given is None:
            if self.given:
                raise GameFault(f"{call} gave no {KEY}, as it did before: give one in each info, or in none")
            return {}
        if not self.given:
            raise GameFault(f"{call} gave an {KEY}, and reset() gave none: give one in each info, or in none")
        return {KEY: self._checked(given, call, over)}

    def _checked(self, given, call: str, over: bool) -> np.ndarray:
        parts = given if isinstance(given, tuple | list) else [given]
        mask = np.concatenate([np.ravel(part) for part in parts])
        if mask.size != sum(self._sizes) or mask.dtype.kind not in "biuf":
            what = f"{reprlib.repr(given)} as {KEY}"
            raise GameFault(f"{call} gave {what}, which is not one truth value for each of {sum(self._sizes)} actions")
        mask = mask != 0
        if all(one.any() for one in np.split(mask, np.cumsum(self._sizes)[:-1])):
            return mask
        if over:
            return np.ones_like(mask)
        raise GameFault(f"{call} gave an {KEY} that allows no action, though the game goes on: allow one at least")
