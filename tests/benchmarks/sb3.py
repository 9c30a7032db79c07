"""A2C or PPO of Stable-Baselines3 with its Atari wrappers, to measure ga3c against.

A2C has its own constants, PPO those that RL Baselines3 Zoo publishes for Atari games (8 games, 128 steps, 4 epochs of
minibatches of 256), without the schedules; the network is the paper's. Prints one line of JSON, as sync_a2c.py does.
"""

import os
import sys
from importlib import metadata

os.environ.setdefault("GOMP_SPINCOUNT", "20000")  # as in sync_a2c.py: the games' processes need the cores

import ale_py
import gymnasium
import torch
from ale_py.registration import rom_id_to_name
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecFrameStack
from sync_a2c import NETWORKS, Windows, arguments, body, report

ALGORITHMS = {
    "a2c": (A2C, {"n_steps": 5, "ent_coef": 0.01, "vf_coef": 0.25}),
    "ppo": (PPO, {"n_steps": 128, "n_epochs": 4, "batch_size": 256, "clip_range": 0.1, "ent_coef": 0.01}),
}
ENVIRONMENTS = {"subproc": SubprocVecEnv, "dummy": DummyVecEnv}


class Features(BaseFeaturesExtractor):
    """The network up to its two heads, which the policy adds. The policy has scaled the observations already."""

    def __init__(self, observation_space: gymnasium.Space, network: str):
        super().__init__(observation_space, features_dim=256)
        self.body = body(NETWORKS[network])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.body(observations)


class Measure(BaseCallback):
    """Ends the training when all windows are full."""

    def __init__(self, windows: Windows):
        super().__init__()
        self._windows = windows

    def _on_step(self) -> bool:
        return not self._windows.add(self.num_timesteps)


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
    policy = {
        "features_extractor_class": Features,
        "features_extractor_kwargs": {"network": options.network},
        "net_arch": [],  # nothing between the 256 units and the heads
    }
    env = VecFrameStack(env, n_stack=4)
    algorithm, constants = ALGORITHMS[options.algorithm]
    model = algorithm("CnnPolicy", env, policy_kwargs=policy, **constants)
    windows = Windows(options.seconds, options.window_seconds, options.warm_up_seconds)
    model.learn(total_timesteps=sys.maxsize, callback=Measure(windows))
    env.close()
    sb3 = {"environments": options.environments, "stable-baselines3": metadata.version("stable-baselines3")}
    report(f"sb3-{options.algorithm}", options, model.policy, model.device, windows, **sb3)
    return 0


if __name__ == "__main__":
    sys.exit(main())
