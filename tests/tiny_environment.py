"""An environment that is solved within seconds: `--game tests.tiny_environment:Match-v0`.

The state shows one of four symbols; the action that names it earns 1. A game is 20 steps: 20 points at best,
5 for a random player.
"""

import gymnasium
import numpy as np

STEPS, SYMBOLS = 20, 4


class Match(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (SYMBOLS,), np.float32)
    action_space = gymnasium.spaces.Discrete(SYMBOLS)

    def _show(self) -> np.ndarray:
        self._symbol = int(self.np_random.integers(SYMBOLS))
        return np.eye(SYMBOLS, dtype=np.float32)[self._symbol]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return self._show(), {}

    def step(self, action):
        reward = float(action == self._symbol)
        self._step += 1
        return self._show(), reward, self._step == STEPS, False, {}


class Broken(Match):
    """Fails at its first step."""

    def step(self, action):
        raise ArithmeticError("broken on purpose")


gymnasium.register("Match-v0", Match)
gymnasium.register("Broken-v0", Broken)
