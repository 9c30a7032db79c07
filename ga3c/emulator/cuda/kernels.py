"""The four kernels of a step, and one that copies states. `threads` has the work of each thread."""

from functools import partial

from numba import cuda
from numba.cuda.core import config

from ga3c.emulator.compiled import cached
from ga3c.emulator.threads import WORD_BYTES, begin_word, look_pixel, play_console, see_word, show_pixel

if config.ENABLE_CUDASIM:  # the simulator runs a kernel as Python, and the functions that it calls on a core
    kernel = cuda.jit
else:
    from ga3c.emulator.cuda.device_code import prepare

    prepare()
    # Code compiled at link time would ignore the rules of `prepare`.
    kernel = partial(cached, partial(cuda.jit, lto=False))


@kernel
def begin(cache, consoles, orders):
    """Begins new games. A thread takes every n-th word of 8 pixels, where n is the number of threads."""
    for index in range(cuda.grid(1), consoles.seen.size // WORD_BYTES, cuda.gridsize(1)):
        begin_word(cache, consoles, orders, index)


@kernel
def play(game, consoles, orders):
    """Plays the frames of a step, one thread for each console."""
    console = cuda.grid(1)
    if console < len(orders.actions):
        play_console(game, consoles, orders, console)


@kernel
def see(game, consoles, orders):
    """Computes the grey pictures, a word of 8 pixels at a time."""
    for index in range(cuda.grid(1), consoles.seen.size // WORD_BYTES, cuda.gridsize(1)):
        see_word(game, consoles, orders, index)


@kernel
def look(game, consoles, orders):
    """Computes the small frames, a pixel at a time, and appends them to the states."""
    for index in range(cuda.grid(1), consoles.states.size // consoles.states.shape[3], cuda.gridsize(1)):
        look_pixel(game, consoles, orders, index)


@kernel
def show(target, consoles, orders):
    """Copies the states to `target`, with the stack as the first axis."""
    for index in range(cuda.grid(1), consoles.states.size // consoles.states.shape[3], cuda.gridsize(1)):
        show_pixel(target, consoles, index)
