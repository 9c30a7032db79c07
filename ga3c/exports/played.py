"""Observations that come from playing, and what the agent says of them."""

import contextlib
from typing import NamedTuple

import numpy as np

from ga3c import environments
from ga3c.environments.checked import blaming
from ga3c.exports.deployed_agent import NEXT_STATE, STATE, Input, inputs_of
from ga3c.exports.signature import Arrays
from ga3c.play.trained_agent import TrainedAgent

GAMES, STEPS_APART = 10, 4  # games at once; steps between two observations that are kept


class Played(NamedTuple):
    """Observations in a random order, as a deployed agent gets them, and what it is to say of them."""

    inputs: Arrays
    outputs: Arrays

    def part(self, start: int, stop: int) -> "Played":
        """Returns some of them."""
        return Played(*({name: array[start:stop] for name, array in arrays.items()} for arrays in self))


def play(agent: TrainedAgent, count: int, seed: int) -> Played:
    """Plays games with sampled actions until there are `count` observations, and returns them."""
    kept: list[tuple] = []
    settings = agent.settings.environment
    games = environments.make(settings, environments.most_at_once(settings) or GAMES, seed)
    with contextlib.closing(games), blaming(f"The game '{agent.game}' failed"):
        observations, states = games.reset(), None
        ended = np.zeros(len(observations), np.bool_)
        for step in range(count * STEPS_APART):
            sampled, policies, values, after = agent.model.decide(observations, states)
            if step % STEPS_APART == 0:
                before = np.zeros_like(after) if states is None else states
                kept.append((observations.copy(), before.copy(), policies, values, after.copy()))
            if len(kept) * len(observations) >= count:
                break
            states = np.where(ended[:, None], 0, after)
            observations, _, terminated, truncated, _ = games.step(sampled.astype(games.spec.actions.dtype))
            ended = terminated | truncated
    rows, before, policies, values, after = map(np.concatenate, zip(*kept, strict=True))
    order = np.random.default_rng(seed).permutation(len(rows))[:count]
    asked = inputs_of(agent)
    found = Played(inputs(asked, agent, rows, before), said(agent, policies, values, after))
    return Played(*({name: array[order] for name, array in arrays.items()} for arrays in found))


def inputs(asked: list[Input], agent: TrainedAgent, rows: np.ndarray, states: np.ndarray) -> Arrays:
    """Returns the inputs of a deployed agent from observations as a `Model` gets them, and the states of its memory."""
    layout, found = agent.games.spec.layout, {}
    places = dict(layout.slices()) if layout else {}
    for one in asked:
        if one.part is None:
            found[STATE] = states
        elif layout:
            piece = np.ascontiguousarray(rows[:, places[one.part]])
            found[one.name] = piece.view(one.dtype).reshape(-1, *one.shape)
        else:
            found[one.name] = rows
    return found


def said(agent: TrainedAgent, policies: np.ndarray, values: np.ndarray, after: np.ndarray) -> Arrays:
    """Returns the outputs of a deployed agent from what `Model.decide` returns."""
    kind = agent.games.spec.actions
    best = kind.most_likely(policies)
    wanted = agent.games.as_the_game_wants(best) if hasattr(agent.games, "as_the_game_wants") else best
    found = {"action": wanted, "value": values}
    if not kind.continuous:
        found["action_values" if agent.has_action_values else "probabilities"] = policies
    if not (kind.continuous or agent.has_action_values):
        found["probabilities"] = kind.probabilities(policies)
    return found | ({NEXT_STATE: after} if after.shape[1] else {})
