"""Atari 2600 games on our own console, in compiled code: what `atari` gives, and faster."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import ale_py
import numpy as np
from ale_py import roms

from ga3c.emulator import divergence, games, step
from ga3c.emulator.compiled import is_missing, one_at_a_time
from ga3c.emulator.divergence import Count
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.palette import NTSC_GREY, NTSC_RGB, PAL_GREY, PAL_RGB
from ga3c.emulator.saved_state import read_into
from ga3c.emulator.setups import new_record
from ga3c.emulator.shrink import cover
from ga3c.environments.atari import display_name
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.game import EnvironmentSettings

ALL_ACTIONS, PAL_LINES = np.arange(18), 250
STARTS = 16
DRAWS = 1024  # numbers that decide on sticky actions, drawn at once


class Beginnings(NamedTuple):
    """How ale-py begins a game, the first times that it does."""

    rom: np.ndarray  # uint8, as the console reads it
    records: np.ndarray  # uint8 [STARTS, SIZE]
    pictures: np.ndarray  # uint8 [STARTS, height, width]


@cache
def beginnings(rom: str) -> Beginnings:
    """In some games the first states differ: ale-py draws what a timer holds then, from the same seed in all. A game
    that has begun STARTS times begins as at first again."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.loadROM(roms.get_rom_path(rom))
    records, pictures = [], []
    for _ in range(STARTS):
        ale.reset_game()
        record, data = new_record(rom, roms.get_rom_path(rom).read_bytes())
        read_into(record, ale.cloneState().serialize())
        records.append(record)
        pictures.append(ale.getScreen())
    return Beginnings(data, np.stack(records), np.stack(pictures))


def prepare() -> None:
    """Compiles what plays, if no start has done so before: once, not in each agent, nor in runs that start together."""
    if not is_missing(step.step):
        return
    print("Compiling the emulator: about a minute, only this once.", file=sys.stderr, flush=True)
    with one_at_a_time():
        pong = OwnAtariEnvironments("pong", EnvironmentSettings(game="Pong"), 1, 0)
        pong.reset()
        pong.step(np.zeros(1, np.int64))


