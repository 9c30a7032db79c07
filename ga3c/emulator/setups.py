"""The setup of each game: its controller, its cartridge, and which lines of the frame its picture shows."""

from dataclasses import dataclass

import numpy as np

from ga3c.emulator.cartridge import BANK_BYTES, DPC, E0, F6, F6SC, F8, F8SC, FE, PLAIN, insert
from ga3c.emulator.controllers import JOYSTICK, MOST_OHMS, PADDLE, SWAPPED_JOYSTICK, SWAPPED_PADDLE, connect
from ga3c.emulator.state import END_LINE, FIRST_LINE, NO_BLANKS, PAL, SIZE


@dataclass(frozen=True)
class Setup:
    """The controller, and the visible part of the frame. `hmove_blanks`: HMOVE's black edge at the left is visible."""

    controller: int = JOYSTICK
    paddle_most_ohms: int = MOST_OHMS
    first_line: int = 34
    height_lines: int = 210
    hmove_blanks: bool = True
    pal: bool = False


# The cartridges whose kind does not follow from their size.
_CARTRIDGES = {
    **dict.fromkeys(("jamesbond", "montezuma_revenge", "tutankham"), E0),
    "darkchambers": F6SC,
    "elevator_action": F8SC,
    "klax": F6SC,
    "pitfall2": DPC,
    "robotank": FE,
}
_BY_BANKS = {1: PLAIN, 2: F8, 4: F6}

_SETUPS = {
    "surround": Setup(SWAPPED_JOYSTICK),
    "wizard_of_wor": Setup(SWAPPED_JOYSTICK),
    "backgammon": Setup(PADDLE, paddle_most_ohms=1_000_000),
    "blackjack": Setup(PADDLE, paddle_most_ohms=795_000),
    "pong": Setup(SWAPPED_PADDLE),
    **dict.fromkeys(("breakout", "casino", "kaboom"), Setup(PADDLE)),
    **dict.fromkeys(("asteroids", "battle_zone", "darkchambers", "ms_pacman"), Setup(hmove_blanks=False)),
    "qbert": Setup(first_line=40),
    "up_n_down": Setup(first_line=30),
    "carnival": Setup(first_line=26, height_lines=214),
    "pooyan": Setup(first_line=26, height_lines=220),
    "journey_escape": Setup(height_lines=230),
    **dict.fromkeys(
        ("adventure", "air_raid", "keystone_kapers", "king_kong", "klax"), Setup(height_lines=250, pal=True)
    ),
    **dict.fromkeys(("laser_gates", "mr_do", "pacman", "sir_lancelot", "space_war"), Setup(height_lines=250, pal=True)),
}


def setup_of(game: str) -> Setup:
    """Returns the setup of a game, named as its ROM file (ms_pacman)."""
    return _SETUPS.get(game, Setup())


def new_record(game: str, data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Returns the record, uint8 [SIZE], of a console before it is switched on, and its ROM, uint8."""
    setup, record = setup_of(game), np.zeros(SIZE, np.uint8)
    fields = record.view(np.int32)
    fields[FIRST_LINE // 4], fields[END_LINE // 4] = setup.first_line, setup.first_line + setup.height_lines
    fields[NO_BLANKS // 4], fields[PAL // 4] = not setup.hmove_blanks, setup.pal
    connect(record.ctypes.data, setup.controller, setup.paddle_most_ohms)
    kind = _CARTRIDGES.get(game, _BY_BANKS.get(max(len(data) // BANK_BYTES, 1)))
    return record, insert(record, data, kind)
