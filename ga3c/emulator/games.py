"""What a game's score, lives and end are: how they lie in the 128 bytes of a console's memory.

`game_table` has a line for each game; here it becomes rows of numbers, and compiled code that reads by them.

A sum has terms, `100 low 4c, -3`: 100 times the lower four bits of the byte at 4c, less 3. How a byte is read:
    raw           0 to 255
    low, high     the lower four bits, the upper four
    bcd           ten times the upper four and the lower four
    to_100        the same, and c0 is 100
    low_digit, high_digit, digits    as bcd, but there ten is a blank on the screen and counts nothing
    7f, f8!10     the bits of this mask, as a number; where it is the number behind !, it counts nothing
A condition, `39=0 and 4c&0f>9 or 20!=1`, compares bytes, or their bits in a mask, with numbers; `was 59`, for the first
byte of the condition, stands for what it was a frame ago; `and` binds more than `or`.
Addresses (from where the memory begins: 0 to 7f), masks and bytes are hexadecimal, weights and constants decimal.
"""

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.game_table import GAMES

NO_ADDRESS, NOTHING = -1, 256
# How each way to read a byte is made of parts: mask, weight, and what counts nothing.
_WAYS = {
    "raw": [(0xFF, 1, NOTHING)],
    "low": [(0x0F, 1, NOTHING)],
    "high": [(0xF0, 1, NOTHING)],
    "bcd": [(0x0F, 1, NOTHING), (0xF0, 10, NOTHING)],
    "low_digit": [(0x0F, 1, 10)],
    "high_digit": [(0xF0, 1, 10)],
    "digits": [(0x0F, 1, 10), (0xF0, 10, 10)],
    # The last three come to -20 where both upper bits are set: 100 lies there as c0.
    "to_100": [(0x0F, 1, NOTHING), (0xF0, 10, NOTHING), (0x80, -20, NOTHING), (0xC0, 10, NOTHING), (0xC0, -10, 2)],
}
EQUAL, UNEQUAL, LESS, MORE, WAS, FALL = range(6)
_SIGNS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, ">": MORE, " was ": WAS}

# What a reading remembers of a console from frame to frame: int32 [STATE].
SCORE, MATCH, LIVES, BEFORE = range(4)
STATE = 4


class Reading(NamedTuple):
    """How a game is read. Sums are int32 [terms, 5]: address, mask, shift, weight, and what counts nothing.
    Conditions are int32 [comparisons, 5]: group, address, mask, sign, number; true where all of a group are."""

    score: np.ndarray
    match: np.ndarray  # a sum that stands above the score: where it changes, only it counts (games of tennis)
    lives: np.ndarray
    over: np.ndarray
    zero: np.ndarray  # when the score counts as 0
    hold: np.ndarray  # when the lives are not read but stay as they are
    wraps: int  # a score that has fallen has gone past this and begun anew; 0: it may fall; -1: that counts nothing
    most: int  # a reward is at most this; 0: any
    end_counts: bool  # whether the frame that ends a game has a reward
    falls: int  # address of a byte: lives are not read, but fall when it falls by one; -1: they are read
    first_lives: int  # when a game has begun and they are not yet read; -1: they are
    watched: int  # address of the byte that is compared with what it was; -1: none


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
            rows.append((int(address, 16), mask, shift, unit * int(*weight or [1]), nothing))
    return np.array(rows, np.int32).reshape(-1, 5)


def _conditions(text: str) -> np.ndarray:
    rows = []
    for group, together in enumerate(filter(None, text.split(" or "))):
        for comparison in together.split(" and "):
            if comparison == "fall":
                rows.append((group, 0, 0, FALL, 0))
                continue
            address, mask, sign, number = re.fullmatch(
                r"([0-9a-f]{2})(?:&([0-9a-f]{2}))?(=|!=|<|>| was )([0-9a-f]+)", comparison
            ).groups()
            rows.append((group, int(address, 16), int(mask or "ff", 16), _SIGNS[sign], int(number, 16)))
    return np.array(rows, np.int32).reshape(-1, 5)


@cache
def reading(rom: str) -> Reading:
    """Raises KeyError for a game that is not in the table."""
    game = GAMES[rom]
    over, hold = _conditions(game.over), _conditions(game.hold)
    falls = int(game.falls, 16) if game.falls else NO_ADDRESS
    watched = {int(row[1]) for row in (*over, *hold) if row[3] == WAS} | ({falls} - {NO_ADDRESS})
    return Reading(
        score=_terms(game.score),
        match=_terms(game.match),
        lives=_terms(game.lives),
        over=over,
        zero=_conditions(game.zero),
        hold=hold,
        wraps=game.wraps,
        most=game.most,
        end_counts=game.end_counts,
        falls=falls,
        first_lives=game.first_lives,
        watched=watched.pop() if watched else NO_ADDRESS,
    )


@compiled
def _sum(ram, rows):
    total = 0
    for row in range(len(rows)):
        address, mask, shift, weight, nothing = rows[row]
        if address == NO_ADDRESS:
            total += weight
        else:
            value = (ram[address] & mask) >> shift
            if value != nothing:
                total += weight * value
    return total


@compiled
def _holds(ram, rows, before, fall):
    """`before`: what the watched byte was; `fall`: the lives would be one less than they were."""
    row = 0
    while row < len(rows):
        group, every = rows[row, 0], True
        while row < len(rows) and rows[row, 0] == group:
            _, address, mask, sign, number = rows[row]
            value = ram[address] & mask
            every &= (
                (sign == EQUAL and value == number)
                or (sign == UNEQUAL and value != number)
                or (sign == LESS and value < number)
                or (sign == MORE and value > number)
                or (sign == WAS and before == number)
                or (sign == FALL and fall)
            )
            row += 1
        if every:
            return True
    return False


@compiled
def _score(ram, reading):
    return 0 if _holds(ram, reading.zero, 0, False) else _sum(ram, reading.score)


@compiled
def begin(ram, reading, state):
    """A game has begun: notes its score and lives. `ram` is uint8 [128 or more], `state` int32 [STATE]."""
    state[SCORE], state[MATCH] = _score(ram, reading), _sum(ram, reading.match)
    state[LIVES] = _sum(ram, reading.lives) if reading.first_lives < 0 else reading.first_lives
    state[BEFORE] = ram[reading.watched] if reading.watched >= 0 else 0


@compiled
def read(ram, reading, state):
    """After each frame. Returns: reward (the score now less the score before), lives, whether the game is over."""
    score, match, before, had = _score(ram, reading), _sum(ram, reading.match), state[BEFORE], state[LIVES]
    reward = score - state[SCORE] if match == state[MATCH] else match - state[MATCH]
    if reward < 0 and reading.wraps:
        reward = 0 if reading.wraps < 0 else reward + reading.wraps
    if reading.most:
        reward = min(reward, reading.most)
    lives = _sum(ram, reading.lives)
    if reading.falls >= 0:
        lives = had - (ram[reading.falls] == (before - 1) & 0xFF)
    elif _holds(ram, reading.hold, before, lives == had - 1):
        lives = had
    over = _holds(ram, reading.over, before, False)
    state[SCORE], state[MATCH], state[LIVES] = score, match, lives
    if reading.watched >= 0:
        state[BEFORE] = ram[reading.watched]
    if over and not reading.end_counts:
        reward = 0
    return reward, 0 if over else lives, over
