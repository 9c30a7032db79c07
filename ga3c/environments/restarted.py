"""Makes games again whose own code fails, for games in the server's process, where there is no agent to replace."""

import traceback
from collections.abc import Callable

import gymnasium
import numpy as np

from ga3c.environments.checked import reason
from ga3c.environments.game_fault import GameFault
from ga3c.environments.observations import Observations
from ga3c.errors import TrainingFailed


class Restarts:
    """Counts and reports the failures of a batch of games, as those of agents are."""

    def __init__(self, say: Callable[[str], None], limit: int, progress_steps: int):
        """`limit` failures in a row end the run. `progress_steps` steps of a game since its start, or of any game since
        the last failure, reset the count."""
        self._say, self._limit, self._progress_steps = say, limit, progress_steps
        self._in_a_row, self._since_failure = 0, {}
        self._said: set[str] = set()

    def stepped(self, game: int) -> None:
        steps = self._since_failure[game] = self._since_failure.get(game, 0) + 1
        if steps == self._progress_steps:
            self._in_a_row = 0

    def failed(self, game: int, error: BaseException, steps: int) -> None:
        """Counts a failure after `steps` steps of this game. Raises TrainingFailed at the limit."""
        self._since_failure.clear()
        self._in_a_row = self._in_a_row + 1 if steps < self._progress_steps else 0
        why = reason(error)
        if self._in_a_row >= self._limit:
            lines = "" if isinstance(error, GameFault) else "\n" + "".join(traceback.format_exception(error)).rstrip()
            raise TrainingFailed(f"Games keep failing. The last, game {game}: {why}.{lines}") from error
        if type(error).__name__ not in self._said:  # report each type once: a game may fail at each step
            self._said.add(type(error).__name__)
            self._say(f"Game {game} failed ({why}): it starts anew, and the step counts as lost.")


class Restarted(gymnasium.Wrapper):
    """A game whose step and reset, if the game's own code fails, return the first state of a new game. It fails, too,
    where it shows what cannot be converted."""

    def __init__(self, make: Callable[[], gymnasium.Env], number: int, seed: int, adapt: bool, restarts: Restarts):
        """`adapt`: as in `observations.Observations`."""
        super().__init__(make())
        self._check = Observations(self.env.observation_space, adapt).check
        self._make, self._number, self._seeds, self._restarts = make, number, np.random.SeedSequence(seed), restarts
        self._steps = 0  # since it was made
        self.lost = False  # the last step failed

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        self.lost = False
        try:
            return self._reset(seed=seed, options=options)
        except BaseException as error:
            return self._anew(error)

    def _reset(self, **arguments):
        observation, info = self.env.reset(**arguments)
        self._check(observation)
        return observation, info

    def step(self, action):
        self.lost = False
        try:
            result = self.env.step(action)
            self._check(result[0])
        except BaseException as error:
            self.lost = True
            observation, info = self._anew(error)
            return observation, 0.0, False, False, info
        self._steps += 1
        self._restarts.stepped(self._number)
        return result

    def _anew(self, error: BaseException):
        """Makes the game again. Returns what `reset` returns. Raises TrainingFailed, and KeyboardInterrupt (Ctrl+C)."""
        while True:
            if isinstance(error, KeyboardInterrupt):
                raise error
            self._restarts.failed(self._number, error, self._steps)
            self._steps = 0
            try:
                self.env.close()
                self.env = self._make()
                return self._reset(seed=int(self._seeds.spawn(1)[0].generate_state(1)[0] >> 1))
            except BaseException as another:
                error = another

    def close(self):
        self.env.close()
