"""Steps many consoles: plays four frames, draws two of them, reads reward, lives and end, and makes the small frame."""

from typing import NamedTuple

import numpy as np

from ga3c.emulator import games
from ga3c.emulator.compiled import inner
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import goes_on, is_drawn, next_frame
from ga3c.emulator.games import Reading
from ga3c.emulator.shrink import Cover, brighten, brighter, push, shrink

NO_OP, FIRE = 0, 1
OVER, CUT = 1, 2  # bits that say how a game ended
TURN, WENT_ON = 1, 2  # bits of `turns`


class Game(NamedTuple):
    """The values that all consoles of a batch share."""

    rom: np.ndarray  # uint8
    starts: np.ndarray  # uint8 [., SIZE]: records of consoles in which the game has just begun
    start_pictures: np.ndarray  # uint8 [., 2, height * 160]: their last two pictures, the older first
    order: np.ndarray  # uint8: the numbers of the starts of a console's games, one after the other
    reading: Reading
    grey: np.ndarray  # uint8 [256], indexed by colour
    rows: Cover
    columns: Cover
    frame_skip: int
    cap_frames: int
    copies_starts: bool  # a game begins as a copy of a start; else it begins with the console's record and picture
    fire: bool  # the first frame of a game presses FIRE
    sticky: float  # the probability that a frame repeats the last frame's action
    code: int = 0  # the address of the code made for the game (`made`); 0: there is none


class Consoles(NamedTuple):
    """The values of each console; the first axis of all arrays is [console]."""

    records: np.ndarray  # uint8 [., SIZE]
    # uint8 [., 2 or 3, height * 160]: the first two are used in turn; each keeps the pixels that a frame does not draw.
    # If a frame goes on (`goes_on`), the third has what its picture was before. Empty, as `seen`: nothing is drawn.
    pictures: np.ndarray
    turns: np.ndarray  # int64: the number of the picture of the next frame that begins; WENT_ON: the last one went on
    seen: np.ndarray  # uint8 [., height * 160]: the last grey picture, before scaling
    readings: np.ndarray  # int32 [., games.STATE]
    begun: np.ndarray  # int64: how many games have begun
    draws: np.ndarray  # float64 [., draws], in [0, 1): they decide on sticky actions; empty without these
    drawn: np.ndarray  # int64: how many draws are used
    actions: np.ndarray  # int64: the last frame's action
    frames: np.ndarray  # int64: the frames of this game after its no-ops
    ended: np.ndarray  # int64: OVER, CUT; 0: the game goes on
    rewards: np.ndarray  # int32
    lives: np.ndarray  # int32
    states: np.ndarray  # uint8 [., size, size, stack]


def consoles(
    count: int, record_bytes: int, pixels: int, size: int, stack: int, draws: int, pictures: int = 2
) -> Consoles:
    return Consoles(
        records=np.zeros((count, record_bytes), np.uint8),
        pictures=np.zeros((count, pictures, pixels), np.uint8),
        turns=np.zeros(count, np.int64),
        seen=np.zeros((count, pixels), np.uint8),
        readings=np.zeros((count, games.STATE), np.int32),
        begun=np.zeros(count, np.int64),
        draws=np.zeros((count, draws)),
        drawn=np.full(count, draws),
        actions=np.zeros(count, np.int64),
        frames=np.zeros(count, np.int64),
        ended=np.zeros(count, np.int64),
        rewards=np.zeros(count, np.int32),
        lives=np.zeros(count, np.int32),
        states=np.zeros((count, size, size, stack), np.uint8),
    )


@inner
def copy(source, target):
    """Copies one row to another. An assignment does, too, but it has Numba compile its error message: some seconds."""
    for at in range(len(target)):
        target[at] = source[at]


@inner
def _is_seen(consoles):
    return consoles.pictures.shape[2] > 0


@inner
def _next_picture(consoles, console, record, drawn):
    """Returns the number of the picture that the next frame draws, and WENT_ON if it goes on and there is a third."""
    pictures, went_on = consoles.pictures[console], goes_on(record)
    number = (consoles.turns[console] & TURN) ^ went_on
    if len(pictures) == 2 or not went_on:
        return number, 0
    if drawn:
        copy(pictures[number], pictures[2])
    return number, WENT_ON


@inner
def last_pictures(game, consoles, console):
    """Returns the numbers of the pictures of the last two frames; with frames that are all seen, twice that of one."""
    turns = consoles.turns[console]
    last = (turns & TURN) ^ 1
    if game.frame_skip == 1:
        return last, last
    return (2 if turns & WENT_ON else last ^ 1), last


