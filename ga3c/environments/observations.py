"""Converts a game's observations for the networks: pictures to bytes, everything else to vectors."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.vector import utils as vector_utils

from ga3c.environments.game_fault import GameFault
from ga3c.errors import ConfigError

SMALLEST_PIXELS = 20  # the smallest height and width that the networks of `networks.policy_value` take


class _Picture(NamedTuple):
    """The layout of a Box that is a picture, and the conversion of its numbers to bytes."""

    channel_first: bool = False
    scale: float = 1.0  # its numbers times this are within 0 and 255
    bytes: bool = True  # its numbers are bytes already


def _as_it_is(space: spaces.Space) -> _Picture | None:
    """Returns the picture of a space by the rule of older versions: bytes with two or three axes are a picture."""
    is_picture = isinstance(space, spaces.Box) and space.dtype == np.uint8 and len(space.shape) in (2, 3)
    return _Picture() if is_picture else None


def _picture(space: spaces.Space) -> _Picture | None:
    """Returns the picture that a space is; None if it is no picture, and its observations become vectors.

    A Box is a picture if it has two or three axes, a height and a width of 20 pixels at least, and bytes (uint8) or
    numbers of any other dtype whose bounds are all 0 and 1, or all 0 and 255.

    - [height, width] is grey.
    - [height, width, channels] has any number of channels.
    - [channels, height, width] is assumed if the first axis is shorter than 20.

    So (3, 84, 84) has three channels; (84, 84, 12), (84, 84, 84) and (24, 84, 84) have their channels at the end;
    (3, 3, 3), (4, 84, 4), (7, 7, 3) and a grid of (4, 5) are vectors: such sides are too short for a convolutional
    network. Numbers with the bounds 0 and 1, also uint8, are multiplied by 255. Numbers are rounded to bytes.
    """
    if not isinstance(space, spaces.Box) or len(space.shape) not in (2, 3) or 0 in space.shape:
        return None
    bounds, channel_first = _bounds(space), not _are_sides(space.shape[:2])
    if channel_first and not (len(space.shape) == 3 and _are_sides(space.shape[1:])):
        return None
    if bounds == (0, 1):
        return _Picture(channel_first, 255.0, bytes=False)
    if space.dtype == np.uint8 or bounds == (0, 255):
        return _Picture(channel_first, bytes=space.dtype == np.uint8)
    return None


def _are_sides(shape: tuple[int, ...]) -> bool:
    return min(shape) >= SMALLEST_PIXELS


def _bounds(space: spaces.Box) -> tuple[float, float] | None:
    """Returns the bounds of a Box if they are finite and the same for all elements."""
    low, high = np.unique(space.low), np.unique(space.high)
    return (float(low[0]), float(high[0])) if len(low) == len(high) == 1 and space.is_bounded("both") else None


class Observations:
    """Converts observations of a space to uint8 [count, height, width, channels] or float32 [count, n].

    A Dict with a single entry is replaced by that entry. `_picture` decides which spaces are pictures; without `adapt`,
    `_as_it_is` does.
    """

    def __init__(self, space: spaces.Space, adapt: bool = True):
        self._whole, self.space, self.names = space, space, []
        while adapt and isinstance(self.space, spaces.Dict) and len(self.space.spaces) == 1:
            self.names += self.space.spaces
            self.space = self.space[self.names[-1]]
        self.picture = (_picture if adapt else _as_it_is)(self.space)
        self.dtype = "uint8" if self.picture else "float32"

    def convert(self, observations, batch_space: spaces.Space) -> np.ndarray:
        """Converts observations of `batch_space`, which a vector environment returned. Raises GameFault."""
        if not self.picture:
            items = vector_utils.iterate(batch_space, observations)
            return np.stack([spaces.flatten(self._whole, item) for item in items]).astype(np.float32)
        return self.of_pictures(self.inner(observations))

    def inner(self, observations):
        """Returns the entry of a Dict that has it alone; other observations as they are."""
        for name in self.names:
            observations = observations[name]
        return observations

    def of_pictures(self, pictures: np.ndarray) -> np.ndarray:
        """Returns pictures [count, ...] as uint8 [count, height, width, channels]. Raises GameFault."""
        if not self.picture.bytes:
            pictures = self._bytes(pictures)
        if pictures.ndim == 3:
            return pictures[..., None]
        return np.moveaxis(pictures, 1, 3) if self.picture.channel_first else pictures

    def check(self, observation) -> None:
        """Raises GameFault where `convert` does so for this observation of a game."""
        if self.picture and not self.picture.bytes:
            self._bytes(self.inner(observation))

    def _bytes(self, observations: np.ndarray) -> np.ndarray:
        numbers = np.rint(np.multiply(observations, self.picture.scale, dtype=np.float32))
        if not (numbers.min() >= 0 and numbers.max() <= 255):  # False for NaN, too
            raise GameFault(f"an observation holds a number that is not within 0 and {255 / self.picture.scale:g}")
        return numbers.astype(np.uint8)

    def description(self, shape: tuple[int, ...]) -> str:
        """Returns the text that tells a user the game's space and the converted observations, which have this shape."""
        shown = description(self._whole)
        if self.picture:
            moved = ", its channels moved to the end" * self.picture.channel_first
            scaled = f", times {self.picture.scale:g}" * (self.picture.scale != 1)
            return f"{shown}, taken as a picture, uint8 {list(shape)}{moved}{scaled}"
        return f"{shown}, taken as a vector of {shape[0]:,}{self._no_picture()}"

    def _no_picture(self) -> str:
        """Returns the reason why the space is no picture, if it looks like one; else an empty text."""
        space = self.space
        if _picture(space):
            return " (a picture with --adapt-spaces)"
        if isinstance(space, spaces.Dict | spaces.Tuple):
            parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
            return " (with the picture in it, --observation flat)" * any(map(_picture, parts))
        if not isinstance(space, spaces.Box) or len(space.shape) < 2:
            return ""
        if len(space.shape) > 3:
            return " (pictures have 2 or 3 axes)"
        if _are_sides(space.shape[:2]) or _are_sides(space.shape[-2:]):
            return " (pictures have the bounds 0 and 1, or 0 and 255)"
        return f" (pictures have {SMALLEST_PIXELS} pixels a side at least)"


