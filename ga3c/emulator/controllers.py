"""Joysticks and paddles: sets the console's input pins for an action, as ALE does."""

import numpy as np

from ga3c.emulator.compiled import compiled
from ga3c.emulator.pointers import load32, store32
from ga3c.emulator.state import CONTROLLER, INPT4, PADDLE_0, PADDLE_MOST, SWCHA, SWCHB

JOYSTICK, SWAPPED_JOYSTICK, PADDLE, SWAPPED_PADDLE = range(4)
# Indexed by ALE's action number: the joystick's pins in SWCHA's upper half, and the button in bit 0.
_UP, _DOWN, _LEFT, _RIGHT, _FIRE = 0x10, 0x20, 0x40, 0x80, 1
_WAYS = [_UP, _RIGHT, _LEFT, _DOWN, _UP | _RIGHT, _UP | _LEFT, _DOWN | _RIGHT, _DOWN | _LEFT]
PINS = np.array([0, _FIRE, *_WAYS, *(way | _FIRE for way in _WAYS)], np.int64)

SWITCHES = 0x3F  # SWCHB: nothing pressed, colour, both difficulties B
NOT_CONNECTED, AT_ONCE = -1, 0  # resistances of a paddle whose capacitor is never charged, and always charged
LEAST_OHMS, MOST_OHMS, STEP_OHMS = 27_450, 790_196, 23_000


@compiled
def connect(console: int, controller: int, most_ohms: int) -> None:
    """Plugs the game's controller in. Paddles start in the middle of their range, which ends at `most_ohms`."""
    store32(console, PADDLE_MOST, most_ohms)
    store32(console, CONTROLLER, controller)
    store32(console, SWCHB, SWITCHES)
    for paddle in range(4):
        ohms = (LEAST_OHMS + most_ohms) // 2 if controller >= PADDLE and paddle < 2 else NOT_CONNECTED
        store32(console, PADDLE_0 + 4 * paddle, AT_ONCE if controller == SWAPPED_PADDLE and paddle >= 2 else ohms)
    press(console, 0)


@compiled
def press(console: int, action: int) -> None:
    """Sets the pins for the next frame from one of ALE's 18 actions. LEFT and RIGHT turn a paddle by one step."""
    pins, controller = PINS[action], load32(console, CONTROLLER)
    fire, ways = pins & 1, pins & 0xF0
    for button in range(2):
        pressed = fire and controller == button
        store32(console, INPT4 + 4 * button, 0 if pressed else 0x80)
    if controller == JOYSTICK:
        store32(console, SWCHA, 0xFF ^ ways)
    elif controller == SWAPPED_JOYSTICK:
        store32(console, SWCHA, 0xFF ^ ways >> 4)
    else:
        paddle = PADDLE_0 + 4 * (controller - PADDLE)
        ohms = load32(console, paddle)
        if ways & _RIGHT:
            ohms = max(ohms - STEP_OHMS, LEAST_OHMS)
        elif ways & _LEFT:
            ohms = min(ohms + STEP_OHMS, load32(console, PADDLE_MOST))
        store32(console, paddle, ohms)
        store32(console, SWCHA, 0xFF ^ (0x80 >> (controller - PADDLE)) * fire)
