"""The beginning of a game as in ALE: from switching the console on until the player's first action.

It was found from the states that ALE saves. A Mersenne twister, always with the same seed, draws the initial RAM and
timer. Each further game of a console draws a new timer; its RAM is what the game before left. Few games read RAM before
they write it. In one of them the cartridge's RAM is drawn, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ga3c.emulator import state
from ga3c.emulator.cartridge import cartridge_read
from ga3c.emulator.controllers import SWITCHES, press
from ga3c.emulator.frame import goes_on, next_frame
from ga3c.emulator.made import code_for
from ga3c.emulator.modes import DIFFICULTY_SHIFT, MODES, Menu
from ga3c.emulator.picture import WIDTH
from ga3c.emulator.proven import DRAWN_CARTRIDGE_RAM, READ_WHAT_IS_LEFT
from ga3c.emulator.setups import new_record, setup_of
from ga3c.emulator.tia import NEVER

NO_OP, FIRE, UP, RIGHT, DOWN, UP_FIRE = 0, 1, 2, 3, 5, 10
RESET, SELECT = 1, 2  # bits of SWCHB, 0 while pressed
SEED, EARLIER_DRAWS = 4_753_849, 4  # the timers drawn before the first game begins
GAMES = 65_536  # of one console; then their starts repeat
LEAST_TIMER, TIMERS, TIMER_SHIFT = 25, 75, 6  # intervals of 64 cycles
FIRST_FRAMES, RESET_FRAMES = 60, 4
RESET_VECTOR = 0xFFFC

_draws = np.random.RandomState(SEED)._bit_generator.random_raw(state.RAM_BYTES + EARLIER_DRAWS + GAMES)
MEMORY = _draws[: state.RAM_BYTES].astype(np.uint8)
_timers = (_draws[state.RAM_BYTES :] % TIMERS).astype(np.uint8)
# The number of the start of a console's n-th game, and the numbers of the two starts played when a ROM is loaded.
ORDER, LOADED = _timers[EARLIER_DRAWS:], _timers[[0, EARLIER_DRAWS - 1]]


@cache
def _drawn_with_cartridge() -> tuple[np.ndarray, np.ndarray]:
    """Returns the timers, uint8 [GAMES], and cartridge RAM, uint8 [GAMES, RAM_BYTES], of a console's games."""
    numbers = np.random.RandomState(SEED)._bit_generator.random_raw((EARLIER_DRAWS + GAMES) * (1 + state.RAM_BYTES))
    rows = numbers.reshape(-1, 1 + state.RAM_BYTES)[EARLIER_DRAWS:]
    return (rows[:, 0] % TIMERS).astype(np.uint8), rows[:, 1:].astype(np.uint8)


Phase = tuple[int, int, int]  # frames, SWCHB, action


def _wait(frames: int) -> Phase:
    return frames, SWITCHES, NO_OP


_FIRST, _RESET, _SELECT = _wait(FIRST_FRAMES), (RESET_FRAMES, SWITCHES ^ RESET, NO_OP), (1, SWITCHES ^ SELECT, NO_OP)


@dataclass(frozen=True)
class Start:
    """How a game is started: RESET is pressed twice, and once more for each mode to choose; then an action is held."""

    resets: int = 2
    menu: tuple[Phase, ...] = ()  # between the first two presses of RESET
    action: int = NO_OP
    action_frames: int = 0


_STARTS = dict.fromkeys(
    (
        *("adventure", "alien", "asteroids", "atlantis", "bank_heist", "battle_zone", "bowling", "centipede"),
        *("chopper_command", "crazy_climber", "defender", "demon_attack", "et", "freeway", "frogger", "frostbite"),
        *("galaxian", "hangman", "haunted_house", "hero", "ice_hockey", "jamesbond", "kangaroo", "king_kong"),
        *("ms_pacman", "pong", "space_invaders", "star_gunner", "tennis", "tic_tac_toe_3d", "tutankham"),
        *("video_checkers", "video_chess", "video_pinball", "zaxxon"),
    ),
    Start(resets=3),
) | {
    "air_raid": Start(action=FIRE, action_frames=1),
    "asterix": Start(action=FIRE, action_frames=1),
    "basic_math": Start(resets=3, menu=(*(_SELECT, _wait(2)) * 5,)),
    "casino": Start(resets=1, menu=(_wait(66),), action=FIRE, action_frames=4),
    "human_cannonball": Start(resets=3, menu=(*(_SELECT, _wait(2)) * 16,)),
    "pacman": Start(resets=3, menu=(*(_SELECT, _wait(2)) * 16,)),
    "space_war": Start(resets=3, menu=(*(_SELECT, _wait(2)) * 5,)),
    "beam_rider": Start(action=RIGHT, action_frames=1),
    "berzerk": Start(resets=3, action_frames=20),
    "double_dunk": Start(
        menu=(_SELECT, _wait(11), _RESET, (1, SWITCHES, UP_FIRE), _wait(1)), action=UP_FIRE, action_frames=1
    ),
    "elevator_action": Start(action=FIRE, action_frames=16),
    "enduro": Start(action=FIRE, action_frames=1),
    "flag_capture": Start(resets=3, menu=(*(_SELECT, _wait(2)) * 7,)),
    "gopher": Start(resets=4, action=FIRE, action_frames=1),
    "gravitar": Start(resets=3, action=FIRE, action_frames=16),
    "journey_escape": Start(action=FIRE, action_frames=1),
    "kaboom": Start(action=FIRE, action_frames=1),
    "mario_bros": Start(action=FIRE, action_frames=17),
    "mr_do": Start(resets=3, action=FIRE, action_frames=1),
    "name_this_game": Start(resets=3, menu=(_wait(402),)),
    "othello": Start(resets=6),
    "pitfall": Start(action=UP, action_frames=1),
    "pitfall2": Start(action=UP, action_frames=1),
    "pooyan": Start(resets=3, menu=(_SELECT, _wait(2))),
    "private_eye": Start(resets=3, action=UP, action_frames=1),
    "skiing": Start(action=DOWN, action_frames=16),
    "surround": Start(resets=3, menu=(_SELECT, _wait(2))),
    "turmoil": Start(resets=3, action=FIRE, action_frames=1),
    "up_n_down": Start(action=FIRE, action_frames=1),
    "yars_revenge": Start(resets=3, menu=(*(_SELECT, _wait(1)) * 7, _wait(1)), action=FIRE, action_frames=1),
}


