"""The games of a system that plays in its own process: they are saved with a checkpoint, and go on after a resume."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ga3c.environments.games_in_play import Games
from ga3c.settings.ranges import MANY
from ga3c.transport.recurrent_states import RecurrentStates

CHANCE, REMEMBERED = "model/chance", "model/recurrent_state"


class UnderWay:
    """Holds the thread that plays while weights and games are saved, so that both are of one moment.

    It can be held between two rollouts, when all that was shipped is learned from.
    """

    def __init__(self, say: Callable[[str], None]):
        self._say, self._changed = say, threading.Condition()
        self._wanted = self._is_held = False
        self._games: Games | None = None
        self._remembered: dict[str, np.ndarray] = {}
        self._chance = 0, 0, 0
        self.loaded: dict[str, np.ndarray] | None = None  # what `held` gave: the games go on from there

    def begin(self, games: Games, model, recurrent: RecurrentStates | None = None) -> None:
        """Called by the player before it plays. `recurrent`: what the network remembers of the games, if it does."""
        before = np.zeros((len(games.over), 0), np.float32) if recurrent is None else recurrent.before
        if self.loaded is not None:
            try:
                chance, remembered = _chance(self.loaded.pop(CHANCE, None)), self.loaded.pop(REMEMBERED, before[:, :0])
                kept, own = ((array.shape, array.dtype) for array in (remembered, before))
                if kept != own or not np.isfinite(remembered).all():
                    raise ValueError("they do not say what the network remembers of them")
                games.restore(self.loaded)
                model.chance = chance
                before[:] = remembered
                self._say(f"{len(games.over):,} games go on where they were.")
            except ValueError as error:
                self._say(f"The games begin anew: those that were kept cannot go on, because {error}.")
            self.loaded = None
        self._games, self._remembered = games, {} if recurrent is None else {REMEMBERED: before}

    def come_by(self, chance: tuple[int, int, int], between: bool) -> None:
        """Called by the player before each prediction. `between`: two rollouts, and all is learned from."""
        self._chance = chance
        if not (between and self._wanted):
            return
        with self._changed:
            self._is_held = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._wanted)
            self._is_held = False

    def end(self) -> None:
        """Called by the player after its last step, or its failure."""
        with self._changed:
            self._is_held = True
            self._changed.notify_all()

    @contextmanager
    def held(self) -> Iterator[dict[str, np.ndarray] | None]:
        """Waits for the player and holds it. Yields the state of the games, not copied; None: they have not begun."""
        with self._changed:
            self._wanted = True
            self._changed.wait_for(lambda: self._is_held)
        try:
            chance = {CHANCE: np.array(self._chance, np.int64)}
            yield self._games and self._games.state() | self._remembered | chance
        finally:
            with self._changed:
                self._wanted = False
                self._changed.notify_all()


def _chance(array: np.ndarray | None) -> tuple[int, int, int]:
    """Returns a model's `chance` from an array. Raises ValueError."""
    if array is None or array.shape != (3,) or array.dtype != np.int64:
        raise ValueError("they do not say what chance followed")
    seed, predictions, steps = array.tolist()
    if not (abs(seed) <= 2**31 and 0 <= predictions < 2**31 and 0 <= steps <= MANY):
        raise ValueError("they do not say what chance followed")
    return seed, predictions, steps
