"""Reads a game's score, lives and end from the 128 bytes of the console's RAM.

`game_table` has a row for each game. This file turns it into arrays of numbers, which compiled code interprets.

A sum has terms: `100 low 4c, -3` is 100 times the lower four bits of the byte at 4c, minus 3. Ways to read a byte:
    raw           0 to 255
    low, high     the lower or the upper four bits
    bcd           two decimal digits: ten times the upper four bits plus the lower four
    to_100        bcd, and c0 is 100
    low_digit, high_digit, digits    one or two digits; a digit of ten is blank on the screen and counts 0
    signed        -128 to 127
    7f, f8!10     the bits of this mask, as a number; the number after ! counts 0
A condition, `39=0 and 4c&0f>9 or 20!=1`, compares bytes, or their bits in a mask, with numbers. `08 was ff` compares
the byte's value one frame ago, and `08 fell` is true if the byte is less than it was. `gain<0` compares the change of
the score. `and` binds more tightly than `or`.
Addresses (0 to 7f; 80 to ff is the cartridge's RAM), masks and bytes are hexadecimal; weights and constants are
decimal.
"""

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from ga3c.emulator.compiled import compiled, inner
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.state import CARTRIDGE_RAM, RAM_BYTES

NO_ADDRESS, NOTHING = -1, 256
# Each way to read a byte is a sum of parts: mask, weight, and the number that counts 0.
_WAYS = {
    "raw": [(0xFF, 1, NOTHING)],
    "low": [(0x0F, 1, NOTHING)],
    "high": [(0xF0, 1, NOTHING)],
    "signed": [(0xFF, 1, NOTHING), (0x80, -256, NOTHING)],
    "bcd": [(0x0F, 1, NOTHING), (0xF0, 10, NOTHING)],
    "low_digit": [(0x0F, 1, 10)],
    "high_digit": [(0xF0, 1, 10)],
    "digits": [(0x0F, 1, 10), (0xF0, 10, 10)],
    # c0 stands for 100: the last three parts come to -20 if both upper bits are set, else to 0.
    "to_100": [(0x0F, 1, NOTHING), (0xF0, 10, NOTHING), (0x80, -20, NOTHING), (0xC0, 10, NOTHING), (0xC0, -10, 2)],
}
EQUAL, UNEQUAL, LESS, MORE, WAS, FELL, FALL = range(7)
_GAIN = -2  # the address of the change of the score in a condition
_SIGNS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, ">": MORE, " was ": WAS}

# What is remembered of a console from frame to frame: int32 [STATE].
SCORE, MATCH, LIVES, BEFORE, REWARD, HELD = range(6)
STATE = 6


class Reading(NamedTuple):
    """The rules to read one game.

    Sums are int32 [terms, 5]: address, mask, shift, weight, and the number that counts 0. Conditions are
    int32 [comparisons, 5]: group, address, mask, sign, number; a condition holds if all comparisons of a group do.
    """

    score: np.ndarray
    match: np.ndarray  # a sum above the score: if it changes, its change is the reward (games of a tennis match)
    lives: np.ndarray
    over: np.ndarray
    won: np.ndarray  # the condition under which a game ends and the reward is `prize` more
    lost: np.ndarray  # the condition under which a game ends and the reward is 1 less
    zero: np.ndarray  # the condition under which the score counts as 0
    hold: np.ndarray  # the condition under which the lives are not read and stay as they are
    repeats: np.ndarray  # the condition under which the score is not read and the last frame's reward comes again
    wraps: int  # a score that falls has overflowed at this number; 0: it may fall; -1: a fall gives no reward
    most: int  # the largest reward of a frame; 0: no limit
    prize: int
    change: int  # the reward of each change of the score; 0: the reward is the difference
    end_counts: bool  # the frame that ends a game has a reward
    end_frames: int  # the end's condition holds for so many frames before a game is over
    end_lives: bool  # the lives are read also when a game is over, and are not 0
    falls: int  # address of a byte: one life is lost when it falls by one; -1: the lives are read
    first_lives: int  # the lives when a game begins; -1: they are read
    watched: int  # address of the byte whose last value is remembered; -1: none


def _address(text: str) -> int:
    """Returns the byte's place in a console's record."""
    address = int(text, 16)
    return address if address < RAM_BYTES else CARTRIDGE_RAM + address - RAM_BYTES


def _terms(text: str) -> np.ndarray:
    rows = []
    for term in filter(None, (part.split() for part in text.split(","))):
        if len(term) == 1:
            rows.append((NO_ADDRESS, 0, 0, int(term[0]), NOTHING))
            continue
        *weight, way, address = term
        mask, _, nothing = way.partition("!")
        parts = _WAYS.get(way) or [(int(mask, 16), 1, int(nothing, 16) if nothing else NOTHING)]
        for mask, unit, nothing in parts:
            shift = (mask & -mask).bit_length() - 1
            rows.append((_address(address), mask, shift, unit * int(*weight or [1]), nothing))
    return np.array(rows, np.int32).reshape(-1, 5)


