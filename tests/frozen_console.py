"""A console of ale-py's that stands still: its 6507 runs a few instructions in RAM that only end frames.

So the game changes nothing, and what ALE says of any memory can be asked.
"""

import struct

from ale_py import ALEInterface, ALEState

LOOP_BYTES, RAM_START = 9, 0x80
_REGISTERS = b"M6502Low"  # in a saved state; the registers, A first, begin 8 bytes later
_PC_OFFSET = 20


class FrozenConsole:
    """ALE at the start of a game, frozen. `begun` is the memory before, uint8 [128]."""

    def __init__(self, ale: ALEInterface, loop: int):
        """`loop` is the first of the nine bytes of RAM that the instructions take."""
        self._ale, self._loop = ale, loop
        self.start()

    def start(self) -> None:
        """Starts a new game, and freezes it."""
        self._ale.reset_game()
        self.begun, self.lives = self._ale.getRAM(), self._ale.lives()
        saved = bytearray(self._ale.cloneState().serialize())
        registers = saved.index(_REGISTERS) + len(_REGISTERS)
        saved[registers : registers + 4] = bytes(4)
        struct.pack_into("<i", saved, registers + _PC_OFFSET, RAM_START + self._loop)
        self._ale.restoreState(ALEState(bytes(saved)))
        self.memory = self.begun.copy()
        self.memory[self._loop : self._loop + LOOP_BYTES] = self._instructions()
        for address in range(self._loop, self._loop + LOOP_BYTES):
            self._ale.setRAM(address, int(self.memory[address]))

    def _instructions(self) -> list[int]:
        """EOR #2, STA WSYNC, STA VSYNC, JMP to the first."""
        return [0x49, 2, 0x85, 2, 0x85, 0, 0x4C, RAM_START + self._loop, 0]

    def frame(self, changes: dict[int, int]) -> tuple[int, int, bool]:
        """Changes bytes of the memory, and returns the reward, the lives and the end of the next frame."""
        for address, byte in changes.items():
            if not self._loop <= address < self._loop + LOOP_BYTES:
                self._ale.setRAM(address, byte)
                self.memory[address] = byte
        return self._ale.act(0), self._ale.lives(), self._ale.game_over()
