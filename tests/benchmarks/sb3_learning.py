"""What A2C and PPO of Stable-Baselines3 learn in a given time, with the constants that RL Baselines3 Zoo publishes for
Atari games.

Prints one line of JSON: after each of the minutes asked for, the steps so far, the mean true score of the last 100
training games, and the true scores of 30 games that the agent then plays, actions sampled. Evaluation stops the clock.
"""

import argparse
import json
import os
import sys
import time
from collections import deque
from importlib import metadata

os.environ.setdefault("GOMP_SPINCOUNT", "20000")  # as in sync_a2c.py: the games' processes need the cores

import ale_py
import gymnasium
import numpy as np
import torch
from ale_py.registration import rom_id_to_name
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack

# hyperparams/a2c.yml and ppo.yml of RL Baselines3 Zoo, section "atari"; linear schedules go over 10 million steps.
HORIZON_STEPS = 10_000_000
CONSTANTS = {
    "a2c": {
        "ent_coef": 0.01,
        "vf_coef": 0.25,
        "policy_kwargs": {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": {"eps": 1e-5}},
    },
    "ppo": {
        "n_steps": 128,
        "n_epochs": 4,
        "batch_size": 256,
        "learning_rate": lambda left: 2.5e-4 * left,
        "clip_range": lambda left: 0.1 * left,
        "vf_coef": 0.5,
        "ent_coef": 0.01,
    },
}
ALGORITHMS = {"a2c": (A2C, 16), "ppo": (PPO, 8)}  # and the number of games


def games(rom: str, count: int, seed: int, **wrapper):
    """As NoFrameskip-v4, which only some games have: the wrappers skip the frames, and no action is sticky."""
    env = make_atari_env(
        f"ALE/{rom_id_to_name(rom)}-v5",
        count,
        seed=seed,
        env_kwargs={"frameskip": 1, "repeat_action_probability": 0.0},
        wrapper_kwargs=wrapper,
        vec_env_cls=SubprocVecEnv,
    )
    return VecFrameStack(env, n_stack=4)


class Clock(BaseCallback):
    """Evaluates when a time has come; ends the training after the last."""

    def __init__(self, minutes: list[float], evaluate):
        super().__init__()
        self._minutes, self._evaluate = deque(sorted(minutes)), evaluate
        self._spent, self._since = 0.0, time.monotonic()
        self.rows: list[dict] = []

    def _on_step(self) -> bool:
        spent = self._spent + time.monotonic() - self._since
        if spent < 60 * self._minutes[0]:
            return True
        recent = [episode["r"] for episode in self.model.ep_info_buffer]
        self.rows.append(
            {
                "minutes": self._minutes.popleft(),
                "steps": self.num_timesteps,
                "mean_of_last_games": float(np.mean(recent)) if recent else None,
                "scores": self._evaluate(self.model),
            }
        )
        print(self.rows[-1], file=sys.stderr, flush=True)
        self._spent, self._since = spent, time.monotonic()
        return bool(self._minutes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("--game", default="pong", help="name of the ROM")
    parser.add_argument("--minutes", type=float, nargs="+", default=[30.0, 60.0], help="of training, to look at")
    parser.add_argument("--episodes", type=int, default=30, help="games to play then")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    gymnasium.register_envs(ale_py)
    algorithm, count = ALGORITHMS[options.algorithm]
    env = games(options.game, count, options.seed)
    # Whole games and true scores.
    judged = games(options.game, 8, 1000, terminal_on_life_loss=False, clip_reward=False)

    def evaluate(model) -> list[float]:
        scores, _ = evaluate_policy(model, judged, options.episodes, deterministic=False, return_episode_rewards=True)
        return scores

    model = algorithm("CnnPolicy", env, seed=options.seed, **CONSTANTS[options.algorithm])
    clock = Clock(options.minutes, evaluate)
    model.learn(total_timesteps=HORIZON_STEPS, callback=clock)
    for every in (env, judged):
        every.close()
    versions = {"stable-baselines3": metadata.version("stable-baselines3"), "torch": torch.__version__}
    print(json.dumps({"algorithm": options.algorithm, "game": options.game, "rows": clock.rows, "versions": versions}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
