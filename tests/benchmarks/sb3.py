"""A2C, PPO or DQN of Stable-Baselines3 with its Atari wrappers, to measure ga3c against.

A2C has its own constants, PPO those that RL Baselines3 Zoo publishes for Atari games (8 games, 128 steps, 4 epochs of
minibatches of 256), without the schedules; the network is the paper's. DQN has those of Mnih et al. 2015, and their
network, which is what Stable-Baselines3 takes for images. Prints one line of JSON, as sync_a2c.py does.
"""

import argparse
import os
import sys
from importlib import metadata

os.environ.setdefault("GOMP_SPINCOUNT", "20000")  # as in sync_a2c.py: the games' processes need the cores

import ale_py
import gymnasium
import torch
from ale_py.registration import rom_id_to_name
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack
from sync_a2c import NETWORKS, Windows, arguments, body, report

ALGORITHMS = {
    "a2c": (A2C, {"n_steps": 5, "ent_coef": 0.01, "vf_coef": 0.25}),
    "ppo": (PPO, {"n_steps": 128, "n_epochs": 4, "batch_size": 256, "clip_range": 0.1, "ent_coef": 0.01}),
    "dqn": (DQN, {"batch_size": 32, "buffer_size": 50_000, "learning_starts": 1_000, "target_update_interval": 10_000}),
}
STEPS_PER_UPDATE = 4  # of DQN
# Most play of DQN's, once it explores no more than at the end.
DQN_CONSTANTS = {"learning_rate": 2.5e-4, "exploration_initial_eps": 0.1, "exploration_final_eps": 0.1}
ENVIRONMENTS = {"subproc": SubprocVecEnv, "dummy": DummyVecEnv}


class Features(BaseFeaturesExtractor):
    """The network up to its two heads, which the policy adds. The policy has scaled the observations already."""

    def __init__(self, observation_space: gymnasium.Space, network: str):
        super().__init__(observation_space, features_dim=256)
        self.body = body(NETWORKS[network])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.body(observations)


class Measure(BaseCallback):
    """Ends the training when all windows are full; the first begins with the first update."""

    def __init__(self, options: argparse.Namespace, first_update: int):
        super().__init__()
        self._options, self._first_update = options, first_update
        self.windows: Windows | None = None

    def _on_step(self) -> bool:
        if self.windows is None and self.num_timesteps >= self._first_update:
            asked = self._options
            self.windows = Windows(asked.seconds, asked.window_seconds, asked.warm_up_seconds)
        return self.windows is None or not self.windows.add(self.num_timesteps)


def policy_of(options: argparse.Namespace) -> dict:
    if options.algorithm == "dqn":
        rmsprop = {"alpha": 0.95, "eps": 1e-5, "centered": True}
        return {"optimizer_class": torch.optim.RMSprop, "optimizer_kwargs": rmsprop}
    return {
        "features_extractor_class": Features,
        "features_extractor_kwargs": {"network": options.network},
        "net_arch": [],  # nothing between the 256 units and the heads
    }


def constants_of(options: argparse.Namespace) -> dict:
    """An update of DQN is due for each 4 steps, whether those are of one game or of several."""
    constants = ALGORITHMS[options.algorithm][1]
    if options.algorithm != "dqn":
        return constants
    rounds = max(1, STEPS_PER_UPDATE // options.games)  # steps of all games, between two times of learning
    updates = max(1, rounds * options.games // STEPS_PER_UPDATE)
    return constants | DQN_CONSTANTS | {"train_freq": rounds, "gradient_steps": updates}


def main() -> int:
    parser = arguments(__doc__.partition("\n")[0], games=16)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="a2c")
    parser.add_argument(
        "--environments", choices=ENVIRONMENTS, default="subproc", help="a process for each game or one"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    gymnasium.register_envs(ale_py)
    # As NoFrameskip-v4, which only some games have: the wrappers skip the frames, and no action is sticky.
    env = make_atari_env(
        f"ALE/{rom_id_to_name(options.game)}-v5",
        options.games,
        env_kwargs={"frameskip": 1, "repeat_action_probability": 0.0},
        vec_env_cls=ENVIRONMENTS[options.environments],
    )
    env = VecFrameStack(env, n_stack=4)
    constants = constants_of(options)
    model = ALGORITHMS[options.algorithm][0]("CnnPolicy", env, policy_kwargs=policy_of(options), **constants)
    measure = Measure(options, constants.get("learning_starts", 0))
    model.learn(total_timesteps=sys.maxsize, callback=measure)
    env.close()
    sb3 = {"environments": options.environments, "stable-baselines3": metadata.version("stable-baselines3")}
    if options.algorithm == "dqn":
        options.network = "dqn"
    network = model.q_net if options.algorithm == "dqn" else model.policy
    report(f"sb3-{options.algorithm}", options, network, model.device, measure.windows, **sb3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