@inner
def _frame(game, consoles, console, action, drawn):
    # int64, as in `starts`: Numba would compile all functions a second time for uint64, and for a constant True.
    record = np.int64(consoles.records[console].ctypes.data)
    number, went_on = _next_picture(consoles, console, record, drawn)
    picture = np.int64(consoles.pictures[console, number].ctypes.data)
    if game.sticky:
        if consoles.draws[console, consoles.drawn[console]] < game.sticky:
            action = consoles.actions[console]
        consoles.drawn[console] += 1
        consoles.actions[console] = action
    press(record, action)
    next_frame(record, np.int64(game.rom.ctypes.data), picture if drawn else 0, game.code)
    consoles.turns[console] = number ^ 1 | went_on
    return games.read(consoles.records[console], game.reading, consoles.readings[console])


@inner
def _look(game, consoles, console, work):
    """Scales the grey picture, and appends it to the state."""
    line, totals, small = work
    shrink(consoles.seen[console].reshape(-1, len(line)), game.rows, game.columns, line, totals, small)
    push(small, consoles.states[console])


@inner
def _restart(game, consoles, console, no_ops, work):
    """Begins a game and plays its no-ops. With fire_reset, the first of them is FIRE."""
    is_seen = _is_seen(consoles)
    if game.copies_starts:
        start = game.order[consoles.begun[console] % len(game.order)]
        copy(game.starts[start], consoles.records[console])
        if is_seen:
            for number in range(2):
                copy(game.start_pictures[start, number], consoles.pictures[console, number])
    consoles.begun[console] += 1
    consoles.turns[console] = 0
    consoles.actions[console] = NO_OP
    games.begin(consoles.records[console], game.reading, consoles.readings[console])
    for frame in range(max(no_ops, game.fire)):
        _frame(game, consoles, console, FIRE if game.fire and frame == 0 else NO_OP, is_seen)
    consoles.frames[console] = consoles.ended[console] = consoles.rewards[console] = 0
    consoles.lives[console] = consoles.readings[console, games.LIVES]
    consoles.states[console] = 0
    if is_seen:
        last = consoles.pictures[console, (consoles.turns[console] & TURN) ^ 1]
        brighter(last, last, game.grey, consoles.seen[console])
        _look(game, consoles, console, work)


@inner
def play_frames(game, consoles, console, action, first_drawn):
    """Plays the frames of a step. Returns (reward, lives, last frame's number, drawn pictures are complete)."""
    reward, complete = 0, True
    for frame in range(game.frame_skip):
        earned, lives, over = _frame(game, consoles, console, action, frame >= first_drawn)
        reward += earned
        if frame >= first_drawn:
            complete &= is_drawn(np.int64(consoles.records[console].ctypes.data))
        consoles.frames[console] += 1
        consoles.ended[console] = over * OVER | (consoles.frames[console] >= game.cap_frames) * CUT
        if consoles.ended[console]:
            break
    return reward, lives, frame, complete


@inner
def _step(game, consoles, console, action, work):
    """Steps a console. Only the last two frames are drawn; the brighter of their pixels is seen.

    The frame that ends a game is not seen: the last grey picture stays, brightened by a frame drawn before the end.
    Pixels that a frame does not draw stay as they were two frames before. So if a picture is not complete, all frames
    are played again, and all are drawn. With a third picture, all are drawn at once.
    """
    if not _is_seen(consoles):
        consoles.rewards[console], consoles.lives[console], _, _ = play_frames(
            game, consoles, console, action, np.int64(game.frame_skip)
        )
        return
    pictures = consoles.pictures[console]
    record, reading = consoles.records[console].copy(), consoles.readings[console].copy()
    turn, frames = consoles.turns[console], consoles.frames[console]
    drawn, before = consoles.drawn[console], consoles.actions[console]
    draws_all = len(pictures) > 2
    first_drawn = np.int64(0) if draws_all else game.frame_skip - 2
    reward, lives, frame, complete = play_frames(game, consoles, console, action, first_drawn)
    if not (complete or draws_all):
        copy(record, consoles.records[console])
        copy(reading, consoles.readings[console])
        consoles.turns[console], consoles.frames[console] = turn, frames
        consoles.drawn[console], consoles.actions[console] = drawn, before
        reward, lives, frame, complete = play_frames(game, consoles, console, action, np.int64(0))
    consoles.rewards[console], consoles.lives[console] = reward, lives
    before, last = last_pictures(game, consoles, console)
    if not consoles.ended[console]:
        brighter(pictures[before], pictures[last], game.grey, consoles.seen[console])
    elif frame > 0 and frame == game.frame_skip - 1:
        brighten(pictures[before], game.grey, consoles.seen[console])
    _look(game, consoles, console, work)


@inner
def work_for(game):
    """Returns the buffers that a thread needs to step consoles."""
    size = len(game.rows.first)
    width = game.columns.first[-1] + len(game.columns.parts)
    return np.empty(width, np.uint32), np.empty(size, np.uint32), np.empty((size, size), np.uint8)


@inner
def play_one(game, consoles, console, action, no_ops, work):
    """Steps a console by an action (ALE's number), or begins a game, with so many no-ops, if its last one has ended."""
    if consoles.ended[console]:
        _restart(game, consoles, console, no_ops, work)
    else:
        _step(game, consoles, console, action, work)
