"""Recorded games to be learned from: each step with its action and the return that followed it, in memory."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ga3c import environments
from ga3c.datasets import folders, making, short_form, spaces_json
from ga3c.datasets.about import settings_of
from ga3c.datasets.making import Target
from ga3c.datasets.minari_reader import MinariData
from ga3c.environments import known_spaces
from ga3c.environments.game_fault import GameFault
from ga3c.environments.observations import description
from ga3c.environments.reward_scale import RewardScale
from ga3c.errors import ConfigError
from ga3c.machine import memory_available
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings


@dataclass(frozen=True)
class Demonstrations:
    """The steps of recorded games. Pictures that several stacks share are held once."""

    pictures: np.ndarray  # [pictures, height, width], or observations [steps, ...] where stack is 0
    first: np.ndarray  # int64 [steps]: the oldest picture of the stack
    stack: int  # pictures of an observation
    actions: np.ndarray  # [steps, ...], as the agent counts them
    returns: np.ndarray  # float32 [steps]

    def __len__(self) -> int:
        return len(self.actions)

    def rows(self, which: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the fields that `algorithms.clone` learns from, [1, count, ...] each, of these steps."""
        if self.stack:
            shown = np.moveaxis(self.pictures[self.first[which, None] + np.arange(self.stack)], 1, -1)
        else:
            shown = self.pictures[self.first[which]]
        fields = {"observation": shown, "action": self.actions[which], "value": self.returns[which]}
        return {name: field[None] for name, field in fields.items()} | {"valid": np.ones((1, len(which)), np.bool_)}


def described(dataset: str) -> tuple[Settings | None, int]:
    """Returns the settings of the agent that has played, None where another program has recorded it; and the steps.

    dataset: as the user names it. Raises ConfigError.
    """
    data = folders.data_of(dataset)
    if data.is_file():
        short = short_form.read(data)
        return short.settings, int(short.lengths.sum())
    found = MinariData.of(data)
    try:
        return (settings_of(found.own) if found.own else None), found.steps
    except (KeyError, TypeError) as error:
        raise ConfigError(f"Cannot read the data set in {data}: the settings saved in it cannot be used.") from error


def read(settings: Settings, spec: EnvironmentSpec) -> Demonstrations:
    """Reads the data set that the settings name, for an agent of which `spec` says what it sees and does.

    Raises ConfigError.
    """
    with contextlib.ExitStack() as stack:
        data = folders.data_of(settings.learning.dataset)
        if data.is_file():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "whole"
            known = short_form.read(data).settings.environment == settings.environment  # its code is loaded
            short = making.read_short(data, trusted=known)
            making.expand(short, Target(short.name, folder, short=False))
            data = folder / "data"
        return _Reading(MinariData.of(data), settings, spec).all()


