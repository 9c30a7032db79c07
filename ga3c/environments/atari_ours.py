"""Atari 2600 games of our own emulator, in compiled code: as `atari`, but faster."""

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import ale_py
import numpy as np
from ale_py import roms

from ga3c.emulator import divergence, games, state, step
from ga3c.emulator.compiled import SOURCES, is_missing, one_at_a_time
from ga3c.emulator.divergence import Count
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.palette import NTSC_GREY, NTSC_RGB, PAL_GREY, PAL_RGB
from ga3c.emulator.picture import WIDTH
from ga3c.emulator.shrink import cover
from ga3c.emulator.soundness import are_sound, is_within
from ga3c.emulator.starts import ORDER, Starts
from ga3c.environments.atari import spec_of
from ga3c.settings.game import EnvironmentSettings

ALL_ACTIONS, PAL_LINES = np.arange(18), 250
DRAWS = 1024  # random numbers for sticky actions, drawn at once
MOST_NO_OPS = 1000  # the largest number that the settings allow
GENERATOR_WORDS = 624  # of a Mersenne twister; its state has one word more, the number of used words


@cache
def starts_of(rom: str) -> Starts:
    """Returns the starts of a game, which all games of this process share."""
    return Starts(rom, roms.get_rom_path(rom).read_bytes())


def prepare() -> None:
    """Compiles the emulator if its code is not cached: once, and not in each agent, nor in runs that start together."""
    if not is_missing(step.step):
        return
    print("Compiling the emulator: half a minute to a minute, only this once.", file=sys.stderr, flush=True)
    with one_at_a_time():
        pong = OwnAtariEnvironments("pong", EnvironmentSettings(game="Pong"), 1, 0)
        pong.reset()
        pong.step(np.zeros(1, np.int64))


def _states_of(generators: list) -> np.ndarray:
    """Returns the states of Mersenne twisters, uint32 [generators, words + 1]."""
    states = [generator.state["state"] for generator in generators]
    rows = [np.append(state["key"], np.uint32(state["pos"])) for state in states]
    return np.array(rows, np.uint32).reshape(-1, GENERATOR_WORDS + 1)


def _set_states(generators: list, states: np.ndarray) -> None:
    for generator, row in zip(generators, states, strict=True):
        generator.state = {"bit_generator": "MT19937", "state": {"key": row[:-1], "pos": int(row[-1])}}


