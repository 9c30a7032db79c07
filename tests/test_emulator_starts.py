"""How games begin: in the states in which ALE begins them, from the first to the last."""

import numpy as np
import pytest
from ale_py import ALEInterface, LoggerMode, roms

from ga3c.emulator import state
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import goes_on, next_frame
from ga3c.emulator.proven import DRAWN_CARTRIDGE_RAM, PROVEN, READ_WHAT_IS_LEFT
from ga3c.emulator.setups import new_record
from ga3c.emulator.starts import MEMORY, ORDER, TIMERS, Starts
from tests.saved_state import read_into
from tests.variants import variants

pytestmark = pytest.mark.usefixtures("own_code_of_some_games")
ALEInterface.setLoggerMode(LoggerMode.Error)
USUAL, THAT_READ = sorted(PROVEN - READ_WHAT_IS_LEFT - DRAWN_CARTRIDGE_RAM), sorted(READ_WHAT_IS_LEFT)
PLAYED_FRAMES, LEAVES_FRAMES = 40, 600  # kung_fu_master leaves nothing before


def loaded(game: str) -> ALEInterface:
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path(game))
    return ale


def starts_of(game: str) -> Starts:
    return Starts(game, roms.get_rom_path(game).read_bytes())


def plays_as(ale: ALEInterface, starts: Starts, record: np.ndarray, pictures: np.ndarray, seed: int) -> None:
    """From there on RAM and picture are ALE's for some frames of random play: so what cannot be seen is, too."""
    record, random = record.copy(), np.random.default_rng(seed)
    pictures, last = pictures.reshape(2, starts.height, -1).copy(), 1
    assert (record[: state.RAM_BYTES] == ale.getRAM()).all()
    assert (pictures[last] == ale.getScreen()).all()
    actions = [int(action.value) for action in ale.getMinimalActionSet()]
    for frame in range(PLAYED_FRAMES):
        action = int(random.choice(actions))
        ale.act(action)
        press(record.ctypes.data, action)
        last ^= 1 - goes_on(record.ctypes.data)
        next_frame(record.ctypes.data, starts.rom.ctypes.data, pictures[last].ctypes.data, starts.code)
        assert (record[: state.RAM_BYTES] == ale.getRAM()).all(), f"frame {frame}"
        assert (pictures[last] == ale.getScreen()).all(), f"frame {frame}"


@pytest.mark.parametrize("game", variants(USUAL, *USUAL[::3]))
def test_each_game_begins_as_ale_begins_it(game):
    """Its first time, and its third."""
    ale, starts = loaded(game), starts_of(game)
    starts.play(ORDER[:3])
    for times, number in enumerate(ORDER[:3]):
        ale.reset_game()
        if times != 1:
            plays_as(ale, starts, starts.records[number], starts.pictures[number], times)


@pytest.mark.parametrize("game", variants(THAT_READ, *THAT_READ[::3]))
def test_those_that_read_what_the_last_game_has_left_begin_with_it(game):
    """Not all of them differ each time from what they would be without it, but each does once."""
    ale, starts, differ, random = loaded(game), starts_of(game), 0, np.random.default_rng(1)
    actions = [int(action.value) for action in ale.getMinimalActionSet()]
    left = starts.before_the_first()
    assert (left == ale.getRAM()).all()
    starts.play(ORDER[:3])
    for times, number in enumerate(ORDER[:3]):
        ale.reset_game()
        record, pictures = starts.after(left, number)
        differ += (record != starts.records[number])[: state.RAM_BYTES].any()
        plays_as(ale, starts, record, pictures, times)
        for _ in range(LEAVES_FRAMES):
            ale.act(int(random.choice(actions)))
        left = ale.getRAM()
    assert differ


@pytest.mark.parametrize("game", DRAWN_CARTRIDGE_RAM)
def test_the_ram_of_a_cartridge_is_drawn_for_each_game(game):
    ale, starts = loaded(game), starts_of(game)
    for begun in range(3):
        ale.reset_game()
        (number,) = starts.numbers(np.array([begun]))
        record, pictures = starts.after(MEMORY, number)
        saved = record.copy()
        read_into(saved, ale.cloneState().serialize())
        ram = slice(state.CARTRIDGE_RAM, state.CARTRIDGE_RAM + state.RAM_BYTES)
        np.testing.assert_array_equal(record[ram], saved[ram])
        plays_as(ale, starts, record, pictures, begun)


def test_however_often_it_begins():
    """In assault the memory tells what the timer was. ALE may begin after a game was played: nothing is other then."""
    ale, starts, seen = loaded("assault"), starts_of("assault"), set()
    for times, number in enumerate(ORDER[:200]):
        ale.reset_game()
        starts.play([number])
        memory = ale.getRAM()
        assert (starts.records[number][: state.RAM_BYTES] == memory).all(), f"time {times}"
        seen.add(memory.tobytes())
        for _ in range(times % 20):
            ale.act(1)
    assert len(seen) > TIMERS / 2


def test_what_its_chips_hold_is_what_ale_saves():
    """Where no game has put bits into registers that do not have them."""
    for game in ("breakout", "kangaroo", "asteroids"):
        ale, starts = loaded(game), starts_of(game)
        ale.reset_game()
        starts.play(ORDER[:1])
        record, saved = starts.records[ORDER[0]].copy(), None
        saved, _ = new_record(game, roms.get_rom_path(game).read_bytes())
        read_into(saved, ale.cloneState().serialize())
        chips = slice(state.RAM_BYTES, state.DRAWN_CLOCK)
        np.testing.assert_array_equal(record[chips], saved[chips])
        for field in (state.HMOVE_CLOCK, state.DUMP_CYCLES, state.BANK, state.FRAME_PHASE):
            assert record.view(np.int32)[field // 4] == saved.view(np.int32)[field // 4]
