"""The random numbers of a batch, as ale-py's vector environment draws them: each game has its own generators."""

import numpy as np

DRAWS = 1024  # random numbers for sticky actions, drawn at once
WORDS = 624  # of a Mersenne twister; its state has one word more, the number of used words


class Chance:
    """Draws the no-ops of each game's beginning, and what decides on sticky actions."""

    def __init__(self, count: int, noop_max: int, sticky: bool):
        self.no_ops = np.zeros(count, np.int64)  # of each game's next beginning
        self._noop_max, self._is_sticky = noop_max, sticky
        self._for_no_ops, self._for_actions = np.full(count, None), np.full(count if sticky else 0, None)

    def seed(self, which: np.ndarray, seeds: np.ndarray, drawn: np.ndarray) -> None:
        """Seeds the marked games (bool [game]) from `seeds`, [game]; their draws for sticky actions are used up."""
        for game in np.flatnonzero(which):
            number = int(seeds[game]) % 2**31
            self._for_no_ops[game] = np.random.RandomState(number)._bit_generator
            if self._is_sticky:
                self._for_actions[game] = np.random.RandomState(number)
                drawn[game] = DRAWS
        self.draw_no_ops(which)

    def draw_no_ops(self, which: np.ndarray) -> None:
        """Draws the number of no-ops for the next beginning of the marked games."""
        if self._noop_max:
            for game in np.flatnonzero(which):
                self.no_ops[game] = int(self._for_no_ops[game].random_raw()) * self._noop_max >> 32

    def refill(self, draws: np.ndarray, drawn: np.ndarray, frames: int) -> None:
        """Draws for sticky actions, where fewer are left than the no-ops of a beginning, or these frames, may need."""
        if not self._is_sticky:
            return
        for game in np.flatnonzero(DRAWS - drawn < max(self._noop_max, frames)):
            left = draws[game, drawn[game] :]
            draws[game] = np.append(left, self._for_actions[game].random_sample(DRAWS - len(left)))
            drawn[game] = 0

    def states(self, games=slice(None)) -> dict[str, np.ndarray]:
        """Returns the state of these games' generators, uint32 [game, words + 1] each, and their next no-ops."""
        return {
            "no_ops": self.no_ops[games],
            "random/no_ops": _states_of(self._for_no_ops[games]),
            "random/sticky": _states_of(self._bits(games)),
        }

    def restore(self, states: dict[str, np.ndarray], games=slice(None)) -> None:
        """Restores what `states` returned."""
        self.no_ops[games] = states["no_ops"]
        _set_states(self._for_no_ops[games], states["random/no_ops"])
        _set_states(self._bits(games), states["random/sticky"])

    def _bits(self, games) -> list:
        return [one._bit_generator for one in self._for_actions[games]] if self._is_sticky else []


def _states_of(generators) -> np.ndarray:
    states = [generator.state["state"] for generator in generators]
    rows = [np.append(state["key"], np.uint32(state["pos"])) for state in states]
    return np.array(rows, np.uint32).reshape(-1, WORDS + 1)


def _set_states(generators, states: np.ndarray) -> None:
    for generator, row in zip(generators, states, strict=True):
        generator.state = {"bit_generator": "MT19937", "state": {"key": row[:-1], "pos": int(row[-1])}}
