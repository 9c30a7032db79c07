"""Pace: when an update is due for what was played, and when agents wait for updates."""

import threading
from collections.abc import Callable


class Pace:
    """One update for each `steps_per_update` steps, from the first `minimum_steps` on."""

    def __init__(self, minimum_steps: int, steps_per_update: int):
        self.minimum_steps, self._steps_per_update = minimum_steps, steps_per_update
        self._steps = self._updates = 0

    def played(self, steps: int) -> None:
        self._steps += steps

    def updated(self) -> None:
        self._updates += 1

    @property
    def due(self) -> bool:
        """True when an update is due."""
        return self._steps >= self.minimum_steps + self._updates * self._steps_per_update

    @property
    def has_minimum(self) -> bool:
        """True when there is enough to learn from."""
        return self._steps >= self.minimum_steps


class Blocks:
    """Play in blocks of as many steps each. Between two blocks all agents wait (Daley and Amato 2021, algorithm 1).

    `choose_requests` is called in one thread, the rest in another.
    """

    def __init__(
        self,
        choose: Callable[[list], int],
        rows: int,
        agents: int,
        envs: int,
        on_change: Callable[[], None] = lambda: None,
    ):
        """`choose`: the rule for predictions within a block. `rows`: of each agent in a block. `envs`: of each agent.
        `on_change()` is called when a block is played."""
        self.rows = rows
        self._choose, self._steps, self._envs, self._on_change = choose, rows * agents * envs, envs, on_change
        self._left = self._steps
        self._waiting: list | None = None  # agents, for the next block; None: not known yet
        self._lock = threading.Lock()  # keeps a block that begins from counting as played
        self._ending = False

    def end(self) -> None:
        """Answers each agent at once from now on: they are told to end."""
        self._ending = True

    def choose_requests(self, waiting: list) -> int:
        """Sorts the requests that wait, and returns how many are answered now."""
        count = self._choose(waiting)
        if self._ending or not count:
            return count
        with self._lock:
            if self._left > 0:
                count = min(count, -(-self._left // self._envs))
                self._left -= count * self._envs
                return count
            self._waiting = [request.agent for request in waiting[:count]]
        self._on_change()
        return 0

    @property
    def played(self) -> bool:
        """True when a block is played, and all that was shipped in it is stored."""
        waiting = self._waiting
        return waiting is not None and all(agent.gone or not agent.memory.untrained for agent in waiting)

    def begin(self) -> None:
        """Begins the next block."""
        with self._lock:
            self._waiting, self._left = None, self._steps