class OwnAtariEnvironments:
    """A batch of `count` copies of one Atari game, with the interface of `atari.AtariEnvironments`.

    The same seeds and actions give the same observations, rewards, lives and ends.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int, threads: int = 1):
        size, stack = settings.frame_size_pixels, settings.frame_stack
        self._starts = starts = starts_of(rom)
        self.picture_shape = height, width = starts.height, WIDTH
        skip = settings.frame_skip_frames
        used = np.array(GAMES[rom].actions.split(), np.int64)
        self._actions = ALL_ACTIONS if settings.full_action_set else used
        self.action_names = [ale_py.Action(number).name for number in self._actions]  # FIRE, UPRIGHT, ...
        self._game = step.Game(
            rom=starts.rom,
            starts=starts.records,
            start_pictures=starts.pictures,
            order=ORDER,
            reading=games.reading(rom),
            grey=PAL_GREY if height == PAL_LINES else NTSC_GREY,
            rows=cover(height, size),
            columns=cover(width, size),
            frame_skip=skip,
            cap_frames=settings.episode_cap_frames,
            copies_starts=not starts.reads_what_is_left,
            fire=settings.fire_reset and step.FIRE in self._actions,
            sticky=settings.sticky_action_probability,
        )
        draws = DRAWS if self._game.sticky else 0
        self.consoles = step.consoles(count, starts.records.shape[1], height * width, size, stack, draws)
        if starts.reads_what_is_left:
            self.consoles.records[:, : state.RAM_BYTES] = starts.before_the_first()
        self._parts = [slice(count * part // threads, count * (part + 1) // threads) for part in range(threads)]
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self._no_op_max_steps = settings.no_op_max_steps
        seeds = np.arange(seed, seed + count) % 2**31
        self._random = [np.random.RandomState(one)._bit_generator for one in seeds]
        self._sticky = [np.random.RandomState(one) for one in seeds if draws]
        self._sticky_bits = [one._bit_generator for one in self._sticky]
        self._no_ops = np.zeros(count, np.int64)
        self._draw(np.ones(count, bool))
        self._life_loss_terminates = settings.life_loss_terminates
        self._emulator = np.frombuffer(f"{rom} {SOURCES}".encode(), np.uint8)
        self._shows_ram = settings.observation == "ram"
        self.spec = spec_of(rom, settings, len(self._actions))

    def _draw_sticky(self) -> None:
        """Draws random numbers for sticky actions, so that they last for a step, or for the no-ops of a start."""
        if not self._game.sticky:
            return
        draws, drawn = self.consoles.draws, self.consoles.drawn
        for env in np.flatnonzero(DRAWS - drawn < max(self._no_op_max_steps, self._game.frame_skip)):
            left = draws[env, drawn[env] :]
            draws[env] = np.append(left, self._sticky[env].random_sample(DRAWS - len(left)))
            drawn[env] = 0

    def _draw(self, which: np.ndarray) -> None:
        """Draws the number of no-ops for the next game of the marked copies, as ale-py's vector environment does."""
        if self._no_op_max_steps:
            for env in np.flatnonzero(which):
                self._no_ops[env] = int(self._random[env].random_raw()) * self._no_op_max_steps >> 32

    def _play_starts(self, which: np.ndarray) -> None:
        """Computes the starts of the next games of the marked copies, or puts them into their records."""
        if not which.any():
            return
        numbers, consoles = ORDER[self.consoles.begun % len(ORDER)], self.consoles
        if self._game.copies_starts:
            self._starts.play(numbers[which])
            return
        for env in np.flatnonzero(which):
            left = consoles.records[env, : state.RAM_BYTES]
            consoles.records[env], consoles.pictures[env] = self._starts.after(left, numbers[env])

    def reset(self) -> np.ndarray:
        return self.restart(np.ones(len(self._no_ops), bool))

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], at least one). Returns all observations."""
        self._draw_sticky()
        self._play_starts(envs)
        step.restart(self._game, self.consoles, envs, self._no_ops)
        self._draw(envs)
        return self._shown

    @property
    def _shown(self) -> np.ndarray:
        """The observations: pictures, or the consoles' memory."""
        return self.consoles.records[:, : state.RAM_BYTES] if self._shows_ram else self.consoles.states

    def step(self, actions: np.ndarray):
        consoles = self.consoles
        restarted, lives = consoles.ended > 0, consoles.lives.copy()
        self._draw_sticky()
        self._play_starts(restarted)
        self._step(self._actions[actions])
        if restarted.any():
            self._draw(restarted)
        life_lost = (consoles.lives < lives) & self._life_loss_terminates
        terminated, truncated = consoles.ended & step.OVER > 0, consoles.ended & step.CUT > 0
        return self._shown, consoles.rewards.copy(), terminated, truncated, life_lost

    def _step(self, actions: np.ndarray) -> None:
        """Steps all consoles; each thread, if there are several, steps a part of them."""

        def step_part(part: slice) -> None:
            consoles = step.Consoles(*(field[part] for field in self.consoles))
            step.step(self._game, consoles, actions[part], self._no_ops[part])

        if self._threads is None:
            step.step(self._game, self.consoles, actions, self._no_ops)
        else:
            list(self._threads.map(step_part, self._parts))

    def state(self) -> dict[str, np.ndarray]:
        """Returns the games' whole state: arrays by name, not copied, for this game and version of the emulator."""
        return {f"console/{name}": field for name, field in self.consoles._asdict().items()} | {
            "emulator": self._emulator,
            "no_ops": self._no_ops,
            "random/no_ops": _states_of(self._random),
            "random/sticky": _states_of(self._sticky_bits),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """Restores a result of `state`, with the same names, shapes and dtypes. Returns all observations.

        Raises ValueError, and changes nothing, if it is of another game or emulator, or impossible.
        """
        if not np.array_equal(arrays["emulator"], self._emulator):
            raise ValueError("they are of another game, or of another version of the emulator")
        given = step.Consoles(*(arrays[f"console/{name}"] for name in step.Consoles._fields))
        no_ops, random, sticky = arrays["no_ops"], arrays["random/no_ops"], arrays["random/sticky"]
        used = np.append(random[:, -1], sticky[:, -1])
        if not (are_sound(given, self._game) and is_within(used, GENERATOR_WORDS) and is_within(no_ops, MOST_NO_OPS)):
            raise ValueError("there can be none such")
        for field, values in zip(self.consoles, given, strict=True):
            field[:] = values
        self._no_ops[:] = no_ops
        _set_states(self._random, random)
        _set_states(self._sticky_bits, sticky)
        return self._shown

    def divergence(self, part: slice, actions: np.ndarray, by_lines: bool) -> Count:
        """Counts how much these copies, as the threads of a warp, would slow each other down in the next step."""
        records = self.consoles.records[part].copy()
        return divergence.count(records, self._game.rom, self._actions[actions[part]], self._game.frame_skip, by_lines)

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()


class OwnAtariScreen:
    """The colour pictures of games of our own emulator, before they become the grey frames that the agent sees."""

    def __init__(self, games: OwnAtariEnvironments, frame_skip_frames: int):
        self._consoles, self._skip, self._shape = games.consoles, frame_skip_frames, (-1, *games.picture_shape, 3)
        self._colours = PAL_RGB if games.picture_shape[0] == PAL_LINES else NTSC_RGB
        self._seen = self._newest(0)
        self._frames = np.zeros(len(self._seen), np.int64)
        self.action_names = games.action_names

    def _newest(self, frames_before: int) -> np.ndarray:
        """Returns the last picture of each console, or the one before it (1)."""
        consoles = self._consoles
        which = consoles.turns ^ 1 ^ frames_before
        return self._colours[consoles.pictures[np.arange(len(which)), which]]

    def reset(self) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        self._seen, self._frames[:] = self._newest(0), 0
        return self._seen.reshape(self._shape)

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Returns the pictures after the games' own step, uint8 [count, height, width, 3].

        They show the last two frames of a step, but not the frame that ends a game.
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
