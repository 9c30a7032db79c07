"""Loops that put the states and the returns of a batch together, as machine code."""

from typing import NamedTuple

import numpy as np
from numba import njit

from ga3c.replay.jit import compiled


class Ring(NamedTuple):
    """The size of a group's ring of rows. Place p belongs to game p % envs of the ring p // places."""

    places: int
    envs: int


class Sources(NamedTuple):
    """The pictures from which the states of n transitions are put together, and where."""

    frames: np.ndarray  # [places, values]
    age: np.ndarray  # uint8 [places]: how many pictures before each are of the same game
    places: np.ndarray  # int64 [n]: the newest picture of each state
    following: np.ndarray  # int64 [n]: the newest picture of the state that follows
    ring: Ring


class Outcomes(NamedTuple):
    """The outcomes of all rows."""

    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


@njit(nogil=True)
def _moved(place, rows, ring):
    """Returns the place so many rows later in the same game's ring."""
    start = place // ring.places * ring.places
    return start + (place - start + rows * ring.envs) % ring.places


@njit(nogil=True)
def _four(frames, known, place, nothing, ring, packed):
    """Writes four bytes as one number, which takes a third of the time."""
    newest = frames[place]
    second = frames[_moved(place, -1, ring)] if known >= 1 else nothing
    third = frames[_moved(place, -2, ring)] if known >= 2 else nothing
    oldest = frames[_moved(place, -3, ring)] if known >= 3 else nothing
    for pixel in range(packed.size):
        packed[pixel] = (
            np.uint32(oldest[pixel])
            | np.uint32(third[pixel]) << np.uint32(8)
            | np.uint32(second[pixel]) << np.uint32(16)
            | np.uint32(newest[pixel]) << np.uint32(24)
        )


@compiled
def fours(sources, out, next_out):
    frames, age, places, following, ring = sources
    nothing = np.zeros(frames.shape[1], frames.dtype)
    for index in range(places.size):  # both states of a transition at once: they share pictures
        _four(frames, age[places[index]], places[index], nothing, ring, out[index])
        _four(frames, age[following[index]], following[index], nothing, ring, next_out[index])


@njit(nogil=True)
def _stack(frames, known, place, ring, state):
    stack = state.shape[1]
    for picture in range(stack):
        back = stack - 1 - picture
        if back <= known:
            state[:, picture] = frames[_moved(place, -back, ring)]
        else:
            state[:, picture] = 0


@compiled
def stacks(sources, out, next_out):
    frames, age, places, following, ring = sources
    for index in range(places.size):
        _stack(frames, age[places[index]], places[index], ring, out[index])
        _stack(frames, age[following[index]], following[index], ring, next_out[index])


@compiled
def n_step_returns(outcomes, places, ring, steps, discount):
    reward, terminated, truncated = outcomes
    returns, discounts = np.zeros(places.size, np.float32), np.zeros(places.size, np.float32)
    following = np.empty(places.size, np.int64)
    for index in range(places.size):
        place, factor = places[index], 1.0
        for _ in range(steps):
            returns[index] += factor * reward[place]
            factor *= discount
            ended, cut = terminated[place], truncated[place]
            place = _moved(place, 1, ring)
            if ended:
                factor = 0.0
            if ended or cut:
                break
        discounts[index], following[index] = factor, place
    return returns, discounts, following
