"""The keys of a person while an agent plays: speed, pause, single step, and the joystick.

Keys have names: left, right, up, down, space, escape, or the character itself.
"""

import time

HELP = "q quit  p pause  n step  +/- speed  j joystick"
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 0.0)  # 0: as fast as it goes
DIRECTIONS = ("up", "down", "right", "left")  # in the order of the emulator's names: UPRIGHTFIRE


class Keyboard:
    """The state of the keys. `speed` is a factor of the game's own; 0: as fast as it goes."""

    def __init__(self, action_names: list[str], steps_per_second: float, speed: float):
        """action_names: [] where an action is not one of them: there is no joystick for it."""
        self._names, self._steps_per_second, self._speed = action_names, steps_per_second, speed
        self._paused = self._single = self._joystick = self.left = False
        self._held: set[str] = set()
        self._due = 0.0  # time.monotonic() of the next step

    def key(self, name: str, down: bool) -> None:
        """A key was pressed, or let go."""
        if not down:
            self._held.discard(name)
            return
        self._held.add(name)
        if name in ("q", "escape"):
            self.left = True
        elif name == "p":
            self._paused = not self._paused
        elif name == "n":
            self._paused = self._single = True
        elif name == "j" and self._names:
            self._joystick = not self._joystick
        elif name in ("+", "="):
            self._change_speed(1)
        elif name == "-":
            self._change_speed(-1)

    def _change_speed(self, by: int) -> None:
        order = [speed or float("inf") for speed in SPEEDS]
        now = self._speed or float("inf")
        near = min(range(len(order)), key=lambda index: abs(order[index] - now) if order[index] != now else -1)
        self._speed = SPEEDS[min(max(near + by, 0), len(SPEEDS) - 1)]

    def seconds_to_wait(self) -> float:
        """Until the next step is due; 0: it is. While paused always a moment."""
        if self._single:
            return 0.0
        return 0.1 if self._paused else max(0.0, self._due - time.monotonic())

    def step_taken(self) -> None:
        """Makes the next one due in its time."""
        self._single, now = False, time.monotonic()
        period = 1 / (self._steps_per_second * self._speed) if self._speed else 0.0
        # What comes late by more than a step is not made up for.
        self._due = max(self._due + period, now)

    def action(self) -> int | None:
        """Returns the action of the person at the joystick; None: the agent plays.

        Games with directions take the arrows and space (fire); others the numbers of their actions.
        """
        if not self._joystick:
            return None
        digits = [int(key) for key in self._held if key.isdecimal() and int(key) < len(self._names)]
        if digits:
            return digits[0]
        towards = "".join(direction.upper() for direction in DIRECTIONS if direction in self._held)
        fire = "FIRE" if "space" in self._held else ""
        for name in (towards + fire, towards, fire, "NOOP"):
            if name in self._names:
                return self._names.index(name)
        return 0

    def __str__(self) -> str:
        speed = "full speed" if not self._speed else f"speed {self._speed:g}"
        known = {"NOOP", "FIRE", *(direction.upper() for direction in DIRECTIONS)} & set(self._names)
        keys = "arrows, space" if known else f"keys 0 to {min(9, len(self._names) - 1)}"
        return ", ".join((["paused"] if self._paused else [speed]) + ([f"you play: {keys}"] if self._joystick else []))
