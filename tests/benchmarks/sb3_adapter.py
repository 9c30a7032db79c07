"""Stable-Baselines3 on ga3c.atari: an adapter of a few lines, and a PPO on it.

    python tests/benchmarks/sb3_adapter.py --game Pong --steps 100000

Needs what requirements.txt here lists, and ga3c's own packages.
"""

import argparse

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

import ga3c.atari  # noqa: F401  It registers the games.


class Sb3Games(VecEnv):
    """A vector environment of Gymnasium, which begins its games anew within the step, as one of Stable-Baselines3."""

    def __init__(self, envs: gymnasium.vector.VectorEnv):
        self._envs, self._actions, self.render_mode = envs, None, envs.render_mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self):
        return self._envs.reset(seed=self._seeds[0])[0]

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        observations, rewards, terminated, truncated, info = self._envs.step(self._actions)
        over, infos = terminated | truncated, [{"lives": lives} for lives in info["lives"].tolist()]
        for game in over.nonzero()[0]:
            cut = bool(truncated[game] and not terminated[game])
            infos[game] |= {"terminal_observation": info["final_obs"][game], "TimeLimit.truncated": cut}
        return observations, rewards, over, infos

    def close(self):
        self._envs.close()

    def get_attr(self, name, indices=None):
        return [getattr(self._envs, name)] * len(list(self._get_indices(indices)))

    def set_attr(self, name, value, indices=None):
        setattr(self._envs, name, value)

    def env_method(self, name, *arguments, indices=None, **named):
        return [getattr(self._envs, name)(*arguments, **named)]

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * len(list(self._get_indices(indices)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="Pong")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    envs = gymnasium.make_vec(f"ga3c/{options.game}-v0", num_envs=options.games, autoreset_mode="SameStep")
    model = PPO("CnnPolicy", VecMonitor(Sb3Games(envs)), n_steps=128, batch_size=256, clip_range=0.1, verbose=1)
    model.learn(options.steps)


if __name__ == "__main__":
    main()
