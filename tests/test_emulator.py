"""Our Atari 2600 beside ALE's: the same game, the same actions, RAM and picture at each frame."""

import numpy as np
import pytest
from ale_py import ALEInterface, LoggerMode, roms

from ga3c.emulator import state
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import next_frame
from ga3c.emulator.saved_state import read_into
from ga3c.emulator.setups import new_record

FRAMES = 300


@pytest.mark.parametrize("game", ["pong", "breakout", "boxing", "space_invaders", "ms_pacman", "enduro"])
def test_plays_as_ale_does_from_a_state_that_ale_has_saved(game):
    ale, random = _ale(game), np.random.default_rng(1)
    actions = [int(action.value) for action in ale.getMinimalActionSet()]
    for _ in range(int(random.integers(300))):
        ale.act(int(random.choice(actions)))
    record, rom = new_record(game, roms.get_rom_path(game).read_bytes())
    console, pictures = record.ctypes.data, np.zeros((2, 210, 160), np.uint8)
    for picture in pictures:  # two in turn: each keeps what a frame does not draw
        ale.act(0)
        picture[:] = ale.getScreen()
    read_into(record, ale.cloneState().serialize())
    for frame in range(FRAMES):
        action = int(random.choice(actions))
        ale.act(action)
        press(console, action)
        next_frame(console, rom.ctypes.data, pictures[frame % 2].ctypes.data)
        np.testing.assert_array_equal(record[: state.RAM_BYTES], ale.getRAM(), f"RAM at frame {frame}")
        np.testing.assert_array_equal(pictures[frame % 2], ale.getScreen(), f"picture at frame {frame}")


def _ale(game: str) -> ALEInterface:
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setInt("random_seed", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path(game))
    ale.reset_game()
    return ale
