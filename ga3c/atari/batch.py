"""A batch of Atari games of our own emulator, on cores."""

import sys
from functools import cache

import ale_py
import numpy as np
from ale_py import roms

from ga3c.atari.chance import DRAWS, WORDS, Chance
from ga3c.atari.rules import MOST_NO_OPS, Rules
from ga3c.emulator import games, machine_code, state, step, views
from ga3c.emulator.compiled import SOURCES, is_missing, one_at_a_time, told, without_collection
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.palette import NTSC_GREY, NTSC_RGB, PAL_GREY, PAL_RGB
from ga3c.emulator.picture import WIDTH
from ga3c.emulator.proven import FRAMES_GO_ON
from ga3c.emulator.shrink import cover
from ga3c.emulator.soundness import are_sound, is_within
from ga3c.emulator.starts import ORDER, Starts
from ga3c.emulator.workers import Workers, serve

ALL_ACTIONS, PAL_LINES = np.arange(18), 250
UNSEEN = 11  # the size of states that nobody is shown
_POOLS = {"max": views.MAX, "mean": views.MEAN, "last": views.LAST}


@cache
def starts_of(rom: str, mode: int | None, difficulty: int) -> Starts:
    """Returns the starts of a game, which all batches of this process share."""
    return Starts(rom, roms.get_rom_path(rom).read_bytes(), mode, difficulty)


def prepare() -> None:
    """Compiles the emulator if its code is not cached: once, and not in each process of several that start together."""
    if is_missing(serve):
        print("Compiling the emulator: half a minute to two minutes, only this once.", file=sys.stderr, flush=True)
        with told(), one_at_a_time(), without_collection():
            Batch("pong", Rules(), np.zeros(1, np.int64)).restart(np.ones(1, bool))
    if not (is_missing(serve) or machine_code.is_ready()):  # missing still: it could not be kept
        machine_code.note_ready()


