"""Gymnasium environments with discrete or bounded actions, registered or a user's own (package.module:EnvId)."""

import importlib
import os
import re
import sys
from functools import partial

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import iterate

from ga3c.environments import action_masks, checked, known_spaces, parts, ready_games, rendered
from ga3c.environments.action_masks import Masks
from ga3c.environments.checked import blaming
from ga3c.environments.observations import Observations
from ga3c.environments.restarted import Restarted, Restarts
from ga3c.errors import ConfigError
from ga3c.rollout import Actions, EnvironmentSpec
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings


def known_ids() -> list[str]:
    """Returns the registered ids, except Atari's, which are played directly, and those of our own `control`."""
    made_by = {name: spec.entry_point or spec.vector_entry_point for name, spec in gymnasium.registry.items()}
    return [name for name, maker in made_by.items() if not re.match("ale_py|ga3c", str(maker))]


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


class GymnasiumEnvironments:
    """A batch of `count` copies of one environment, stepped one after the other.

    `Observations` converts the observations, or `parts` where there are several, or masks of actions. Continuous
    actions are within -1 and 1, and are scaled to the bounds of the game. Without --adapt-spaces
    actions are clipped to the bounds. A ready vector environment (`ga3c.train`) is taken as it is, with as many games
    as it has.
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
        ready = named_objects.given(name)
        self._ready = ready if isinstance(ready, VectorEnv) else None
        if self._ready:
            count, restarts = ready_games.games_of(self._ready, count), None
        self._name, self._restarts, self._none, self._picture_size = name, restarts, np.zeros(count, bool), None
        self._seeds = [number % 2**31 for number in range(seed, seed + count)]
        self._make = partial(checked.make, name, settings, render_mode)
        self._adapt, self._divided = settings.adapt_spaces, settings.adapt_spaces and settings.observation != "flat"
        with blaming(f"Cannot make the game '{name}'"):
            self.env = self._ready or self._copies(mask_size=0)
        self._actions = self.env.single_action_space
        try:
            actions = known_spaces.actions(name, self._actions, self._adapt)
            with blaming(f"Cannot start the game '{name}'"):
                observations, actions = self._start(actions, settings.action_masks)
        except ConfigError:
            self.close()
            raise
        layout = self.parts.layout
        self.spec = EnvironmentSpec(
            name=name.rpartition(":")[2],
            observation_shape=observations.shape[1:],
            observation_dtype=str(observations.dtype),
            actions=actions,
            frames_per_step=1,
            layout=layout if self.parts.needed else None,
        )

    def _copies(self, mask_size: int) -> SyncVectorEnv:
        """Makes the copies of the game. `mask_size`: as in `parts.Parts`."""
        one = partial(parts.in_rows, self._name, self._make, self._adapt, self._divided, mask_size)
        copies = [
            partial(Restarted, one, number, seed, self._adapt, self._restarts) if self._restarts else one
            for number, seed in enumerate(self._seeds)
        ]
        return SyncVectorEnv(copies, autoreset_mode=AutoresetMode.NEXT_STEP)

    def _start(self, actions: Actions, with_masks: bool) -> tuple[np.ndarray, Actions]:
        """Starts the games, which first then say whether they have masks. Returns observations and the actions."""
        game = None if self._ready else self.env.envs[0]
        whole = self.env.single_observation_space
        if game and game.has_wrapper_attr("ga3c_parts"):
            whole = game.get_wrapper_attr("ga3c_parts").space
        if self._ready:
            known_spaces.check_observations(self._name, whole, self._adapt, self._divided)
            if with_masks:
                ready_games.check_masks(self._ready)
        observations, info = self._reset()
        masked = with_masks and action_masks.KEY in info and not actions.continuous
        mask_size = actions.policy_size if masked else 0
        self.parts = parts.Parts(whole, self._adapt, self._divided, mask_size)
        self._observations = Observations(whole, self._adapt)
        self._masks = [Masks(self._actions) for _ in self._seeds if masked]
        self._newest_masks = [None] * len(self._masks)
        if masked and not self._ready:
            self.env.close()
            self.env = self._copies(mask_size)
            observations, info = self._reset()
        return self._convert(observations, info, "reset()"), actions._replace(masked=masked)

    def _reset(self):
        return self.env.reset(seed=self._seeds[0] if self._ready else self._seeds)  # not all take a list

    def _convert(
        self, observations, info: dict, call: str, over: np.ndarray | None = None, begun: np.ndarray | None = None
    ) -> np.ndarray:
        """Returns the observations after a `call`, as the network gets them.

        over: bool [count], games that ended. begun: bool [count], the games that the call was for; None: all.
        """
        if not self.parts.needed:
            return self._observations.convert(observations, self.env.observation_space)
        if not self._ready:  # they are rows of bytes already
            return observations
        masks = [None] * len(self._seeds)
        if self._masks:
            over, given = self._none if over is None else over, info.get(action_masks.KEY, masks)
            begun = ~self._none if begun is None else begun
            for game in np.flatnonzero(begun):
                said = {action_masks.KEY: given[game]}
                self._newest_masks[game] = self._masks[game].of(said, call, over[game])[action_masks.KEY]
            masks = self._newest_masks
        items = iterate(self.env.observation_space, observations)
        return np.stack([self.parts.row(item, mask) for item, mask in zip(items, masks, strict=True)])

    def reset(self) -> np.ndarray:
        return self._convert(*self._reset(), "reset()")

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], one at the least). Returns all observations."""
        return self._convert(*self.env.reset(options={"reset_mask": envs}), "reset()", begun=envs)

    def step(self, actions: np.ndarray):
        observations, rewards, terminated, truncated, info = self.env.step(self.as_the_game_wants(actions))
        observations = self._convert(observations, info, "step()", terminated | truncated)
        return observations, rewards, terminated, truncated, np.zeros_like(terminated)

    @property
    def restarts_some(self) -> bool:
        """True if `restart` begins the marked games alone."""
        return not self._ready or ready_games.restarts_some(self._ready)

    @property
    def action_space(self) -> gymnasium.Space:
        """The space of the actions that the game wants."""
        return self._actions

    @property
    def lost(self) -> np.ndarray:
        """The copies whose last step failed, bool [count]. They show a new game, and the step does not count."""
        return np.array([copy.lost for copy in self.env.envs]) if self._restarts else self._none

    def as_the_game_wants(self, actions: np.ndarray) -> np.ndarray:
        """Returns actions as the game counts them, in its shape; continuous ones are within its bounds."""
        return known_spaces.as_the_game_wants(self._actions, actions, self._adapt)

    def shown(self, observation, mask=None) -> tuple[np.ndarray, bool]:
        """Returns an observation of the game, or a batch of them, as the network gets it, as `Parts.shown` says."""
        rows, single = self.parts.shown(observation, mask)
        return rows.astype(self.spec.observation_dtype, copy=False), single  # a choice alone: as `Observations` has it

    def start_lines(self, network: str) -> list[str]:
        """Returns the lines that a run prints at its start about observations, actions and the network."""
        return known_spaces.start_lines(self.parts.text(), self._actions, self._adapt, network)

    def pictures(self) -> np.ndarray:
        """Returns the pictures of all copies, uint8 [count, height, width, 3]; needs render_mode="rgb_array".

        All have the size of the first picture, since a video and a grid of games have one size.
        """
        pictures, self._picture_size = rendered.of_one_size(self.env.render(), self._picture_size)
        return pictures

    @property
    def pictures_per_second(self) -> float:
        """The game's own frame rate; 30 if it names none."""
        return rendered.pictures_per_second(self.env.metadata)

    def close(self) -> None:
        if not self._ready:  # it is the user's
            self.env.close()
