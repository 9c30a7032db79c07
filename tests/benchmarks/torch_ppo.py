"""PPO in plain PyTorch on one game: the same file on EnvPool, on ale-py's vector environment and on ga3c.atari.

    python tests/benchmarks/torch_ppo.py --on ga3c --game pong --steps 2000000

Prints a line for every tenth rollout: steps, steps/s, and the mean score of the last 100 games; at the end a sum over
the weights. On cores, ga3c and ale-py give the same lines for the same seed, but for the speed; EnvPool has its own
random starts. Constants are those of Schulman et al. 2017 for Atari, and 64 games. Needs what requirements.txt here
lists; for ga3c also its own.
"""

import argparse
import time
from collections import deque

import numpy as np
import torch
from sync_a2c import NETWORKS, Network
from torch.nn import functional

GAMES, ROLLOUT_STEPS, EPOCHS, MINIBATCHES = 64, 32, 4, 8
DISCOUNT, LAMBDA, CLIP, ENTROPY_WEIGHT, VALUE_WEIGHT, STEP_SIZE = 0.99, 0.95, 0.1, 0.01, 0.5, 2.5e-4


def made(on: str, game: str, seed: int):
    """Returns games that begin anew in the step after their end, with rewards that are not clipped."""
    if on == "envpool":
        import envpool

        name = game.title().replace("_", "")
        return envpool.make_gymnasium(f"{name}-v5", num_envs=GAMES, seed=seed, reward_clip=False, episodic_life=False)
    if on == "ale-py":
        from ale_py.vector_env import AtariVectorEnv

        return AtariVectorEnv(game, GAMES, reward_clipping=False)
    from ga3c.atari import AtariVectorEnv

    return AtariVectorEnv(game, GAMES, use_fire_reset=True)


class Rollout:
    """What was played: arrays [step, game]."""

    def __init__(self, games, network: Network, device: torch.device, seed: int | None):
        """`seed`: of the first reset; None where `games` has its seed already."""
        self._games, self._network, self._device = games, network, device
        first = games.reset(**({} if seed is None else {"seed": seed}))[0]
        self._now, self._over = self._tensor(first), np.zeros(GAMES, bool)
        self._scores, self.finished = np.zeros(GAMES), deque(maxlen=100)

    def _tensor(self, array) -> torch.Tensor:
        return torch.as_tensor(np.asarray(array), device=self._device)

    @torch.no_grad()
    def play(self) -> dict[str, torch.Tensor]:
        """Returns a rollout as flat tensors [step * game], with advantages. Rows that begin a game are left out."""
        rows = {name: [] for name in ("observation", "action", "log_probability", "value", "reward", "over", "valid")}
        for _ in range(ROLLOUT_STEPS):
            logits, value = self._network(self._now)
            policy = torch.distributions.Categorical(logits=logits)
            action = policy.sample()
            observation, over = self._now, self._over
            self._now, reward, terminated, truncated, _ = self._games.step(action.cpu().numpy().astype(np.int32))
            self._now, self._over = self._tensor(self._now), np.asarray(terminated) | np.asarray(truncated)
            self._count(np.asarray(reward), over)
            new = observation, action, policy.log_prob(action), value, np.sign(reward), self._over, ~over
            for name, part in zip(rows, new, strict=True):
                rows[name].append(self._tensor(part) if isinstance(part, np.ndarray) else part)
        stacked = {name: torch.stack(parts) for name, parts in rows.items()}
        stacked["advantage"] = self._advantages(stacked, self._network(self._now)[1])
        valid = stacked.pop("valid").flatten()
        return {name: part.flatten(0, 1)[valid] for name, part in stacked.items()}

    def _count(self, reward: np.ndarray, over: np.ndarray) -> None:
        self._scores += np.where(over, 0, reward)
        for game in np.flatnonzero(self._over):
            self.finished.append(self._scores[game])
            self._scores[game] = 0

    @staticmethod
    def _advantages(rows: dict[str, torch.Tensor], bootstrap_value: torch.Tensor) -> torch.Tensor:
        """Generalised advantages. A step that ends a game has no future, also where it was cut off."""
        advantages, advantage, following = [], torch.zeros_like(bootstrap_value), bootstrap_value
        for step in reversed(range(ROLLOUT_STEPS)):
            goes_on = 1 - rows["over"][step].float()
            difference = rows["reward"][step].float() + DISCOUNT * following * goes_on - rows["value"][step]
            advantage = difference + DISCOUNT * LAMBDA * goes_on * advantage
            advantages.append(advantage)
            following = rows["value"][step]
        return torch.stack(advantages[::-1])


def learn(network: Network, optimizer: torch.optim.Optimizer, rows: dict[str, torch.Tensor]) -> None:
    count = len(rows["action"])
    returns = rows["advantage"] + rows["value"]
    for _ in range(EPOCHS):
        for chosen in torch.randperm(count, device=returns.device).chunk(MINIBATCHES):
            logits, value = network(rows["observation"][chosen])
            policy, advantage = torch.distributions.Categorical(logits=logits), rows["advantage"][chosen]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            ratio = (policy.log_prob(rows["action"][chosen]) - rows["log_probability"][chosen]).exp()
            surrogate = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
            value_loss = functional.mse_loss(value, returns[chosen])
            loss = VALUE_WEIGHT * value_loss - surrogate - ENTROPY_WEIGHT * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=["ga3c", "ale-py", "envpool"], default="ga3c")
    parser.add_argument("--game", default="pong", help="as a ROM file's name, such as ms_pacman")
    parser.add_argument("--steps", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--network", choices=NETWORKS, default="large-stride-2")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    games = made(options.on, options.game, options.seed)
    actions = int(getattr(games, "single_action_space", games.action_space).n)
    network = Network(NETWORKS[options.network], actions).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=STEP_SIZE, eps=1e-5)
    rollout = Rollout(games, network, device, None if options.on == "envpool" else options.seed)
    began, steps, rollouts = time.perf_counter(), 0, 0
    while steps < options.steps:
        learn(network, optimizer, rollout.play())
        steps, rollouts = steps + GAMES * ROLLOUT_STEPS, rollouts + 1
        if rollouts % 10 == 0:
            mean = np.mean(rollout.finished) if rollout.finished else float("nan")
            rate = steps / (time.perf_counter() - began)
            print(f"{options.on}: {steps:,} steps, {rate:,.0f} steps/s, score {mean:.1f}", flush=True)
    with torch.no_grad():
        print(f"Sum of the weights' sizes: {sum(part.double().abs().sum() for part in network.parameters()):.9f}")
    games.close()


if __name__ == "__main__":
    main()