class _Reading:
    """Turns the games of a data set into what an agent learns from."""

    def __init__(self, data: MinariData, settings: Settings, spec: EnvironmentSpec):
        self._data, self._settings, self._spec = data, settings, spec
        self._games = environments.closed(settings.environment)
        self._what = f"--dataset {settings.learning.dataset}"
        self._stack = spec.stacked_frames if spec.stacked_frames > 1 else 0
        scaling = settings.environment
        discount, limit = scaling.reward_scaling_discount, scaling.reward_scaling_limit
        self._scale = RewardScale(1, discount, limit) if discount else None

    def all(self) -> Demonstrations:
        pictures, first, actions, returns, held, shown_so_far, bytes_held = [], [], [], [], 0, 0, 0
        most = memory_available() or np.inf
        for game in filter(lambda game: len(game.rewards), self._data.games()):
            for shown in self._pictures(game.observations, len(game.rewards)):
                pictures.append(shown)
                shown_so_far, bytes_held = shown_so_far + len(shown), bytes_held + shown.nbytes
                if 2 * bytes_held > 0.9 * most:  # they are put together in one array
                    raise ConfigError(f"{self._what} needs more than the memory of this machine: take fewer games.")
            first.append(held + np.arange(len(game.rewards)))
            held += len(game.rewards) + max(0, self._stack - 1)
            if shown_so_far != held:
                raise ConfigError(f"{self._what} has a game without an observation for each of its steps.")
            if len(game.actions) != len(game.rewards):
                raise ConfigError(f"{self._what} has a game without an action for each of its steps.")
            actions.append(self._actions(game.actions))
            returns.append(self._returns(game.rewards))
        if not actions:
            raise ConfigError(f"{self._what} holds no game.")
        return Demonstrations(
            pictures=np.concatenate(pictures),
            first=np.concatenate(first),
            stack=self._stack,
            actions=np.concatenate(actions),
            returns=np.concatenate(returns),
        )

    def _pictures(self, batches: Iterator[Any], steps: int) -> Iterator[np.ndarray]:
        """Yields what the agent has seen in a game: stacks as the pictures in them, each once, the first stack whole.

        The observation after the last step is left out.
        """
        newest = None
        for batch in batches:
            shown = self._shown(batch)[:steps]
            steps -= len(shown)
            if not self._stack:
                yield np.array(shown)
                continue
            if not len(shown):
                return
            whole = shown if newest is None else np.concatenate([newest, shown])
            if not np.array_equal(whole[:-1, ..., 1:], whole[1:, ..., :-1]):
                raise ConfigError(
                    f"{self._what}: its observations are not the newest {self._stack} pictures of a game."
                )
            if newest is None:
                yield np.ascontiguousarray(np.moveaxis(shown[0, ..., :-1], -1, 0))
            yield np.ascontiguousarray(np.moveaxis(shown[..., -1:], -1, 1)[:, 0])
            newest = shown[-1:]

    def _shown(self, batch: Any) -> np.ndarray:
        """Returns a batch of recorded observations as the agent sees them. Raises ConfigError."""
        spec = self._spec
        if getattr(batch, "shape", ((),))[1:] == spec.observation_shape and batch.dtype == spec.observation_dtype:
            return batch
        if hasattr(self._games, "shown"):
            # Spaces of Gymnasium raise what they like for what does not lie in them.
            with contextlib.suppress(ConfigError, GameFault, IndexError, KeyError, TypeError, ValueError):
                return self._games.shown(batch)[0]
        theirs, ours = description(self._data.observations), description(spaces_json.of_observations(spec))
        raise ConfigError(
            f"{self._what} shows {theirs}, and the agent sees {ours}: give the flags of the game that it was recorded "
            "with, or name another data set."
        )

    def _actions(self, actions: np.ndarray) -> np.ndarray:
        """Returns recorded actions as the agent counts them. Raises ConfigError."""
        kind, theirs = self._spec.actions, self._data.actions
        adapt = self._settings.environment.adapt_spaces
        if known_spaces.actions(self._settings.learning.dataset, theirs, adapt) == kind._replace(masked=False):
            found = known_spaces.as_the_agent_acts(theirs, actions, adapt)
            found = found.reshape(-1, *kind.shape).astype(kind.dtype)
            if kind.allowed(found):
                return found
        raise ConfigError(
            f"{self._what} has the actions {description(theirs)}, and this game has {kind}: name another data set."
        )

    def _returns(self, rewards: np.ndarray) -> np.ndarray:
        """Returns the discounted return that followed each step of a game, of rewards that are scaled and clipped as in
        training."""
        clip, discount = self._settings.environment.reward_clip, self._settings.learning.discount
        if self._scale:
            ends, moved = np.arange(len(rewards)) == len(rewards) - 1, np.ones(1, np.bool_)
            steps = zip(np.asarray(rewards, np.float64), ends, strict=True)
            rewards = np.array([self._scale.scaled(np.array([r]), moved, np.array([end]))[0] for r, end in steps])
        rewards = np.clip(rewards, -clip, clip) if clip else rewards
        returns, following = np.zeros(len(rewards), np.float32), 0.0
        for step in range(len(rewards) - 1, -1, -1):
            returns[step] = following = rewards[step] + discount * following
        return returns