class Batch:
    """Games that begin at a `restart` and step together. The first axis of all arrays is [game].

    The same seeds and actions give the same as in ale-py's vector environment. A step after a game's end begins a new
    game in its place, and its action is ignored.
    """

    def __init__(self, rom: str, rules: Rules, seeds: np.ndarray, threads: int = 1):
        rules.check_game(rom)
        self.rules, self._starts = rules, starts_of(rom, rules.mode, rules.difficulty)
        starts, count, skip = self._starts, len(seeds), rules.frameskip
        self.picture_shape = height, width = starts.height, WIDTH
        used = np.array(GAMES[rom].actions.split(), np.int64)
        self.actions = ALL_ACTIONS if rules.full_action_space else used
        self.action_names = [ale_py.Action(number).name for number in self.actions]  # FIRE, UPRIGHT, ...
        is_pal = height == PAL_LINES
        self.colours = PAL_RGB if is_pal else NTSC_RGB
        grey = PAL_GREY if is_pal else NTSC_GREY
        size, stack = (rules.size, rules.stack_num) if rules.of_states else (UNSEEN, 1)
        self.game = step.Game(
            rom=starts.rom,
            starts=starts.records,
            start_pictures=starts.pictures,
            order=ORDER,
            reading=games.reading(rom),
            grey=grey,
            rows=cover(height, size),
            columns=cover(width, size),
            frame_skip=skip,
            cap_frames=rules.max_num_frames_per_episode,
            copies_starts=starts.are_copied,
            fire=rules.use_fire_reset and step.FIRE in self.actions,
            sticky=float(rules.repeat_action_probability),
            code=starts.code,
        )
        draws = DRAWS if self.game.sticky else 0
        pixels = 0 if rules.observation == "ram" else height * width
        pictures = 3 if rom in FRAMES_GO_ON else 2
        self.consoles = step.consoles(count, starts.records.shape[1], pixels, size, stack, draws, pictures)
        self.chance = Chance(count, rules.noop_max, bool(draws))
        self.view = views.of_states()
        if not rules.of_states and rules.observation != "ram":
            tones = np.ascontiguousarray(self.colours.T) if rules.observation == "rgb" else grey[None]
            frames = rules.stack_num, rules.size or height, rules.size or width, len(tones)
            self.view = views.computed(count, tones, self.picture_shape, frames, _POOLS[rules.pool])
        self._emulator = np.frombuffer(f"{rom} {SOURCES}".encode(), np.uint8)
        self.seed(np.ones(count, bool), seeds)
        self._threads = threads
        self._workers = Workers(self.game, self.view, self.consoles, threads)

    def draw(self) -> None:
        """Has pictures made although the rules show none. Call it before the first `restart`."""
        if self.consoles.seen.size:
            return
        count, pixels = len(self.consoles.frames), self._starts.pictures.shape[2]
        pictures = np.zeros((*self.consoles.pictures.shape[:2], pixels), np.uint8)
        seen = np.zeros((count, pixels), np.uint8)
        self.consoles = self.consoles._replace(pictures=pictures, seen=seen)
        self._workers.close()
        self._workers = Workers(self.game, self.view, self.consoles, self._threads)

    def seed(self, which: np.ndarray, seeds: np.ndarray) -> None:
        """Switches the marked consoles (bool [game]) on again: their games are those of new batches with these seeds.

        `seeds` is int64 [game]. A `restart` has to follow.
        """
        consoles = self.consoles
        consoles.begun[which] = 0
        if self._starts.reads_what_is_left:
            consoles.records[which, : state.RAM_BYTES] = self._starts.before_the_first()
        self.chance.seed(which, seeds, consoles.drawn)

    def restart(self, which: np.ndarray, target: np.ndarray | None = None) -> None:
        """Begins a new game in the marked consoles (bool [game]). `target`: see `step`."""
        self.consoles.ended[which] = step.OVER
        self._play(which, np.zeros(len(which), np.int64), target)

    def step(self, actions: np.ndarray, target: np.ndarray | None = None) -> None:
        """Steps all games by their actions (ALE's numbers). What the view shows is written to `target` (uint8)."""
        self._play(np.ones(len(actions), bool), actions, target)

    def _play(self, which: np.ndarray, actions: np.ndarray, target: np.ndarray | None) -> None:
        consoles = self.consoles
        begins = which & (consoles.ended > 0)
        self.chance.refill(consoles.draws, consoles.drawn, self.game.frame_skip)
        self._play_starts(begins)
        self._step(which, begins, actions, target)
        self.chance.draw_no_ops(begins)

    def _step(self, which: np.ndarray, begins: np.ndarray, actions: np.ndarray, target: np.ndarray | None) -> None:
        """Steps the games `which`; those of them that `begins` marks begin anew (bool [game], both)."""
        self._workers.step(which, actions, self.chance.no_ops, target)

    def _play_starts(self, which: np.ndarray) -> None:
        """Computes the starts of the next games of the marked consoles, or puts them into their records."""
        if not which.any():
            return
        numbers, consoles = self._starts.numbers(self.consoles.begun), self.consoles
        if self.game.copies_starts:
            self._starts.play(np.unique(numbers[which]))
            return
        for game in np.flatnonzero(which):
            left = consoles.records[game, : state.RAM_BYTES]
            consoles.records[game], pictures = self._starts.after(left, numbers[game])
            if consoles.pictures.size:
                consoles.pictures[game, :2] = pictures

    @staticmethod
    def given(array: np.ndarray) -> np.ndarray:
        """Returns an array as a player gets it."""
        return array

    @staticmethod
    def on_host(actions) -> np.ndarray:
        """Returns the actions that a player gives, in main memory."""
        return np.asarray(actions)

    def room(self) -> np.ndarray | None:
        """Returns an array for a `target`; None where `shown` says what a player sees."""
        if self.rules.observation == "ram":
            return None
        return np.empty((len(self.consoles.frames), *self.shown_shape), np.uint8)

    @property
    def shown_shape(self) -> tuple[int, ...]:
        """The shape of what is shown of a game."""
        rules, (height, width) = self.rules, self.picture_shape
        if rules.observation == "ram":
            return (state.RAM_BYTES,)
        planes = (3,) if rules.observation == "rgb" else ()
        return rules.stack_num, rules.size or height, rules.size or width, *planes

    def shown(self) -> np.ndarray:
        """Returns a copy of what is shown of all games: pictures [game, stack, height, width, ...], or the memory."""
        if self.rules.observation == "ram":
            return self.ram.copy()
        if self.view.kind == views.OWN:
            planes = self.view.frames.shape[-1]
            return (self.view.frames if planes > 1 else self.view.frames[..., 0]).copy()
        return np.ascontiguousarray(np.moveaxis(self.states, -1, 1))

    @property
    def states(self) -> np.ndarray:
        """The small grey frames, uint8 [game, size, size, stack], if the rules are `of_states`: not a copy."""
        return self.consoles.states

    def pictures(self) -> np.ndarray:
        """Returns the newest picture of each game, uint8 [game, height, width, 3]."""
        newest = self.consoles.pictures[np.arange(len(self.consoles.turns)), self.consoles.turns & step.TURN ^ 1]
        return self.colours[newest].reshape(-1, *self.picture_shape, 3)

    @property
    def ram(self) -> np.ndarray:
        """The consoles' memory, uint8 [game, 128]: not a copy."""
        return self.consoles.records[:, : state.RAM_BYTES]

    @ram.setter
    def ram(self, values: np.ndarray) -> None:
        self.ram[:] = values

    def state(self, which=slice(None)) -> dict[str, np.ndarray]:
        """Returns the whole state of these games: arrays by name, for this game and version of the emulator.

        With all games they are not copied.
        """
        fields = {f"console/{name}": field[which] for name, field in self.consoles._asdict().items()}
        if self.view.kind == views.OWN:
            fields |= {"view/seen": self.view.seen[which], "view/frames": self.view.frames[which]}
        return fields | {"emulator": self._emulator} | self.chance.states(which)

    def restore(self, arrays: dict[str, np.ndarray], which=slice(None)) -> None:
        """Restores a result of `state`, with the same names, shapes and dtypes, in these games.

        Raises ValueError, and changes nothing, if it is of another game or emulator, or impossible.
        """
        if not np.array_equal(arrays["emulator"], self._emulator):
            raise ValueError("they are of another game, or of another version of the emulator")
        given = step.Consoles(*(arrays[f"console/{name}"] for name in step.Consoles._fields))
        used = np.append(arrays["random/no_ops"][:, -1], arrays["random/sticky"][:, -1])
        no_ops, most = arrays["no_ops"], max(self.rules.noop_max - 1, 0)
        if not (are_sound(given, self.game) and is_within(used, WORDS) and is_within(no_ops, MOST_NO_OPS)):
            raise ValueError("there can be none such")
        if not is_within(no_ops, most):
            raise ValueError("they begin with more frames without action (no-ops) than the rules allow")
        for field, values in zip(self.consoles, given, strict=True):
            field[which] = values
        if self.view.kind == views.OWN:
            self.view.seen[which], self.view.frames[which] = arrays["view/seen"], arrays["view/frames"]
        self.chance.restore(arrays, which)

    def close(self) -> None:
        self._workers.close()