def _conditions(text: str) -> np.ndarray:
    rows = []
    for group, together in enumerate(filter(None, text.split(" or "))):
        for comparison in together.split(" and "):
            if comparison == "fall":
                rows.append((group, 0, 0, FALL, 0))
                continue
            if comparison.endswith(" fell"):
                rows.append((group, _address(comparison[:2]), 0xFF, FELL, 0))
                continue
            address, mask, sign, number = re.fullmatch(
                r"(gain|[0-9a-f]{2})(?:&([0-9a-f]{2}))?(=|!=|<|>| was )([0-9a-f]+)", comparison
            ).groups()
            address = _GAIN if address == "gain" else _address(address)
            rows.append((group, address, int(mask or "ff", 16), _SIGNS[sign], int(number, 16)))
    return np.array(rows, np.int32).reshape(-1, 5)


@cache
def reading(rom: str) -> Reading:
    """Returns the rules of a game. Raises KeyError if the table does not have it."""
    game = GAMES[rom]
    names = "over", "won", "lost", "zero", "hold", "repeats"
    conditions = {name: _conditions(getattr(game, name)) for name in names}
    falls = int(game.falls, 16) if game.falls else NO_ADDRESS
    rows = [row for condition in conditions.values() for row in condition]
    watched = {int(row[1]) for row in rows if row[3] in (WAS, FELL)} | ({falls} - {NO_ADDRESS})
    return Reading(
        score=_terms(game.score),
        match=_terms(game.match),
        lives=_terms(game.lives),
        **conditions,
        wraps=game.wraps,
        most=game.most,
        prize=game.prize,
        change=game.change,
        end_counts=game.end_counts,
        end_frames=game.end_frames,
        end_lives=game.end_lives,
        falls=falls,
        first_lives=game.first_lives,
        watched=watched.pop() if watched else NO_ADDRESS,
    )


@inner
def _sum(ram, rows):
    total = 0
    for row in range(len(rows)):
        address, mask, shift = rows[row, 0], rows[row, 1], rows[row, 2]  # a view of the row would cost much more
        weight, nothing = rows[row, 3], rows[row, 4]
        if address == NO_ADDRESS:
            total += weight
        else:
            value = (ram[address] & mask) >> shift
            if value != nothing:
                total += weight * value
    return total


@inner
def _holds(ram, rows, before, fall, gain):
    """Evaluates conditions. `before` is the last value of the watched byte; `fall`: the lives fell by one."""
    row = 0
    while row < len(rows):
        group, every = rows[row, 0], True
        while row < len(rows) and rows[row, 0] == group:
            address, sign, number = rows[row, 1], rows[row, 3], rows[row, 4]
            value = gain if address == _GAIN else ram[address] & rows[row, 2]
            every &= (
                (sign == EQUAL and value == number)
                or (sign == UNEQUAL and value != number)
                or (sign == LESS and value < number)
                or (sign == MORE and value > number)
                or (sign == WAS and before == number)
                or (sign == FELL and value < before)
                or (sign == FALL and fall)
            )
            row += 1
        if every:
            return True
    return False


@inner
def _score(ram, reading, before):
    return 0 if _holds(ram, reading.zero, before, False, 0) else _sum(ram, reading.score)


@compiled
def begin(ram, reading, state):
    """Notes the score and lives of a new game in `state`, int32 [STATE]. `ram` is a record, or its first 128 bytes."""
    state[BEFORE] = ram[reading.watched] if reading.watched >= 0 else 0
    state[SCORE], state[MATCH] = _score(ram, reading, state[BEFORE]), _sum(ram, reading.match)
    state[LIVES] = _sum(ram, reading.lives) if reading.first_lives < 0 else reading.first_lives
    state[REWARD] = state[HELD] = 0


@inner
def _reward(ram, reading, state):
    """Returns the reward of a frame, before an end changes it, and notes the score."""
    if _holds(ram, reading.repeats, state[BEFORE], False, 0):
        return state[REWARD]
    score, match = _score(ram, reading, state[BEFORE]), _sum(ram, reading.match)
    reward = score - state[SCORE] if match == state[MATCH] else match - state[MATCH]
    state[SCORE], state[MATCH] = score, match
    if reward < 0 and reading.wraps:
        reward = 0 if reading.wraps < 0 else reward + reading.wraps
    if reward != 0 and reading.change:
        reward = reading.change
    if reading.most:
        reward = min(reward, reading.most)
    return reward


@compiled
def read(ram, reading, state):
    """Reads the game after a frame. Returns (reward, lives, game over). The reward is the change of the score."""
    before, had, gain = state[BEFORE], state[LIVES], state[SCORE]
    reward = _reward(ram, reading, state)
    gain = state[SCORE] - gain
    lives = _sum(ram, reading.lives)
    if reading.falls >= 0:
        lives = had - (ram[reading.falls] == (before - 1) & 0xFF)
    elif _holds(ram, reading.hold, before, lives == had - 1, gain):
        lives = had
    over = _holds(ram, reading.over, before, False, gain)
    state[HELD] = state[HELD] + 1 if over else 0
    over &= state[HELD] >= reading.end_frames
    if _holds(ram, reading.lost, before, False, gain):
        reward, over = reward - 1, True
    elif _holds(ram, reading.won, before, False, gain):
        reward, over = reward + reading.prize, True
    state[LIVES], state[REWARD] = lives, reward
    if reading.watched >= 0:
        state[BEFORE] = ram[reading.watched]
    if over and not reading.end_counts:
        reward = 0
    return reward, 0 if over and not reading.end_lives else lives, over
