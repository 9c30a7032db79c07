"""Plays a game on our console and on ALE's, frame by frame, and prints the first difference.

python -m tests.frame_oracle pong 20000 [seed]
"""

import sys
from typing import NamedTuple

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms

from ga3c.emulator import state
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import goes_on, next_frame
from ga3c.emulator.starts import Starts
from tests.saved_state import read_into

HELD_FRAMES = 4
_WORDS = (
    "A X Y SP PC OVERFLOW DECIMAL CARRY CYCLES TIMER TIMER_SHIFT TIMER_SET_CYCLES TIMER_READ POSITION_P0 POSITION_P1 "
    "POSITION_M0 POSITION_M1 POSITION_BL OLD_GRP0 OLD_GRP1 COLLISIONS FRAME_PHASE DUMP_CYCLES"
)


class Way(NamedTuple):
    """A console of ours that is played in one way."""

    code: int  # the address of the code made for the game; 0: none is used
    record: np.ndarray
    pictures: np.ndarray


def new_ale(game: str) -> ALEInterface:
    """Returns ALE at the start of a game, without sticky actions."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path(game))
    ale.reset_game()
    return ale


def first_difference(game: str, frames: int, seed: int = 1) -> str | None:
    """Plays at random, each action for four frames, and compares RAM and picture after each frame.

    Our game is played twice: by the code made for it, and without. After the end of a game all begin again, ours from
    ALE's state. Returns None if there is no difference.
    """
    ale, random = new_ale(game), np.random.default_rng(seed)
    starts = Starts(game, roms.get_rom_path(game).read_bytes())
    ways = [Way(code, starts.new.copy(), np.zeros((2, *ale.getScreenDims()), np.uint8)) for code in (starts.code, 0)]
    actions = [int(action.value) for action in ale.getMinimalActionSet()]
    _follow(ale, ways)
    last = {way.code: 1 for way in ways}  # the number of the last picture, by the way's code
    for frame in range(frames):
        if ale.game_over():
            ale.reset_game()
            _follow(ale, ways)
            last = dict.fromkeys(last, 1)
        if frame % HELD_FRAMES == 0:
            action = int(random.choice(actions))
        ale.act(action)
        for way in ways:
            record = way.record
            last[way.code] ^= 1 - goes_on(record.ctypes.data)
            picture = way.pictures[last[way.code]]
            press(record.ctypes.data, action)
            next_frame(record.ctypes.data, starts.rom.ctypes.data, picture.ctypes.data, way.code)
            if (record[: state.RAM_BYTES] != ale.getRAM()).any() or (picture != ale.getScreen()).any():
                return f"frame {frame}{', its own code' * (way.code > 0)}: {_described(ale, record, picture)}"
    return None


def _follow(ale: ALEInterface, ways: list[Way]) -> None:
    """Copies ALE's state and its last two pictures, as each keeps the pixels that a frame does not draw."""
    for number in range(2):
        ale.act(0)
        for way in ways:
            way.pictures[number] = ale.getScreen()
    for way in ways:
        read_into(way.record, ale.cloneState().serialize())


def _described(ale: ALEInterface, record: np.ndarray, picture: np.ndarray) -> str:
    theirs = record.copy()
    read_into(theirs, ale.cloneState().serialize())
    parts = [f"RAM {at:#x} {record[at]:#x} not {theirs[at]:#x}" for at in range(128) if record[at] != theirs[at]]
    ours, rightly = record.view(np.int32), theirs.view(np.int32)
    for name in _WORDS.split():
        at = getattr(state, name) // 4
        if ours[at] != rightly[at]:
            parts.append(f"{name} {ours[at]:#x} not {rightly[at]:#x}")
    wrong = np.argwhere(picture != ale.getScreen())
    if len(wrong):
        line, pixel = wrong[0]
        parts.append(f"{len(wrong)} pixels, the first at line {line}, pixel {pixel}")
    return ", ".join(parts)


if __name__ == "__main__":
    game_name, count, *seeds = sys.argv[1:]
    print(first_difference(game_name, int(count), int(seeds[0]) if seeds else 1) or "no difference")
