"""Rows of bytes of games that show several parts, or say which actions are allowed (`ga3c.layout`)."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, iterate

from ga3c.environments import action_masks, known_spaces
from ga3c.environments.checked import fault_of
from ga3c.environments.game_fault import GameFault
from ga3c.environments.observations import Observations, batch_of, description, leaves
from ga3c.errors import ConfigError
from ga3c.layout import MASK, MASK_NAME, ONE_HOT, PICTURE, VECTOR, Layout, Part


class Parts:
    """The parts of the observations of a space, and how each is converted to bytes."""

    def __init__(self, space: spaces.Space, adapt: bool, divide: bool, mask_size: int):
        """`adapt`: as in `Observations`. `divide`: a Dict or Tuple is divided; else it is one vector. `mask_size`: the
        number of actions that a mask speaks of; 0: there is none."""
        self.space = space
        found = list(leaves(space)) if divide else []
        self._leaves = found if len(found) > 1 else [((), space)]
        self._seen = [Observations(part, adapt) for _, part in self._leaves]
        shown = [self._part(*one) for one in zip(self._names(), self._leaves, self._seen, strict=True)]
        self.layout = Layout((*shown, *([Part(MASK_NAME, MASK, (mask_size,))] if mask_size else [])))

    def _names(self) -> list[str]:
        """Returns a name for each part, which a layer of a network may have, too."""
        names = [".".join(map(str, keys)).replace("/", "_") for keys, _ in self._leaves]
        return names if len(set(names)) == len(names) else [str(number) for number in range(len(names))]

    @staticmethod
    def _part(name: str, leaf: tuple[tuple, spaces.Space], seen: Observations) -> Part:
        _, space = leaf
        if seen.dtype == "uint8":
            blank = np.zeros((1, *seen.space.shape), seen.space.dtype)
            return Part(name, PICTURE, seen.of_pictures(blank).shape[1:])
        choice = isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)
        return Part(name, ONE_HOT if choice else VECTOR, (spaces.flatdim(space),))

    def sources(self) -> list[tuple[tuple, spaces.Space, Any]]:
        """Returns for each part that is shown the keys that lead to it in an observation, its space, and how a picture
        becomes bytes (`Observations.picture`); None for what is no picture."""
        pairs = zip(self._leaves, self._seen, strict=True)
        return [
            ((*keys, *seen.names), seen.space, seen.picture) if seen.picture else (keys, space, None)
            for (keys, space), seen in pairs
        ]

    @property
    def needed(self) -> bool:
        """True if a row is needed: there are several parts, or a mask."""
        return len(self.layout.parts) > 1

    def row(self, observation, mask: np.ndarray | None) -> np.ndarray:
        """Returns the row of an observation, uint8 [size]. Raises GameFault where it cannot be converted."""
        row = np.empty(self.layout.size, np.uint8)
        for (part, place), (names, space), seen in zip(self.layout.slices(), self._leaves, self._seen, strict=False):
            value = observation
            for name in names:
                value = value[name]
            made = seen.of_pictures(seen.inner(value)[None]) if part.kind == PICTURE else spaces.flatten(space, value)
            row[place] = np.ascontiguousarray(made, part.dtype).reshape(-1).view(np.uint8)
        if mask is not None:
            row[-mask.size :] = mask
        return row

    def as_observations(self, rows: np.ndarray) -> np.ndarray:
        """Returns rows as they are, or where none are needed the one part in them, [count, *shape], not copied."""
        part = self.layout.parts[0]
        return rows if self.needed else rows.view(part.dtype).reshape(-1, *part.shape)

    def shown(self, observation, mask) -> tuple[np.ndarray, bool]:
        """Returns an observation of the space, or a batch of them, as the network gets it, [batch, ...]; and whether
        there was a single one. mask: the actions that are allowed, for each; None: all are.

        Raises ConfigError if it is no observation of the space.
        """
        batch, single = batch_of(self.space, observation)
        part = batch
        for key in self._leaves[0][0]:
            part = part[key]
        try:
            items = list(iterate(batch_space(self.space, len(part)), batch))
            fault = next(filter(None, (fault_of(self.space, item) for item in items)), "")
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ConfigError(f"This is no observation of the game, which shows {self.text()}.") from error
        if fault:
            raise ConfigError(f"An observation {fault}.")
        size = self.layout.parts[-1].size if self.layout.has(MASK) else 0
        masks = _masks(mask, len(items), size, single) if size else [None] * len(items)
        try:
            rows = np.stack([self.row(item, one) for item, one in zip(items, masks, strict=True)])
        except (GameFault, TypeError, ValueError) as error:
            raise ConfigError(f"This is no observation of the game: {error}.") from error
        return self.as_observations(rows), single

    def text(self) -> str:
        """Returns the text that tells a user what the game shows, and what was made of it."""
        return self._shown_text() + "; a mask says which actions are allowed" * self.layout.has(MASK)

    def _shown_text(self) -> str:
        if self.layout.is_plain:
            return self._seen[0].description(self.layout.parts[0].shape)
        said, words = [], {VECTOR: "a vector", ONE_HOT: "numbers 0 and 1, one"}
        for part, (_, space) in zip(self.layout.shown, self._leaves, strict=True):
            what = (
                f"a picture {list(part.shape)}" if part.kind == PICTURE else f"{words[part.kind]} of {part.shape[0]:,}"
            )
            said.append(f"{part.name}: {description(space)}, taken as {what}")
        return "; ".join(said) if len(said) < 20 else f"{len(said)} parts, each of which the network sees by itself"


def _masks(mask, count: int, size: int, single: bool) -> np.ndarray:
    """Returns the masks of `count` observations, bool [count, size]. mask: for each, or for a `single` one as a game
    gives it; None: all actions are allowed. Raises ConfigError."""
    if mask is None:
        return np.ones((count, size), np.bool_)
    try:
        one = np.concatenate([np.ravel(part) for part in mask]) if single else np.asarray(mask)
        return np.broadcast_to(one.reshape(-1, size) != 0, (count, size))
    except (TypeError, ValueError):
        wanted = f"{size} truth values" + f" for each of {count} observations" * (not single)
        raise ConfigError(f"The mask is not {wanted}: give it as info['action_mask'] has it.") from None


class Rows(gymnasium.Wrapper):
    """A game whose observations are rows of bytes."""

    def __init__(self, game: gymnasium.Env, parts: Parts):
        super().__init__(game)
        self.ga3c_parts = parts  # a name that no game has: the outermost attribute of a name is found
        self.observation_space = spaces.Box(0, 255, (parts.layout.size,), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        observation, info = self.env.reset(seed=seed, options=options)
        return self._row(observation, info), self._rest(info)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._row(observation, info), reward, terminated, truncated, self._rest(info)

    def _rest(self, info: dict) -> dict:
        return {} if self.ga3c_parts.layout.has(MASK) else info

    def _row(self, observation, info: dict) -> np.ndarray:
        mask = info[action_masks.KEY] if self.ga3c_parts.layout.has(MASK) else None
        return self.ga3c_parts.row(observation, mask)


def in_rows(name: str, make: Callable[[], gymnasium.Env], adapt: bool, divide: bool, mask_size: int) -> gymnasium.Env:
    """Returns the game `name` of `make()`, with rows of bytes if it has several parts or a mask. The rest is as in
    `Parts`. Raises ConfigError where no network can take what it shows."""
    game = make()
    known_spaces.check_observations(name, game.observation_space, adapt, divide)
    parts = Parts(game.observation_space, adapt, divide, mask_size)
    return Rows(game, parts) if parts.needed else game