class Starts:
    """The states in which a game begins, one for each value of the timer. Each is computed when it is first needed."""

    def __init__(self, game: str, data: bytes, mode: int | None = None, difficulty: int = 0):
        """`game` is the name of the ROM file, `data` its bytes. `modes` lists modes and difficulties."""
        start = _STARTS.get(game, Start())
        if mode is not None:
            start = replace(start, menu=_chosen(MODES[game], mode))
        self._phases, self._loading = _phases(start), _phases(_STARTS.get(game, Start()))
        self._difficulty = difficulty << DIFFICULTY_SHIFT
        self._game, (self.new, self.rom) = game, new_record(game, data)
        self.height = setup_of(game).height_lines
        self.records = np.tile(self.new, (TIMERS, 1))  # uint8 [TIMERS, SIZE]
        self.pictures = np.zeros((TIMERS, 2, self.height * WIDTH), np.uint8)  # the last two, the older first
        self._are_played = np.zeros(TIMERS, bool)
        self.reads_what_is_left, self._draws_ram = game in READ_WHAT_IS_LEFT, game in DRAWN_CARTRIDGE_RAM
        self.are_copied = not (self.reads_what_is_left or self._draws_ram)

    @cached_property
    def code(self) -> int:
        """The address of the code made for the game (`made`)."""
        return code_for(self._game, self.rom, lambda: self._play(MEMORY, 0, self._phases, 0)[0])

    def numbers(self, begun: np.ndarray) -> np.ndarray:
        """Returns the numbers of the next starts of consoles that have begun so many games, [console]."""
        return begun % GAMES if self._draws_ram else ORDER[begun % GAMES]

    def play(self, numbers: Iterable[int]) -> None:
        """Computes the records and pictures of these starts, if they are not there yet."""
        for number in numbers:
            if not self._are_played[number]:
                self.records[number], self.pictures[number] = self.after(MEMORY, number)
                self._are_played[number] = True

    def before_the_first(self) -> np.ndarray:
        """Returns the RAM, uint8 [RAM_BYTES], before the first game: ALE also runs the game when it loads a ROM.

        It does so twice, the first time with NTSC's longest frame, whatever the game's television.
        """
        fields, at = self.new.view(np.int32), state.PAL // 4
        pal, fields[at] = int(fields[at]), 0
        record, _ = self._play(MEMORY, LOADED[0], [_FIRST], self.code)
        fields[at] = pal
        record, _ = self._play(record[: state.RAM_BYTES], LOADED[1], self._loading, self.code)
        return record[: state.RAM_BYTES]

    def after(self, memory: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the record and the pictures of a start after a game that left this RAM, uint8 [RAM_BYTES]."""
        return self._play(memory, number, self._phases, self.code)

    def _play(self, memory: np.ndarray, number: int, phases: list[Phase], code: int) -> tuple[np.ndarray, np.ndarray]:
        record = self.new.copy()
        if self._draws_ram:
            timers, cartridges = _drawn_with_cartridge()
            record[state.CARTRIDGE_RAM : state.CARTRIDGE_RAM + state.RAM_BYTES] = cartridges[number]
            number = timers[number]
        _switch_on(record, self.rom, memory, LEAST_TIMER + number)
        pictures = np.zeros((2, self.height * WIDTH), np.uint8)  # used in turn, see `step.Consoles`
        turn = 0
        for frames, switches, action in [*phases, _wait(0)]:
            record.view(np.int32)[state.SWCHB // 4] = switches | self._difficulty
            press(record.ctypes.data, action)
            for _ in range(frames):
                turn ^= goes_on(record.ctypes.data)
                next_frame(record.ctypes.data, self.rom.ctypes.data, pictures[turn].ctypes.data, code)
                turn ^= 1
        return record, pictures[[turn, turn ^ 1]]


def _phases(start: Start) -> list[Phase]:
    last = start.action_frames, SWITCHES, start.action
    return [_FIRST, _RESET, *start.menu, *[_RESET] * (start.resets - 1), last]


def _chosen(menu: Menu, mode: int) -> tuple[Phase, ...]:
    select = menu.select_frames, SWITCHES ^ SELECT, NO_OP
    return (select, _wait(menu.wait_frames)) * menu.presses[mode]


def _switch_on(record: np.ndarray, rom: np.ndarray, memory: np.ndarray, timer: int) -> None:
    fields, console = record.view(np.int32), record.ctypes.data
    record[: state.RAM_BYTES] = memory
    low, high = (int(cartridge_read(console, rom.ctypes.data, RESET_VECTOR + byte)) for byte in range(2))
    values = {
        state.SP: 0xFF,
        state.PC: low | high << 8,
        state.ZERO: 1,  # the Z flag is clear
        state.BREAK: 1,
        state.TIMER: timer,
        state.TIMER_SHIFT: TIMER_SHIFT,
        state.VSYNC_END: NEVER,
        state.STALE: 63,
        state.FRAME_DONE: 1,
    }
    for field, value in values.items():
        fields[field // 4] = value