class OwnAtariEnvironments:
    """`count` copies of one Atari game, with the interface of `atari.AtariEnvironments`: the same seeds and actions
    give the same observations, rewards, lives and ends."""

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int, threads: int = 1):
        size, stack = settings.frame_size_pixels, settings.frame_stack
        begin = beginnings(rom)
        self.picture_shape = height, width = begin.pictures.shape[1:]
        skip = settings.frame_skip_frames
        used = np.array(GAMES[rom].actions.split(), np.int64)
        self._actions = ALL_ACTIONS if settings.full_action_set else used
        self.action_names = [ale_py.Action(number).name for number in self._actions]  # FIRE, UPRIGHT, ...
        self._game = step.Game(
            rom=begin.rom,
            starts=begin.records,
            start_pictures=begin.pictures.reshape(STARTS, -1),
            reading=games.reading(rom),
            grey=PAL_GREY if height == PAL_LINES else NTSC_GREY,
            rows=cover(height, size),
            columns=cover(width, size),
            frame_skip=skip,
            cap_frames=settings.episode_cap_frames,
            fire=settings.fire_reset and step.FIRE in self._actions,
            sticky=settings.sticky_action_probability,
        )
        draws = DRAWS if self._game.sticky else 0
        self.consoles = step.consoles(count, begin.records.shape[1], height * width, size, stack, draws)
        self._parts = [slice(count * part // threads, count * (part + 1) // threads) for part in range(threads)]
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self._no_op_max_steps = settings.no_op_max_steps
        seeds = np.arange(seed, seed + count) % 2**31
        self._random = [np.random.RandomState(one)._bit_generator for one in seeds]
        self._sticky = [np.random.RandomState(one) for one in seeds if draws]
        self._no_ops = np.zeros(count, np.int64)
        self._draw(np.ones(count, bool))
        self._life_loss_terminates = settings.life_loss_terminates
        self.spec = EnvironmentSpec(
            name=display_name(rom),
            observation_shape=(size, size, stack),
            observation_dtype="uint8",
            actions=discrete(len(self._actions)),
            frames_per_step=skip,
            stacked_frames=stack,
        )

    def _draw_sticky(self) -> None:
        """So that no console runs out of numbers within a step or the no-ops of a start."""
        if not self._game.sticky:
            return
        draws, drawn = self.consoles.draws, self.consoles.drawn
        for env in np.flatnonzero(DRAWS - drawn < max(self._no_op_max_steps, self._game.frame_skip)):
            left = draws[env, drawn[env] :]
            draws[env] = np.append(left, self._sticky[env].random_sample(DRAWS - len(left)))
            drawn[env] = 0

    def _draw(self, which: np.ndarray) -> None:
        """How many no-ops the next game of these begins with, drawn as ale-py's vector environment draws."""
        if self._no_op_max_steps:
            for env in np.flatnonzero(which):
                self._no_ops[env] = int(self._random[env].random_raw()) * self._no_op_max_steps >> 32

    def reset(self) -> np.ndarray:
        return self.restart(np.ones(len(self._no_ops), bool))

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], one at the least). Returns all observations."""
        self._draw_sticky()
        step.restart(self._game, self.consoles, envs, self._no_ops)
        self._draw(envs)
        return self.consoles.states

    def step(self, actions: np.ndarray):
        consoles = self.consoles
        restarted, lives = consoles.ended > 0, consoles.lives.copy()
        self._draw_sticky()
        self._step(self._actions[actions])
        if restarted.any():
            self._draw(restarted)
        life_lost = (consoles.lives < lives) & self._life_loss_terminates
        terminated, truncated = consoles.ended & step.OVER > 0, consoles.ended & step.CUT > 0
        return consoles.states, consoles.rewards.copy(), terminated, truncated, life_lost

    def _step(self, actions: np.ndarray) -> None:
        """With several threads each steps a part of the consoles: compiled code runs side by side."""

        def of_part(part: slice) -> None:
            consoles = step.Consoles(*(field[part] for field in self.consoles))
            step.step(self._game, consoles, actions[part], self._no_ops[part])

        if self._threads is None:
            step.step(self._game, self.consoles, actions, self._no_ops)
        else:
            list(self._threads.map(of_part, self._parts))

    def divergence(self, part: slice, actions: np.ndarray, by_lines: bool) -> Count:
        """How much these copies would hold each other up as the threads of a warp, in the step that comes next."""
        records = self.consoles.records[part].copy()
        return divergence.count(records, self._game.rom, self._actions[actions[part]], self._game.frame_skip, by_lines)

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()


class OwnAtariScreen:
    """The colour pictures of games on our own console: those that the agent sees, in grey and shrunken."""

    def __init__(self, games: OwnAtariEnvironments, frame_skip_frames: int):
        self._consoles, self._skip, self._shape = games.consoles, frame_skip_frames, (-1, *games.picture_shape, 3)
        self._colours = PAL_RGB if games.picture_shape[0] == PAL_LINES else NTSC_RGB
        self._seen = self._newest(0)
        self._frames = np.zeros(len(self._seen), np.int64)
        self.action_names = games.action_names

    def _newest(self, frames_before: int) -> np.ndarray:
        """What the television showed then."""
        consoles = self._consoles
        which = consoles.turns ^ 1 ^ frames_before
        return self._colours[consoles.pictures[np.arange(len(which)), which]]

    def reset(self) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        self._seen, self._frames[:] = self._newest(0), 0
        return self._seen.reshape(self._shape)

    def step(self, actions: np.ndarray) -> np.ndarray:
        """After the games' own step. The last two frames are seen, but not the one that ends a game.

        Returns the pictures, uint8 [count, height, width, 3].
        """
        consoles, last, before = self._consoles, self._newest(0), self._newest(self._skip > 1)
        ended, begun = (consoles.ended > 0)[:, None, None], (consoles.frames == 0)[:, None, None]
        whole = (consoles.frames - self._frames == self._skip)[:, None, None] & (self._skip > 1)
        at_end = np.where(whole, np.maximum(self._seen, before), self._seen)
        self._seen = np.where(begun, last, np.where(ended, at_end, np.maximum(last, before)))
        self._frames = consoles.frames.copy()
        return self._seen.reshape(self._shape)

    def close(self) -> None:
        pass
