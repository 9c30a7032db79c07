"""Measures quantized files: score, size, and time for an observation."""

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ga3c.devices.device import quiet
from ga3c.experiments.evaluation import MOST_STEPS, play_games
from ga3c.exports import played
from ga3c.exports.deployed_agent import NEXT_STATE, bounds, inputs_of
from ga3c.exports.signature import Arrays, Runtime
from ga3c.play.trained_agent import TrainedAgent

GAMES = 10


def timed(runtime: Runtime, inputs: Arrays) -> tuple[Arrays, float]:
    """Returns what a file says, and the seconds that it took."""
    with quiet():  # the first call sets up
        runtime({name: array[:1] for name, array in inputs.items()})
    began = time.perf_counter()
    said = runtime(inputs)
    return said, time.perf_counter() - began


def mean_score(agent: TrainedAgent, policy: Callable, seed: int) -> float:
    """Returns the mean score of ten games with a function that decides as `Model.decide` does."""
    best = agent.has_action_values or agent.games.spec.actions.continuous
    return float(np.mean(play_games(policy, agent.settings.environment, GAMES, seed, best, MOST_STEPS)[0]))


def policy_of(agent: TrainedAgent, runtime: Runtime, seed: int) -> Callable:
    """Returns a function that decides with a file as `Model.decide` does."""
    kind, asked, random = agent.games.spec.actions, inputs_of(agent), np.random.default_rng(seed)
    size = sum(one.shape[0] for one in asked if one.part is None)

    def decide(rows: np.ndarray, states: np.ndarray | None) -> tuple:
        states = np.zeros((len(rows), size), np.float32) if states is None else states
        outputs = runtime(played.inputs(asked, agent, rows, states))
        if kind.continuous:
            (own_low, own_high), (low, high) = bounds(agent)
            policies = own_low + (outputs["action"].reshape(len(rows), -1) - low) / (high - low) * (own_high - own_low)
            sampled = policies
        elif agent.has_action_values:
            policies = outputs["action_values"]
            sampled = kind.most_likely(policies)
        else:
            policies = np.log(np.maximum(outputs["probabilities"], 1e-30))
            sampled = kind.most_likely(policies + random.gumbel(size=policies.shape))
        return sampled, policies, outputs["value"], outputs.get(NEXT_STATE, states)

    return decide


def lines(files: Mapping[str, Mapping]) -> Iterator[str]:
    """Yields a line for each quantized file, which holds it against the file that is not."""
    whole = next((file for file in files.values() if file["format"] == "tflite" and not file["quantize"]), None)
    for name, file in files.items():
        if file["quantize"]:
            yield (
                f"{name}: mean of {GAMES} games {file['mean_score']:.1f} (the agent {file['of_agent']:.1f}); "
                f"{file['bytes']:,} bytes ({whole['bytes']:,}); {file['microseconds']:,.0f} microseconds an "
                f"observation on one core ({whole['microseconds']:,.0f})."
            )
