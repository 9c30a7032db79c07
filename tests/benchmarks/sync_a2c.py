"""A synchronous A2C in PyTorch, to measure GA3C against. One process: act, step all games, update, again.

The same emulator, network and batches as ours; the losses and constants that A2C is usually run with. Prints one
line of JSON. Needs what requirements.txt here lists and nothing of ga3c.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from importlib import metadata

# PyTorch's threads spin for milliseconds when they have nothing to do, on cores that the emulator needs. So short a
# time bridges the gap from one operation to the next and no more. Read when PyTorch is loaded.
if "--plain" not in sys.argv:
    os.environ.setdefault("GOMP_SPINCOUNT", "20000")

import numpy as np
import torch
from ale_py.vector_env import AtariVectorEnv
from torch import nn

T_MAX = 5
DISCOUNT, ENTROPY_WEIGHT, VALUE_WEIGHT, GRADIENT_CLIP_NORM = 0.99, 0.01, 0.5, 0.5
# (filters, kernel, stride) of each convolution, as in ga3c/networks/policy_value.py
NETWORKS = {"small": [(16, 8, 4), (32, 4, 2)]}
NETWORKS |= {f"large-stride-{stride}": [(32, 8, stride), (32, 4, 2), (64, 4, 2)] for stride in (4, 3, 2, 1)}


def body(convolutions: list[tuple[int, int, int]]) -> nn.Sequential:
    """Unpadded convolutions and 256 units: float32 [batch, 4, 84, 84] -> [batch, 256]."""
    channels, side, layers = 4, 84, []
    for filters, kernel, stride in convolutions:
        layers += [nn.Conv2d(channels, filters, kernel, stride), nn.ReLU(inplace=True)]
        channels, side = filters, (side - kernel) // stride + 1
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * side * side, 256), nn.ReLU(inplace=True))


class Network(nn.Module):
    """uint8 [batch, 4, 84, 84] -> logits [batch, actions], value [batch], float32."""

    def __init__(self, convolutions: list[tuple[int, int, int]], actions: int):
        super().__init__()
        self.body = body(convolutions)
        self.heads = nn.Linear(256, actions + 1)  # both in one multiplication

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = self.heads(self.body(observations.float().mul_(1 / 255)))
        return outputs[:, :-1], outputs[:, -1]


def n_step_returns(rewards, values, terminated, truncated, valid, bootstrap_value) -> np.ndarray:
    """R_t = r_t + discount R_{t+1}. Arrays [time, games]; the bootstrap value [games]. Rows that are not valid restart
    a game: they are no transition, and their value is that of the state in which the game before was cut off."""
    returns = np.empty_like(rewards)
    target = next_value = bootstrap_value
    for t in reversed(range(len(rewards))):
        future = np.where(terminated[t], 0, np.where(truncated[t], next_value, target))
        target = returns[t] = np.where(valid[t], rewards[t] + DISCOUNT * future, target)
        next_value = values[t]
    return returns


class A2C:
    """`games` copies of one game and the network that learns them. `update()` is one rollout and one update."""

    def __init__(self, game: str, games: int, network: str, plain: bool):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._env = AtariVectorEnv(game, games, use_fire_reset=False)  # threads: one for each core; clips rewards
        self.network = Network(NETWORKS[network], int(self._env.single_action_space.n)).to(self.device)
        self._optimizer = torch.optim.RMSprop(self.network.parameters(), lr=7e-4, alpha=0.99, eps=1e-5)
        self._observations = torch.empty((T_MAX + 1, games, 4, 84, 84), dtype=torch.uint8, device=self.device)
        if not plain:  # channels last in memory, which makes convolutions faster; the shape stays
            channels_last = self._observations.permute(0, 1, 3, 4, 2).contiguous()
            self._observations = channels_last.permute(0, 1, 4, 2, 3)
        self._actions = torch.empty((T_MAX, games), dtype=torch.int64, device=self.device)
        self._rewards, self._values = np.empty((2, T_MAX, games), np.float32)
        self._terminated, self._truncated, self._valid = np.zeros((3, T_MAX, games), np.bool_)
        first, _ = self._env.reset(seed=random.randrange(2**30) + np.arange(games))
        self._observations[T_MAX].copy_(torch.from_numpy(first))

    def update(self) -> int:
        """Returns the steps that were trained on: all but those that restarted a game."""
        with torch.inference_mode():
            bootstrap_value = self._play()
        arrays = self._rewards, self._values, self._terminated, self._truncated, self._valid
        returns = n_step_returns(*arrays, bootstrap_value)
        self._train(self._to_device(returns), self._to_device(self._valid))
        return int(self._valid.sum())

    def _play(self) -> np.ndarray:
        """Fills the arrays with T_MAX steps of all games. Returns the value of the states after them."""
        self._observations[0].copy_(self._observations[T_MAX])
        valid = ~(self._terminated[-1] | self._truncated[-1])  # the step after the end of a game restarts it
        for t in range(T_MAX):
            logits, values = self.network(self._observations[t])
            self._actions[t] = torch.multinomial(logits.softmax(1), 1).squeeze(1)
            observations, self._rewards[t], self._terminated[t], self._truncated[t], _ = self._env.step(
                self._actions[t].cpu().numpy()
            )
            self._observations[t + 1].copy_(torch.from_numpy(observations))
            self._values[t], self._valid[t] = values.cpu(), valid
            valid = ~(self._terminated[t] | self._truncated[t])
        return self.network(self._observations[T_MAX])[1].cpu().numpy()

    def _train(self, returns: torch.Tensor, valid: torch.Tensor) -> None:
        """One step of RMSprop on the mean loss of the valid steps. float32 and bool [time * games]."""
        logits, values = self.network(self._observations[:T_MAX].flatten(0, 1))
        log_probabilities = logits.log_softmax(1)
        errors = returns - values
        policy = log_probabilities.gather(1, self._actions.view(-1, 1)).squeeze(1) * errors.detach()
        entropy = -(log_probabilities.exp() * log_probabilities).sum(1)
        losses = VALUE_WEIGHT * errors.square() - policy - ENTROPY_WEIGHT * entropy
        self._optimizer.zero_grad()
        (losses * valid).sum().div(valid.sum()).backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_CLIP_NORM)
        self._optimizer.step()

    def _to_device(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).flatten().to(self.device)


class Windows:
    """Steps per second in windows of equal length; the time before the first is left out."""

    def __init__(self, seconds: float, window_seconds: float, warm_up_seconds: float):
        self.steps_per_second: list[float] = []
        self._count, self._window_seconds = max(1, round(seconds / window_seconds)), window_seconds
        self._start, self._start_steps = time.perf_counter() + warm_up_seconds - window_seconds, 0
        self._warm = False

    def add(self, steps: int) -> bool:
        """Takes all steps made so far. Returns whether the last window is full."""
        now = time.perf_counter()
        if now - self._start >= self._window_seconds:
            if self._warm:
                self.steps_per_second.append((steps - self._start_steps) / (now - self._start))
            self._warm, self._start, self._start_steps = True, now, steps
        return len(self.steps_per_second) == self._count


def arguments(description: str, games: int) -> argparse.ArgumentParser:
    """The options that all programs here have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--game", default="pong", help="Atari game by the name of its ROM (ms_pacman)")
    parser.add_argument("--games", type=int, default=games, help="copies of the game")
    parser.add_argument("--network", choices=NETWORKS, default="small", help="of the paper's section 5.1")
    parser.add_argument("--threads", type=int, default=_usable_cores(), help="of PyTorch")
    parser.add_argument("--seconds", type=float, default=30, help="to measure")
    parser.add_argument("--window-seconds", type=float, default=5, help="of one figure")
    parser.add_argument("--warm-up-seconds", type=float, default=5, help="left out before")
    return parser


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def report(program: str, options: argparse.Namespace, network: nn.Module, device, windows: Windows, **more) -> None:
    """Prints the line of JSON."""
    packages = "torch", "ale-py", "gymnasium", "numpy"
    outcome = {
        "program": program,
        "game": options.game,
        "games": options.games,
        "network": options.network,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "device": str(device),
        "threads": options.threads,
        "steps_per_second": [round(rate, 1) for rate in windows.steps_per_second],
        "median": round(statistics.median(windows.steps_per_second), 1),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in packages},
    }
    print(json.dumps(outcome | more), flush=True)


def main() -> int:
    parser = arguments(__doc__.partition("\n")[0], games=32)
    parser.add_argument("--plain", action="store_true", help="PyTorch's defaults for memory layout and waiting threads")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    a2c = A2C(options.game, options.games, options.network, options.plain)
    windows, steps = Windows(options.seconds, options.window_seconds, options.warm_up_seconds), 0
    while not windows.add(steps):
        steps += a2c.update()
    report("plain-sync-a2c" if options.plain else "tuned-sync-a2c", options, a2c.network, a2c.device, windows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
