"""The kernels: as many threads as a step needs, each does what `threads` says."""

from numba import cuda
from numba.cuda.core import config

from ga3c.emulator.threads import WORD_BYTES, begin_word, look_pixel, play_console, see_word

if config.ENABLE_CUDASIM:  # runs a kernel as Python, and what it calls on a core
    kernel = cuda.jit
else:
    from ga3c.emulator.cuda.device_code import prepare

    prepare()
    kernel = cuda.jit(lto=False)  # what is compiled at linking does not go by the rules that `prepare` sets


@kernel
def begin(cache, consoles, orders):
    """Each thread has every so many of the words: eight pixels of a console."""
    for index in range(cuda.grid(1), consoles.seen.size // WORD_BYTES, cuda.gridsize(1)):
        begin_word(cache, consoles, orders, index)


@kernel
def play(game, consoles, orders):
    """A thread for a console."""
    console = cuda.grid(1)
    if console < len(orders.actions):
        play_console(game, consoles, orders, console)


@kernel
def see(game, consoles, orders):
    for index in range(cuda.grid(1), consoles.seen.size // WORD_BYTES, cuda.gridsize(1)):
        see_word(game, consoles, orders, index)


@kernel
def look(game, consoles, orders):
    for index in range(cuda.grid(1), consoles.states.size // consoles.states.shape[3], cuda.gridsize(1)):
        look_pixel(game, consoles, orders, index)
