"""What ale-py says of score, lives and end, against what we read in its memory, frame by frame.

python -m tests.score_oracle [FRAMES [SEED [GAME ...]]]
"""

import sys

import ale_py
import numpy as np
from ale_py import roms
from numba import njit

from ga3c.emulator import games, state
from ga3c.emulator.cartridge import F6SC, F8SC
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.setups import new_record
from tests.saved_state import read_into


def ale_of(game: str, seed: int = 0) -> ale_py.ALEInterface:
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", seed)
    ale.setFloat("repeat_action_probability", 0)
    ale.loadROM(roms.get_rom_path(game))
    ale.reset_game()
    return ale


class Memory:
    """Reads the bytes that the rules of a game may look at: RAM, and the cartridge's RAM if it has some."""

    def __init__(self, game: str):
        self._record, _ = new_record(game, roms.get_rom_path(game).read_bytes())
        self._is_large = F8SC <= self._record.view(np.int32)[state.CARTRIDGE // 4] <= F6SC
        self.count = state.SIZE if self._is_large else state.RAM_BYTES

    def read(self, ale: ale_py.ALEInterface) -> np.ndarray:
        """Returns the bytes, uint8 [count]."""
        if not self._is_large:
            return ale.getRAM()
        read_into(self._record, ale.cloneState().serialize())
        return self._record


class Said:
    """What ale-py said of each frame, and the memory; `began` marks a memory in which a game has just begun."""

    def __init__(self, frames: int, byte_count: int = state.RAM_BYTES):
        self.ram = np.zeros((frames, byte_count), np.uint8)
        self.rewards, self.lives = np.zeros((2, frames), np.int32)
        self.over, self.began = np.zeros((2, frames), bool)


def play(game: str, frames: int, seed: int) -> Said:
    """Random play: an action holds for 10 frames on average, in every third game for 40."""
    ale, random, memory = ale_of(game, seed), np.random.default_rng(seed), Memory(game)
    said = Said(frames, memory.count)
    actions = ale.getMinimalActionSet()
    action, over, played = actions[0], True, 0
    for frame in range(frames):
        if over:
            if frame:
                ale.reset_game()
            played += 1
            said.began[frame], said.lives[frame] = True, ale.lives()
        else:
            if random.random() < (0.025 if played % 3 == 0 else 0.1):
                action = actions[random.integers(len(actions))]
            said.rewards[frame], said.lives[frame], said.over[frame] = ale.act(action), ale.lives(), ale.game_over()
        said.ram[frame] = memory.read(ale)
        over = said.over[frame]
    return said


@njit
def _read_all(ram, began, reading, rewards, lives, over):
    noted = np.zeros(games.STATE, np.int32)
    for frame in range(len(ram)):
        if began[frame]:
            games.begin(ram[frame], reading, noted)
            lives[frame] = noted[games.LIVES]
        else:
            rewards[frame], lives[frame], over[frame] = games.read(ram[frame], reading, noted)


def differences(game: str, said: Said) -> list[str]:
    """A line for each frame that we read differently."""
    ours = Said(len(said.ram))
    _read_all(said.ram, said.began, games.reading(game), ours.rewards, ours.lives, ours.over)
    wrong = np.zeros(len(said.ram), bool)
    for name in ("rewards", "lives", "over"):
        wrong |= getattr(ours, name) != getattr(said, name)
    return [
        f"frame {frame}: "
        + ", ".join(
            f"{name} {getattr(said, name)[frame]}, read {getattr(ours, name)[frame]}"
            for name in ("rewards", "lives", "over")
        )
        + f"; memory {said.ram[frame].tobytes().hex()}"
        for frame in np.flatnonzero(wrong)
    ]


def main(frames: int = 20_000, seed: int = 0, names=()) -> int:
    failures = 0
    for game in names or GAMES:
        said = play(game, frames, seed)
        wrong = differences(game, said)
        failures += bool(wrong)
        print(
            f"{game}: {frames} frames, {said.over.sum()} ends, {np.count_nonzero(said.rewards)} rewards,"
            f" {len(wrong)} frames differ",
            flush=True,
        )
        for line in wrong[:3]:
            print("   ", line)
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]), names=sys.argv[3:])))
