"""The first layers of networks: from what a game shows to one vector of features."""

import math
from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import layers

from ga3c.layout import BYTES, ONE_HOT, PICTURE, VECTOR, Part
from ga3c.networks.standardization_layer import Standardization
from ga3c.rollout import EnvironmentSpec

VECTORS = "vectors"  # the name of the layer that standardises all vectors


class Seen(NamedTuple):
    """The shapes of all that a network sees of a game."""

    shape: tuple[int, ...]  # of a picture or a vector, if the game shows one alone
    parts: tuple[Part, ...] = ()  # else the parts that it shows
    standardize: bool = False  # subtract the mean of the observations so far, and divide by their deviation

    @classmethod
    def of(cls, spec: EnvironmentSpec, standardize: bool) -> "Seen":
        parts = spec.layout.shown if spec.layout else ()
        if spec.layout and spec.layout.is_plain:
            return cls(parts[0].shape, (), standardize)
        return cls(spec.observation_shape, parts, standardize)

    @property
    def smallest_picture(self) -> tuple[int, ...]:
        """The shape of the smallest picture."""
        return min((part.shape for part in self.parts if part.kind == PICTURE), default=self.shape)

    @property
    def vector_names(self) -> list[str]:
        """The names of the vectors, in their order. They are standardised together."""
        return [part.name for part in self.parts if part.kind in (VECTOR, BYTES)]


def vectors(seen: Seen, alone: bool = False):
    """Returns the inputs of a network that has no convolutions, and a vector of all that it sees, [batch, n].

    alone: a vector that is no part of several is standardised, too, if the settings say so.
    """
    if not seen.parts:
        observations = keras.Input(seen.shape)
        numbers = Standardization()(observations) if alone and seen.standardize else observations
        return observations, layers.Reshape((math.prod(seen.shape),))(numbers)
    observations = _inputs(seen)
    flat = [
        layers.Flatten()(layers.Rescaling(1 / 255)(observations[part.name]))
        for part in seen.parts
        if part.kind == PICTURE
    ]
    together = [*flat, *_numbers(seen, observations)]
    return observations, layers.Concatenate()(together) if len(together) > 1 else together[0]


def pictures(seen: Seen, convolve: Callable, dtype: str):
    """Returns the inputs of a network with convolutions, and a vector of all features, [batch, n].

    convolve: a function from a picture uint8 [batch, height, width, channels], and the name of its first layer or None,
        to features [batch, ...]. Each picture has convolutions of its own.
    """
    if not seen.parts:
        observations = keras.Input(seen.shape, dtype="uint8")
        return observations, layers.Flatten(dtype=dtype)(convolve(observations, None))
    observations = _inputs(seen)
    features = [
        layers.Flatten(dtype=dtype)(convolve(observations[part.name], layer_name(number)))
        for number, part in enumerate(seen.parts)
        if part.kind == PICTURE
    ]
    return observations, layers.Concatenate(dtype=dtype)([*features, *_numbers(seen, observations)])


def of_game(spec: EnvironmentSpec):
    """Returns the inputs of a network for a game: one, or one of each part by name."""
    seen = Seen.of(spec, standardize=False)
    return _inputs(seen) if seen.parts else keras.Input(seen.shape, dtype="uint8" if spec.has_pictures else "float32")


def layer_name(number: int) -> str:
    """Returns the name of the first layer of a picture, by its number among the parts."""
    return f"picture_{number}"


def _inputs(seen: Seen) -> dict:
    dtypes = {part.name: "uint8" if part.kind == PICTURE else "float32" for part in seen.parts}
    return {part.name: keras.Input(part.shape, name=part.name, dtype=dtypes[part.name]) for part in seen.parts}


def _numbers(seen: Seen, observations: dict) -> list:
    """Returns the vectors, standardised if the settings say so, and the choices. Else bytes are scaled to 0..1."""
    found = [observations[name] for name in seen.vector_names]
    if found and seen.standardize:
        found = [Standardization(name=VECTORS)(layers.Concatenate()(found) if len(found) > 1 else found[0])]
    elif found:
        kinds = {part.name: part.kind for part in seen.parts}
        scale = layers.Rescaling(1 / 255)
        found = [
            scale(one) if kinds[name] == BYTES else one for name, one in zip(seen.vector_names, found, strict=True)
        ]
    choices = [observations[part.name] for part in seen.parts if part.kind == ONE_HOT]
    return [*found, *choices]