def batch_of(space: spaces.Space, observation) -> tuple[Any, bool]:
    """Returns a batch of observations of a space, as vector environments return it, and whether there was a single one.

    Raises ConfigError if it is neither an observation nor a batch of them.
    """
    part, value = space, observation
    while isinstance(part, spaces.Dict | spaces.Tuple):
        key = next(iter(part.spaces)) if isinstance(part, spaces.Dict) else 0
        try:
            part, value = part[key], value[key]
        except (KeyError, IndexError, TypeError):
            raise ConfigError(f"This is no observation of the game, which shows {description(space)}.") from None
    try:
        axes, shape = np.ndim(value) - len(part.shape or ()), np.shape(value)
    except ValueError:  # its parts are of several lengths
        axes, shape = -1, ()
    if axes not in (0, 1) or shape[axes:] != (part.shape or ()) or 0 in shape[:axes]:
        raise ConfigError(f"An observation of the shape {shape} is none of the game, which shows {description(space)}.")
    if axes:
        return observation, False
    try:
        return vector_utils.concatenate(space, [observation], vector_utils.create_empty_array(space, 1)), True
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        raise ConfigError(f"This is no observation of the game, which shows {description(space)}.") from None


def leaves(space: spaces.Space, names: tuple = ()) -> Iterator[tuple[tuple, spaces.Space]]:
    """Yields the spaces in a nested Dict or Tuple, each with the keys that lead to it."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        inside = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
        for name, part in inside:
            yield from leaves(part, (*names, name))
    else:
        yield names, space


def description(space: spaces.Space) -> str:
    """Returns a short description of a space."""
    if isinstance(space, spaces.Box):
        bounds = _bounds(space)
        return f"{space.dtype} {list(space.shape)}" + (f" from {bounds[0]:g} to {bounds[1]:g}" if bounds else "")
    if isinstance(space, spaces.Dict):
        inside = ", ".join(f"{name}: {description(part)}" for name, part in space.spaces.items())
        return f"Dict of {inside if len(inside) < 200 else f'{len(space.spaces)} entries'}"
    return str(space)[:200]
