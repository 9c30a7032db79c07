"""A Gymnasium vector environment of Atari games. Its page is README.md."""

import difflib
from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ga3c.atari import on_gpu
from ga3c.atari.batch import Batch, prepare
from ga3c.atari.names import rom_of
from ga3c.atari.rules import Rules, check_number, is_seed
from ga3c.atari.saved import SavedGames
from ga3c.emulator import step
from ga3c.emulator.state import RAM_BYTES
from ga3c.machine import usable_cores

MOST_GAMES = 100_000
FRAMES_PER_SECOND = 60
_ARGUMENTS = ("game", "num_envs", "autoreset_mode", "render_mode", "threads", "device")


class AtariVectorEnv(VectorEnv):
    """Copies of one Atari game that step together; `rules` are the fields of `rules.Rules`.

    Observations are uint8: pictures [num_envs, stack_num, height, width], with a last axis of 3 for "rgb", or the
    consoles' memory, [num_envs, 128]. Each call returns new arrays. `threads`: 0 is one for each core. With
    device="cuda" observations, rewards and ends are arrays in a GPU's memory, which others take by DLPack.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        threads: int = 0,
        device: str = "cpu",
        **rules,
    ):
        check_number("num_envs", num_envs, 1, MOST_GAMES)
        check_number("threads", threads, 0, 1024)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode={render_mode!r}: give 'rgb_array' or None.")
        self._mode = _autoreset_mode(autoreset_mode)
        made, rom = _rules(rules), rom_of(game)
        kind = _kind(device, rom, made)
        prepare()
        self.num_envs, self.render_mode = num_envs, render_mode
        seeds = np.random.SeedSequence().generate_state(num_envs) >> 1
        self.batch = kind(rom, made, seeds.astype(np.int64), threads or usable_cores())
        if render_mode:
            self.batch.draw()
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": FRAMES_PER_SECOND / made.frameskip,
            "autoreset_mode": self._mode,
        }
        self.single_observation_space = Box(0, 255, self.batch.shown_shape, np.uint8)
        self.single_action_space = Discrete(len(self.batch.actions))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._saved = SavedGames(rom, self.batch)
        self._has_begun = False

    @cached_property
    def observation_space(self) -> Box:
        """The space of all observations. Its bounds take four times their memory: it is made when asked for."""
        return batch_space(self.single_observation_space, self.num_envs)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None):
        """Begins new games, of all or of those that options["reset_mask"] (bool [num_envs]) marks.

        A seed switches consoles on anew, so that their games are those of a new environment: game number n has seed +
        n, or its own of a list (None: it goes on as it is). Returns (observations, info) of all games.
        """
        self._check_open()
        which = self._mask(options)
        if not (self._has_begun or which.all()):
            raise ResetNeeded("The first reset begins all games: give no reset_mask.")
        seeds = self._seeds(seed)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        seeded = which & (seeds >= 0)
        if seeded.any():
            self.batch.seed(seeded, seeds)
        self.batch.restart(which)
        self._has_begun = True
        return self.batch.shown(), self._info()

    def step(self, actions):
        """Takes an action in each game. Returns (observations, rewards, terminations, truncations, info)."""
        self._check_begun("step")
        consoles, numbers = self.batch.consoles, self._numbers(actions)
        if self._mode == AutoresetMode.DISABLED and consoles.ended.any():
            number = int(np.flatnonzero(consoles.ended)[0])
            raise ResetNeeded(f"Game {number} has ended: call reset(options={{'reset_mask': ...}}) with it first.")
        room = self.batch.room()
        self.batch.step(numbers, room)
        observations = self.batch.shown() if room is None else room
        info, over = self._info(), consoles.ended > 0
        ends = consoles.rewards.astype(np.float64), consoles.ended & step.OVER > 0, consoles.ended & step.CUT > 0
        if self._mode == AutoresetMode.SAME_STEP and over.any():
            info = self._final(observations, info, over)
            self.batch.restart(over, room)
            info["lives"] = consoles.lives.copy()
            observations = self.batch.shown() if room is None else room
        return observations, *map(self.batch.given, ends), info

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Returns the last picture of each game, uint8 [height, width, 3]; None without a render mode."""
        if self.render_mode is None:
            return None
        return tuple(self.batch.pictures())

    def clone(self, envs: Sequence[int] | None = None) -> list[bytes]:
        """Returns the whole state of each of these games (all, if None), from which its future follows bit for bit."""
        self._check_begun("clone")
        return self._saved.clone(self._games(envs))

    def restore(self, envs: Sequence[int], states: Sequence[bytes]):
        """Puts games into states that `clone` returned, in this or in another process. Returns as `reset` does.

        Raises ValueError, and changes nothing, if a state is of another game or version, of other observations, or
        damaged.
        """
        self._check_begun("restore")
        self._saved.restore(self._games(envs), states)
        return self.batch.shown(), self._info()

    @property
    def ram(self) -> np.ndarray:
        """The consoles' memory, uint8 [num_envs, 128]. On cores it is not a copy: what is written to it, games read."""
        return self.batch.ram

    @ram.setter
    def ram(self, values: np.ndarray) -> None:
        if getattr(values, "dtype", None) != np.uint8 or values.shape != (self.num_envs, RAM_BYTES):
            raise ValueError(f"ram: give an array uint8 [{self.num_envs}, {RAM_BYTES}].")
        self.batch.ram = values

    @property
    def action_names(self) -> list[str]:
        """The names of the actions: NOOP, FIRE, UPRIGHT, ..."""
        return self.batch.action_names

    def close_extras(self, **kwargs: Any) -> None:
        self.batch.close()

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("This environment is closed.")

    def _check_begun(self, call: str) -> None:
        self._check_open()
        if not self._has_begun:
            raise ResetNeeded(f"Call reset() before {call}().")

    def _info(self) -> dict[str, np.ndarray]:
        return {"lives": self.batch.consoles.lives.copy(), "_lives": np.ones(self.num_envs, bool)}

    def _final(self, observations: np.ndarray, info: dict, over: np.ndarray) -> dict:
        """Returns the info with the last observation of each game that is over, and what its info was."""
        info, observations = dict(info), np.asarray(observations)
        for game in np.flatnonzero(over):
            last = {"lives": info["lives"][game]}
            info = self._add_info(info, {"final_obs": observations[game].copy(), "final_info": last}, int(game))
        return info

    def _mask(self, options: dict[str, Any] | None) -> np.ndarray:
        options = dict(options or {})
        mask = options.pop("reset_mask", np.ones(self.num_envs, bool))
        if options:
            raise ValueError(f"Unknown option {next(iter(options))!r}: reset knows reset_mask alone.")
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype.kind != "b"
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise ValueError(f"reset_mask: give an array bool [{self.num_envs}] with one True or more.")
        return mask

    def _seeds(self, seed) -> np.ndarray:
        """Returns the seed of each game, int64 [num_envs]; -1 where there is none."""
        if seed is None:
            return np.full(self.num_envs, -1)
        if is_seed(seed):
            return np.arange(int(seed), int(seed) + self.num_envs)
        seeds = list(seed) if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes)) else []
        if len(seeds) != self.num_envs or not all(one is None or is_seed(one) for one in seeds):
            raise ValueError(f"seed={seed!r}: give a whole number from 0 on, or one (or None) for each of the games.")
        return np.array([-1 if one is None else one for one in seeds], np.int64)

    def _numbers(self, actions) -> np.ndarray:
        """Returns ALE's numbers of actions. Raises ValueError."""
        actions, most = self.batch.on_host(actions), len(self.batch.actions) - 1
        if actions.dtype.kind not in "iu" or actions.shape != (self.num_envs,):
            raise ValueError(f"actions: give {self.num_envs} whole numbers, one for each game.")
        if actions.min() < 0 or actions.max() > most:
            raise ValueError(f"actions: they go from 0 to {most}, and here from {actions.min()} to {actions.max()}.")
        return self.batch.actions[actions]

    def _games(self, envs: Sequence[int] | None) -> np.ndarray:
        """Returns numbers of games, int64. Raises ValueError."""
        numbers = np.arange(self.num_envs) if envs is None else np.asarray(envs)
        is_empty = numbers.shape == (0,)
        is_list = numbers.ndim == 1 and numbers.dtype.kind in "iu"
        if not is_empty and not (is_list and numbers.min() >= 0 and numbers.max() < self.num_envs):
            raise ValueError(f"envs: give a list of numbers of games, from 0 to {self.num_envs - 1}.")
        return numbers.astype(np.int64)


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        choices = ", ".join(repr(one.value) for one in AutoresetMode)
        raise ValueError(f"autoreset_mode={mode!r}: give an AutoresetMode, or one of {choices}.") from None


def _kind(device: str, rom: str, rules: Rules) -> type[Batch]:
    """Returns the batch for a device. Raises ValueError if it cannot play the game."""
    if device == "cpu":
        return Batch
    if device != "cuda":
        raise ValueError(f"device={device!r}: give 'cpu' or 'cuda'.")
    reason = on_gpu.obstacle(rom, rules.repeat_action_probability > 0, "use_fire_reset" * rules.use_fire_reset)
    if not rules.of_states:
        reason = "on the GPU observations are small grey pictures (observation='grey', pool='max', a size)"
    if reason:
        raise ValueError(f"device='cuda' is not possible: {reason}.")
    from ga3c.atari.gpu_batch import GpuBatch

    return GpuBatch


def _rules(given: dict[str, Any]) -> Rules:
    names = [field.name for field in fields(Rules)]
    if unknown := [name for name in given if name not in names]:
        near = difflib.get_close_matches(unknown[0], [*_ARGUMENTS, *names], n=3, cutoff=0.5)
        hint = f"Nearest: {', '.join(near)}." if near else f"There are {', '.join([*_ARGUMENTS, *names])}."
        raise TypeError(f"AtariVectorEnv has no argument {unknown[0]!r}. {hint}")
    return Rules(**given)
