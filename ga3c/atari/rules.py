"""The rules of a batch of games, and what a player is shown."""

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Literal, get_args

import numpy as np

from ga3c.emulator.modes import difficulties_of, modes_of

SIZES_PIXELS = range(11, 161)  # of pictures that are scaled; the largest is the width of a whole one
MOST_NO_OPS, MOST_FRAMES = 1000, 2**31 - 1
Observation = Literal["grey", "rgb", "ram"]
Pool = Literal["max", "mean", "last"]


@dataclass(frozen=True)
class Rules:
    """The names are those of ale-py's vector environment, where it has the rule, too. Raises ValueError."""

    observation: Observation = "grey"
    size: int | None = 84
    """The height and the width of an observation; None: the whole picture of the television."""
    stack_num: int = 4
    frameskip: int = 4
    pool: Pool = "max"
    """The last two frames of a step become one picture: the brighter of each pixel, the mean, or the last alone."""
    noop_max: int = 30
    """A game begins with fewer frames without action than this, drawn at random; 0: with none."""
    use_fire_reset: bool = False
    repeat_action_probability: float = 0.0
    full_action_space: bool = False
    max_num_frames_per_episode: int = 108_000
    mode: int | None = None
    """The mode and the difficulty of the game, with ALE's numbers: `emulator.modes` lists them. None: the usual one."""
    difficulty: int = 0

    def __post_init__(self):
        for name, choices in (("observation", get_args(Observation)), ("pool", get_args(Pool))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(map(repr, choices))}.")
        if self.size is not None:
            check_number("size", self.size, SIZES_PIXELS[0], SIZES_PIXELS[-1], " (or None: the whole picture)")
        check_number("stack_num", self.stack_num, 1, 64)
        check_number("frameskip", self.frameskip, 1, 1000)
        check_number("noop_max", self.noop_max, 0, MOST_NO_OPS)
        check_number("max_num_frames_per_episode", self.max_num_frames_per_episode, 1, MOST_FRAMES)
        sticky = self.repeat_action_probability
        if isinstance(sticky, (bool, np.bool_)) or not isinstance(sticky, Real) or not 0 <= sticky <= 1:
            raise ValueError(f"repeat_action_probability={sticky!r}: give a number from 0 to 1.")
        for name in ("use_fire_reset", "full_action_space"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name}={getattr(self, name)!r}: give True or False.")
        object.__setattr__(self, "repeat_action_probability", float(sticky))
        for field in fields(self):  # numbers of NumPy become Python's, so that equal rules are shown alike
            value = getattr(self, field.name)
            if hasattr(value, "item"):
                object.__setattr__(self, field.name, value.item())

    def check_game(self, rom: str) -> None:
        """Raises ValueError if the game has no such mode or difficulty."""
        modes, difficulties = modes_of(rom), difficulties_of(rom)
        if self.mode is not None and not (_is_whole(self.mode) and self.mode in modes):
            known = f"the modes {', '.join(map(str, modes))}" if modes else "one mode alone: give None"
            raise ValueError(f"mode={self.mode!r}: {rom} has {known}.")
        if not (_is_whole(self.difficulty) and self.difficulty in difficulties):
            known = ", ".join(map(str, difficulties))
            raise ValueError(f"difficulty={self.difficulty!r}: {rom} has {known}.")

    @property
    def of_states(self) -> bool:
        """The emulator's own small grey frames are shown. Others are computed from its pictures."""
        return self.observation == "grey" and self.pool == "max" and self.size is not None


def is_seed(value) -> bool:
    """Returns whether it is a whole number that can be a game's seed."""
    return _is_whole(value) and 0 <= value < 2**62


def _is_whole(value) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def check_number(name: str, value, least: int, most: int, otherwise: str = "") -> None:
    """Raises ValueError unless `value` is a whole number from `least` to `most`."""
    if not _is_whole(value) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}: give a whole number from {least:,} to {most:,}{otherwise}.")
