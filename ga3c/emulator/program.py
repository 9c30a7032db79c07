"""The instructions of a game that it executes while it is played at random, and how they follow each other."""

import numpy as np

from ga3c.emulator import cartridge as kinds
from ga3c.emulator import opcodes as op
from ga3c.emulator.cartridge import BANK_BYTES, E0_LAST, SLICE_BYTES, window_of
from ga3c.emulator.compiled import compiled
from ga3c.emulator.controllers import press
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.frame import MOST_INSTRUCTIONS, begin_frame
from ga3c.emulator.pointers import load8, load32
from ga3c.emulator.state import CARTRIDGE, FRAME_DONE, JAMMED, PC

HELD_FRAMES = 4
# The instructions after which another one than the next in the ROM is executed, besides branches.
ENDS = {"JMP", "JMI", "JSR", "RTS", "RTI", "BRK", "KIL"}
# The plain bytes of the 4K that the CPU sees, by the kind of the cartridge. An E0 cartridge switches 1K at a time.
_PLAIN_BYTES = {
    kinds.PLAIN: (0, 0x1000),
    kinds.F8: (0, 0xFF8),
    kinds.F6: (0, 0xFF6),
    kinds.F8SC: (0x100, 0xFF8),
    kinds.F6SC: (0x100, 0xFF6),
    kinds.E0: (0, 0xFE0),
    kinds.FE: (0, 0x1000),
    kinds.DPC: (0x80, 0xFC0),
}


@compiled
def watch(console: int, rom: int, actions, met, found):
    """Plays each action for some frames, and notes the instructions at their offsets in the ROM.

    `met` (int64 [bytes]) is set to their addresses; `found` (bool [bytes]) marks those that were executed after another
    one than the instruction before them in the ROM or a branch.
    """
    for action in actions:
        press(console, action)
        for _ in range(HELD_FRAMES):
            if load32(console, FRAME_DONE):
                begin_frame(console)
            from_elsewhere = True
            for _ in range(MOST_INSTRUCTIONS):
                pc, opcode = load32(console, PC), 0
                window, offset = window_of(console, pc), pc % SLICE_BYTES
                if offset < load32(window, 4):
                    at = load32(window, 0) + offset
                    opcode = load8(rom, at)
                    met[at] = pc
                    found[at] |= from_elsewhere
                run_frame(console, rom, np.int64(0), np.int64(1))
                from_elsewhere = load32(console, PC) != pc + op.LENGTH[opcode] and op.MODE[opcode] != op.RELATIVE
                if load32(console, FRAME_DONE) or load32(console, JAMMED):
                    break


class Program:
    """Instructions by their offset in the ROM.

    What a branch leads to that was never taken is among them, and so on. `address` has the address of each, `entries`
    those that more than one other leads to, or that one leads to which does not say so.
    """

    def __init__(self, record: np.ndarray, rom: np.ndarray, actions: np.ndarray):
        """Plays the `actions` in a copy of the console with this record, uint8 [SIZE]."""
        console, met, found = record.copy(), np.zeros(len(rom), np.int64), np.zeros(len(rom), bool)
        watch(console.ctypes.data, rom.ctypes.data, actions, met, found)
        self.rom, self._kind = rom.tolist(), int(record.view(np.int32)[CARTRIDGE // 4])
        self.address = {at: pc for at, pc in enumerate(met.tolist()) if pc}
        self.address = {at: pc for at, pc in self.address.items() if self._is_plain(at, pc)}
        self._add_what_follows()
        self.entries = self._entries(set(np.flatnonzero(found).tolist()))

    def name(self, at: int) -> str:
        return op.NAMES[self.rom[at]]

    def length(self, at: int) -> int:
        return int(op.LENGTH[self.rom[at]])

    def is_branch(self, at: int) -> bool:
        return op.MODE[self.rom[at]] == op.RELATIVE

    def may_switch(self, at: int) -> bool:
        """Returns True if an instruction may access the cartridge, and so switch the bank."""
        mode = op.MODE[self.rom[at]]
        return self.target(at) & 0x1000 > 0 if mode == op.ABSOLUTE else mode > op.ABSOLUTE

    def offset(self, at: int, address: int) -> int | None:
        """Returns the offset in the ROM of the byte at an address while the instruction `at` is executed.

        None: it is not a plain byte, or depends on the banks.
        """
        first, last = _PLAIN_BYTES[self._kind]
        in_4k, pc = address & 0xFFF, self.address[at]
        if not address & 0x1000 or not first <= in_4k < last:
            return None
        if self._kind == kinds.FE:
            return in_4k + (0 if address & 0x2000 else BANK_BYTES)
        if self._kind != kinds.E0:
            return at - (pc & 0xFFF) + in_4k
        if in_4k >= 3 * SLICE_BYTES:
            return E0_LAST * SLICE_BYTES + in_4k % SLICE_BYTES
        return at - pc % SLICE_BYTES + in_4k % SLICE_BYTES if (pc ^ address) & 0xC00 == 0 else None

    def target(self, at: int) -> int:
        """Returns the address that a branch, or an instruction with an address, leads to."""
        low = self.rom[at + 1]
        if self.is_branch(at):
            return (self.address[at] + 2 + (low ^ 0x80) - 0x80) & 0xFFFF
        return low | self.rom[at + 2] << 8

    def chain(self, at: int) -> list[int]:
        """Returns the instructions that are executed one after the other from `at` on, up to the next entry."""
        chain = [at]
        while self.name(at) not in ENDS and not self.is_branch(at):
            at = next(iter(self._after(at)), None)
            if at is None or at in self.entries:
                break
            chain.append(at)
        return chain

    def _entries(self, found: set[int]) -> dict[int, None]:
        led, entries = set(), found & self.address.keys()
        for at in self.address:
            after = set(self._after(at))
            entries |= after & led | set(self._known(at, self._returns(at)))
            led |= after
        return dict.fromkeys(sorted(entries | (self.address.keys() - led)))

    def _add_what_follows(self) -> None:
        """Adds the instructions that known ones lead to, and those to which a known call returns."""
        waiting = list(self.address)
        while waiting:
            at = waiting.pop()
            for address in [*self._addresses_after(at), *self._returns(at)]:
                one = self.offset(at, address)
                if one is None or one in self.address:
                    continue
                self.address[one] = address
                if self._is_plain(one, address):
                    waiting.append(one)
                else:
                    del self.address[one]

    def _after(self, at: int) -> list[int]:
        """Returns the instructions that one leads to, as far as it says so."""
        return self._known(at, self._addresses_after(at))

    def _addresses_after(self, at: int) -> list[int]:
        name = self.name(at)
        addresses = [] if name in ENDS else [self.address[at] + self.length(at)]
        return [*addresses, self.target(at)] if self.is_branch(at) or name in ("JMP", "JSR") else addresses

    def _returns(self, at: int) -> list[int]:
        """Returns the address to which a call returns."""
        return [self.address[at] + self.length(at)] if self.name(at) == "JSR" else []

    def _known(self, at: int, addresses: list[int]) -> list[int]:
        offsets = [self.offset(at, address) for address in addresses]
        return [one for one, address in zip(offsets, addresses, strict=True) if self.address.get(one) == address]

    def _is_plain(self, at: int, pc: int) -> bool:
        last = self.length(at) - 1
        return self.offset(at, pc) == at and self.offset(at, pc + last) == at + last
