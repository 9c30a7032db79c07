"""Games that nobody can play well who does not remember: `--game tests.remembered_games:Cue-v0`."""

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.wrappers import TransformObservation

DELAY_STEPS = 20
SCALE = np.array([1.0, 10.0], np.float32)


class Cue(gymnasium.Env):
    """The first state shows one of two cues; 20 steps later it is asked for. The right answer earns 1, the other -1.

    Whoever forgets has 0 points on average.
    """

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._cue, self._step = int(self.np_random.integers(2)), 0
        return np.array([2 * self._cue - 1, 0], np.float32), {}

    def step(self, action):
        self._step += 1
        asked = self._step > DELAY_STEPS
        reward = float(2 * (action == self._cue) - 1) if asked else 0.0
        return np.array([0, self._step == DELAY_STEPS], np.float32), reward, asked, False, {}


def still_cart_pole():
    """CartPole that shows where cart and pole are, and not how fast they move."""
    space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    return TransformObservation(CartPoleEnv(), lambda state: state[[0, 2]] * SCALE, space)


gymnasium.register("Cue-v0", Cue)
gymnasium.register("StillCartPole-v0", still_cart_pole, max_episode_steps=200)
