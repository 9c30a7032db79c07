"""What keys do."""

import time

import pytest

from ga3c.play.keyboard import Keyboard

ATARI = ["NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "RIGHTFIRE", "UPRIGHTFIRE"]


def controls(names=ATARI, speed=1.0):
    return Keyboard(names, 15.0, speed)


def test_a_key_that_looks_like_a_number():
    made = controls(["0", "1", "2"])
    press(made, "j", "²")
    assert made.action() == 0


def press(made, *keys):
    for key in keys:
        made.key(key, True)


@pytest.mark.parametrize(
    ("held", "action"),
    [
        ([], "NOOP"), (["space"], "FIRE"), (["right"], "RIGHT"), (["right", "up"], "UPRIGHT"),
        (["space", "right", "up"], "UPRIGHTFIRE"), (["space", "left"], "LEFT"), (["down", "left"], "NOOP"),
    ],
)  # fmt: skip
def test_the_joystick(held, action):
    """What the game does not know is left out: fire first."""
    made = controls()
    assert made.action() is None
    press(made, "j", *held)
    assert ATARI[made.action()] == action
    for key in held:
        made.key(key, False)
    assert ATARI[made.action()] == "NOOP"
    press(made, "j")
    assert made.action() is None


def test_games_without_directions_take_numbers():
    made = controls(["0", "1", "2"])
    press(made, "j", "2")
    assert made.action() == 2
    made.key("2", False)
    press(made, "7")
    assert made.action() == 0


def test_pause_and_single_steps():
    made = controls(speed=0.0)
    assert made.seconds_to_wait() == 0
    press(made, "p")
    assert made.seconds_to_wait() > 0
    press(made, "n")
    assert made.seconds_to_wait() == 0
    made.step_taken()
    assert made.seconds_to_wait() > 0
    assert str(made) == "paused"
    press(made, "p")
    made.step_taken()
    assert made.seconds_to_wait() == 0


def test_speed():
    made = controls(speed=1.0)
    assert str(made) == "speed 1"
    press(made, "+", "+")
    assert str(made) == "speed 4"
    press(made, "-", "-", "-", "-", "-", "-", "-", "-")
    assert str(made) == "speed 0.1"
    press(made, *"++++++++++")
    assert str(made) == "full speed"
    made = controls(speed=3.0)
    press(made, "-")
    assert str(made) in ("speed 1", "speed 2")


def test_steps_come_at_the_games_own_speed():
    made = controls(speed=2.0)
    began = time.monotonic()
    for _ in range(10):
        time.sleep(made.seconds_to_wait())
        made.step_taken()
    time.sleep(made.seconds_to_wait())
    assert time.monotonic() - began > 9 / 30 - 0.02


def test_leaving():
    for key in ("q", "escape"):
        made = controls()
        assert not made.left
        press(made, key)
        assert made.left
