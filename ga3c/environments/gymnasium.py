"""Gymnasium environments with discrete or bounded actions, registered or a user's own (package.module:EnvId)."""

import importlib
import math
import os
import re
import reprlib
import sys
from functools import partial

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from ga3c.environments import checked
from ga3c.environments.checked import GameFault, blaming
from ga3c.environments.observations import Observations, batch_of, description
from ga3c.environments.restarted import Restarted, Restarts
from ga3c.errors import ConfigError
from ga3c.rollout import Actions, EnvironmentSpec, continuous, discrete, multidiscrete
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings

MOST_NUMBERS = 500_000  # of an observation that is no picture: a network's first layer has 128 weights for each


def known_ids() -> list[str]:
    """Returns the registered ids, except Atari's, which ale-py plays directly, and those of our own `control`."""
    return [name for name, spec in gymnasium.registry.items() if not re.match("ale_py|ga3c", str(spec.entry_point))]


def solved_at(name: str) -> float | None:
    """Returns the score from which Gymnasium calls a game solved; None if it has none."""
    spec = gymnasium.registry.get(name.rpartition(":")[2])
    return spec.reward_threshold if spec else None


def check_form(name: str) -> None:
    """Raises ConfigError if a name does not have the form package.module:EnvId."""
    module, _, env_id = name.partition(":")
    if not all(map(str.isidentifier, module.split("."))) or not re.fullmatch(r"([\w-]+/)?[\w.-]+", env_id):
        raise ConfigError(f"The game {name!r} is not of the form package.module:EnvId.")


def registered(name: str, what: str = "game") -> None:
    """Imports the module of package.module:EnvId, which registers the environment, or has the object of this name.

    what: game, or another setting that names an object. Raises ConfigError.
    """
    if named_objects.given(name):
        return
    if named_objects.is_of_no_module(name):
        named_objects.find(name, f"The {what}")  # says that it cannot be found
    check_form(name)
    module, _, env_id = name.partition(":")
    with blaming(f"Cannot import '{module}' of the {what} '{name}'"):
        importlib.import_module(module)
    if env_id not in gymnasium.registry and not named_objects.is_there(name):
        loaded = getattr(sys.modules.get(module), "__file__", None)
        hidden = [found for found in _files_of(module) if loaded is None or not os.path.samefile(found, loaded)]
        if hidden:
            raise ConfigError(
                f"Importing '{module}' loads {loaded or 'a module that is part of Python'}, which hides {hidden[0]}: "
                "give your module a name that no other has."
            )
        if what != "game":
            raise ConfigError(f"There is no {what} '{env_id}' in the module '{module}'.")
        raise ConfigError(f"Importing '{module}' registered no environment '{env_id}' with Gymnasium.")


def _files_of(module: str) -> list[str]:
    """Returns all files on the module path that could be this module."""
    parts = os.path.join(*module.split("."))
    names = [os.path.join(folder, f"{parts}{end}") for folder in sys.path for end in (".py", f"{os.sep}__init__.py")]
    return [name for name in names if os.path.isfile(name)]


def _actions(name: str, space: spaces.Space, adapt: bool) -> Actions:
    """Returns the program's description of an action space. Raises ConfigError."""
    if isinstance(space, spaces.Discrete):
        return discrete(int(space.n))
    if isinstance(space, spaces.MultiDiscrete):
        return multidiscrete(space.nvec.ravel())
    if isinstance(space, spaces.MultiBinary):
        return multidiscrete([2] * math.prod(space.shape))
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


def _check_observations(name: str, space: spaces.Space, are_pictures: bool) -> None:
    """Raises ConfigError if no network can take observations of this space."""
    what = f"The game '{name}' has the observation space {reprlib.repr(space)}"
    try:
        numbers = spaces.flatdim(space)
    except (ValueError, NotImplementedError) as error:
        raise ConfigError(f"{what}, whose observations have no fixed size: use a Box, or a Dict of them.") from error
    if numbers == 0:
        raise ConfigError(f"{what}, which holds no number: a policy needs something to see.")
    if numbers > MOST_NUMBERS and not are_pictures:
        raise ConfigError(
            f"{what}, which is {numbers:,} numbers for the network (a Discrete is one for each state), and it takes "
            f"{MOST_NUMBERS:,} at the most: show the state by fewer, in a Box."
        )


def _games_of(ready: VectorEnv, count: int) -> int:
    """Returns the number of games of a ready vector environment. Raises ConfigError if it cannot play `count`."""
    if ready.metadata.get("autoreset_mode") not in (None, AutoresetMode.NEXT_STEP):
        raise ConfigError(
            "A vector environment starts a game anew in the step after its end: make it with "
            "autoreset_mode=AutoresetMode.NEXT_STEP."
        )
    if count > ready.num_envs:
        raise ConfigError(f"The vector environment has {ready.num_envs} games, and {count} are asked for.")
    return ready.num_envs


