"""The deployed agent: one Keras model from what a game shows to what the agent decides.

Its inputs are those of `inputs_of`. Its outputs, by name, are:

- "probabilities" float32 [batch, actions] of a policy (where an action is several choices, those of the options of each
  choice, side by side), or "action_values" float32 [batch, actions]; neither where actions are continuous;
- "action" [batch, ...]: the best one, or the mean of a Gaussian, as the game wants it;
- "value" float32 [batch]: the return that the agent expects;
- "next_state" float32 [batch, size], if it has a memory: the input "state" of the next step.
"""

import re
from typing import NamedTuple

import keras
import numpy as np
from keras import layers, ops

from ga3c.exports.plain_layers import plain
from ga3c.layout import MASK, MASK_NAME, PICTURE, VECTOR, Part
from ga3c.networks.actor_critic import ActorCritic
from ga3c.networks.recurrent import Recurrent
from ga3c.play.trained_agent import TrainedAgent
from ga3c.rollout import FORBIDDEN

STATE, NEXT_STATE, OBSERVATION = "state", "next_state", "observation"


class Input(NamedTuple):
    """One input of a deployed agent."""

    name: str
    dtype: str
    shape: tuple[int, ...]  # without the batch
    part: Part | None = None  # of the observation; None: the state of the memory


def inputs_of(agent: TrainedAgent) -> list[Input]:
    """Returns the inputs: the parts of an observation, the mask of actions, and the state of the memory."""
    spec = agent.games.spec
    whole = Part("", PICTURE if spec.has_pictures else VECTOR, spec.observation_shape)
    found: dict[str, Input] = {}
    for part in spec.layout.parts if spec.layout else (whole,):
        name = _name("mask" if part.name == MASK_NAME else part.name or OBSERVATION)
        while name in (*found, STATE):
            name += "_"
        found[name] = Input(name, part.dtype, part.shape, part)
    size = getattr(agent.model.network, "recurrent_size", 0)
    return [*found.values(), *([Input(STATE, "float32", (size,))] if size else [])]


def _name(text: str) -> str:
    """Returns a name that all formats take."""
    return re.sub(r"^(?=\d)", "part_", re.sub(r"\W", "_", text, flags=re.ASCII))


def deployed(agent: TrainedAgent) -> keras.Model:
    """Returns the agent as a Keras model: a dict of inputs, and a dict of outputs."""
    network, spec = agent.model.network, agent.games.spec
    arrays = agent.model.network_state()
    variables = [*network.trainable_variables, *network.non_trainable_variables]
    for number, variable in enumerate(variables):  # a `Model` keeps its weights elsewhere
        variable.assign(arrays[f"network/{number}"])
    asked = inputs_of(agent)
    tensors = {one.name: keras.Input(one.shape, name=one.name, dtype=one.dtype) for one in asked}
    seen, allowed = {}, None
    for one in asked:
        if one.part and one.part.kind == MASK:
            allowed = tensors[one.name] > 0
        elif one.part:
            picture = one.part.kind == PICTURE
            seen[one.part.name] = tensors[one.name] if picture else ops.cast(tensors[one.name], "float32")
    first, value, after = _outputs(network, seen.get("", seen), tensors.get(STATE))
    if allowed is not None:
        first = ops.where(allowed, first, FORBIDDEN)
        value = ops.max(first, axis=1) if agent.has_action_values else value
    outputs = _decided(agent, first) | {"value": value}
    if after is not None:
        outputs[NEXT_STATE] = after
    name = re.sub(r"[^\w.-]", "-", spec.name, flags=re.ASCII)
    return keras.Model(tensors, outputs, name=f"agent-{name}")


def bounds(agent: TrainedAgent) -> np.ndarray:
    """Returns the bounds of continuous actions, float32 [2, 2, n]: the agent's low and high, and those of the game."""
    own = np.array([agent.games.spec.actions.low, agent.games.spec.actions.high], np.float32)
    return np.stack([own, agent.games.as_the_game_wants(own).reshape(own.shape).astype(np.float32)])


def _outputs(network, seen, state) -> tuple:
    """Returns the first output of the network, the value, and the state of the memory after the step, or None."""
    if isinstance(network, ActorCritic):
        actions = plain(network.actor)(seen)
        return actions, plain(network.critic)((seen, actions)), None
    if not isinstance(network, Recurrent):
        return *plain(network)(seen)[:2], None
    encoder, cell, last = map(plain, network.models)
    hidden = ops.cast(encoder(seen), "float32")
    out, after = cell((hidden, *ops.split(state, network.parts, axis=1)))
    return *last(out)[:2], ops.concatenate(after, axis=1) if network.parts > 1 else keras.tree.flatten(after)[0]


def _decided(agent: TrainedAgent, first) -> dict:
    """Returns the outputs that say what to do, from the first output of the network."""
    kind = agent.games.spec.actions
    wanted = getattr(agent.games, "as_the_game_wants", lambda actions: actions)
    if kind.continuous:
        first = first[:, : kind.shape[0]]  # the means; a user's policy has deviations after them
        (own_low, own_high), (low, high) = bounds(agent)
        share = layers.Rescaling((1 / (own_high - own_low)).tolist(), (-own_low / (own_high - own_low)).tolist())(first)
        scaled = layers.Rescaling((high - low).tolist(), low.tolist())(ops.clip(share, 0.0, 1.0))
        return {"action": layers.Reshape(wanted(own_low[None]).shape[1:])(scaled)}
    start = wanted(np.zeros((1, *kind.shape), np.int32)).astype(np.int32)
    choices = ops.split(first, np.cumsum(kind.sizes)[:-1].tolist(), axis=1) if kind.sizes else [first]
    # The argmax of Keras looks at the bits of -0.0, which TFLite cannot.
    best = ops.concatenate([ops.top_k(one, 1)[1] for one in choices], axis=1)
    action = layers.Reshape(start.shape[1:])(best)
    action = action + start if start.any() else action
    if agent.has_action_values:
        return {"action_values": first, "action": action}
    odds = [ops.softmax(one, axis=1) for one in choices]
    return {"probabilities": ops.concatenate(odds, axis=1) if len(odds) > 1 else odds[0], "action": action}
