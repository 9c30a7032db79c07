"""Games that are made anew where their own code fails: for who would end with them, having no process to replace."""

import traceback
from collections.abc import Callable

import gymnasium
import numpy as np

from ga3c.environments.checked import GameFault, reason
from ga3c.errors import TrainingFailed


class Restarts:
    """What is known of the failures of a batch of games: said, and counted, as those of agents are."""

    def __init__(self, say: Callable[[str], None], limit: int, progress_steps: int):
        """`limit`: so many failures in a row end the run; `progress_steps` of a game since its start, or of any game
        since the last failure, begin the row anew."""
        self._say, self._limit, self._progress_steps = say, limit, progress_steps
        self._in_a_row, self._since_failure = 0, {}
        self._said: set[str] = set()

    def stepped(self, game: int) -> None:
        steps = self._since_failure[game] = self._since_failure.get(game, 0) + 1
        if steps == self._progress_steps:
            self._in_a_row = 0

    def failed(self, game: int, error: BaseException, steps: int) -> None:
        """`steps`: of this game since its start. Raises TrainingFailed where starting anew does not help."""
        self._since_failure.clear()
        self._in_a_row = self._in_a_row + 1 if steps < self._progress_steps else 0
        why = reason(error)
        if self._in_a_row >= self._limit:
            lines = "" if isinstance(error, GameFault) else "\n" + "".join(traceback.format_exception(error)).rstrip()
            raise TrainingFailed(f"Games keep failing. The last, game {game}: {why}.{lines}") from error
        if type(error).__name__ not in self._said:  # each kind once: a game may fail at each step
            self._said.add(type(error).__name__)
            self._say(f"Game {game} failed ({why}): it starts anew, and the step counts as lost.")


class Restarted(gymnasium.Wrapper):
    """Its step or reset shows the first state of a new game where the game's own code has failed."""

    def __init__(self, make: Callable[[], gymnasium.Env], number: int, seed: int, restarts: Restarts):
        super().__init__(make())
        self._make, self._number, self._seeds, self._restarts = make, number, np.random.SeedSequence(seed), restarts
        self._steps = 0  # since it was made
        self.lost = False  # the last step was none

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        self.lost = False
        try:
            return self.env.reset(seed=seed, options=options)
        except BaseException as error:
            return self._anew(error)

    def step(self, action):
        self.lost = False
        try:
            result = self.env.step(action)
        except BaseException as error:
            self.lost = True
            observation, info = self._anew(error)
            return observation, 0.0, False, False, info
        self._steps += 1
        self._restarts.stepped(self._number)
        return result

    def _anew(self, error: BaseException):
        """What `reset` returns. Raises TrainingFailed, and KeyboardInterrupt, which is the person's."""
        while True:
            if isinstance(error, KeyboardInterrupt):
                raise error
            self._restarts.failed(self._number, error, self._steps)
            self._steps = 0
            try:
                self.env.close()
                self.env = self._make()
                return self.env.reset(seed=int(self._seeds.spawn(1)[0].generate_state(1)[0] >> 1))
            except BaseException as another:
                error = another

    def close(self):
        self.env.close()