def _sized(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns a picture [height, width, 3], scaled if it has another size."""
    if picture.shape[:2] == (height, width):
        return picture
    rows, columns = (np.arange(new) * old // new for new, old in zip((height, width), picture.shape, strict=False))
    return picture[rows][:, columns]


class GymnasiumEnvironments:
    """A batch of `count` copies of one environment, stepped one after the other.

    `Observations` converts the observations. Continuous actions are within -1 and 1, and are scaled to the bounds of
    the game. Without --adapt-spaces, as in older versions, actions are clipped to the bounds. A ready vector
    environment (`ga3c.train`) is taken as it is, with as many games as it has.
    """

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        count: int,
        seed: int,
        render_mode: str | None = None,
        restarts: Restarts | None = None,
    ):
        """A copy whose own code fails is made again by `restarts`, or raises its exception if there is none."""
        if ":" in name:
            registered(name)
        ready, adapt = named_objects.given(name), settings.adapt_spaces
        self._ready = ready if isinstance(ready, VectorEnv) else None
        if self._ready:
            count, restarts = _games_of(self._ready, count), None
        self._seeds = [number % 2**31 for number in range(seed, seed + count)]
        one = partial(checked.make, name, settings, render_mode)
        self._restart, self._none = bool(restarts), np.zeros(count, bool)
        copies = [
            partial(Restarted, one, i, own, adapt, restarts) if restarts else one for i, own in enumerate(self._seeds)
        ]
        with blaming(f"Cannot make the game '{name}'"):
            self.env = self._ready or SyncVectorEnv(copies, autoreset_mode=AutoresetMode.NEXT_STEP)
        space, actions = self.env.single_observation_space, self.env.single_action_space
        self._observations, self._actions, self._adapt = Observations(space, adapt), actions, adapt
        self._picture_size: tuple[int, int] | None = None
        try:
            known_actions = _actions(name, actions, adapt)
            _check_observations(name, space, self._observations.dtype == "uint8")
            with blaming(f"Cannot start the game '{name}'"):
                shape = self.reset().shape[1:]
        except ConfigError:
            self.close()
            raise
        self.spec = EnvironmentSpec(
            name=name.rpartition(":")[2],
            observation_shape=shape,
            observation_dtype=self._observations.dtype,
            actions=known_actions,
            frames_per_step=1,
        )

    def _convert(self, observations) -> np.ndarray:
        return self._observations.convert(observations, self.env.observation_space)

    def reset(self) -> np.ndarray:
        seeds = self._seeds[0] if self._ready else self._seeds  # not every vector environment takes a list
        return self._convert(self.env.reset(seed=seeds)[0])

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], one at the least). Returns all observations."""
        return self._convert(self.env.reset(options={"reset_mask": envs})[0])

    def step(self, actions: np.ndarray):
        observations, rewards, terminated, truncated, _ = self.env.step(self.as_the_game_wants(actions))
        return self._convert(observations), rewards, terminated, truncated, np.zeros_like(terminated)

    @property
    def lost(self) -> np.ndarray:
        """The copies whose last step failed, bool [count]. They show a new game, and the step does not count."""
        return np.array([copy.lost for copy in self.env.envs]) if self._restart else self._none

    def as_the_game_wants(self, actions: np.ndarray) -> np.ndarray:
        """Returns actions as the game counts them, in its shape; continuous ones are within its bounds."""
        space = self._actions
        if isinstance(space, spaces.Discrete):
            return actions + int(space.start)
        actions = actions.reshape(-1, *space.shape)
        if isinstance(space, spaces.MultiDiscrete):
            return actions + space.start
        if isinstance(space, spaces.MultiBinary):
            return actions.astype(space.dtype)
        if self._adapt:
            low, high = space.low.astype(np.float64), space.high.astype(np.float64)
            actions = (low / 2 + high / 2) + np.clip(actions, -1, 1) * (high / 2 - low / 2)
        return np.clip(actions, space.low, space.high).astype(space.dtype)

    def shown(self, observation) -> tuple[np.ndarray, bool]:
        """Returns an observation of the game, or a batch of them, as the network gets it, [batch, ...]; and whether
        there was a single one. Raises ConfigError if it is none of the game."""
        batch, single = batch_of(self.env.single_observation_space, observation)
        return self._convert(batch), single

    def start_lines(self, network: str) -> list[str]:
        """Returns the lines that a run prints at its start about observations, actions and the network."""
        kind = "fully connected" if network.endswith("mlp") else "your own" if ":" in network else "convolutional"
        seen, space = self._observations.description(self.spec.observation_shape), self._actions
        lines = [f"Observations: {seen}; network: {network} ({kind})."]
        if self.spec.actions.continuous and self._adapt and not ((space.low == -1) & (space.high == 1)).all():
            bounds = description(space)
            lines.append(f"Actions: {bounds}; the policy acts from -1 to 1, which is scaled to these bounds.")
        return lines

    def pictures(self) -> np.ndarray:
        """Returns the pictures of all copies, uint8 [count, height, width, 3]; needs render_mode="rgb_array".

        All have the size of the first picture, since a video and a grid of games have one size.
        """
        pictures = [np.asarray(picture) for picture in self.env.render()]
        for picture in pictures:
            if not (picture.ndim == 3 and picture.shape[2] == 3 and picture.size and picture.dtype == np.uint8):
                raise GameFault("render() returned no picture, uint8 [height, width, 3], in the mode rgb_array")
        height, width = self._picture_size = self._picture_size or pictures[0].shape[:2]
        return np.stack([_sized(picture, height, width) for picture in pictures])

    @property
    def pictures_per_second(self) -> float:
        """The game's own frame rate; 30 if it names none."""
        wanted = self.env.metadata.get("render_fps")
        return float(wanted) if isinstance(wanted, int | float) and 0 < wanted <= 1000 else 30.0

    def close(self) -> None:
        if not self._ready:  # it is the user's
            self.env.close()
