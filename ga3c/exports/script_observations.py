"""The expression of a script that turns what the game shows into the inputs of the agent."""

from gymnasium import spaces

from ga3c.environments import action_masks
from ga3c.exports.deployed_agent import STATE, inputs_of
from ga3c.layout import MASK
from ga3c.play.trained_agent import TrainedAgent


def shown(agent: TrainedAgent, observation: str) -> str:
    """Returns the expression of a dict of inputs. observation: the expression of what the game shows."""
    parts = getattr(agent.games, "parts", None)
    sources = iter(parts.sources() if parts else ())
    items = []
    for one in inputs_of(agent):
        if one.part is None:
            value = STATE
        elif one.part.kind == MASK:
            value = f'(np.hstack({_mask(agent)})[None] != 0).astype("uint8")'
        else:
            value = f'{_converted(*next(sources), observation) if parts else observation}[None].astype("{one.dtype}")'
        items.append(f'"{one.name}": {value}')
    inside = ", ".join(items) if len(items) == 1 else "".join(f"\n            {item}," for item in items) + "\n        "
    return f"{{{inside}}}"


def _mask(agent: TrainedAgent) -> str:
    game = agent.games.env.envs[0]
    return f"env.get_wrapper_attr({action_masks.METHOD!r})()" if action_masks.method_of(game) else "info['action_mask']"


def _converted(keys: tuple, space: spaces.Space, picture, observation: str) -> str:
    """Returns the expression of one part. picture: how its numbers become bytes; None: it is no picture."""
    at = "".join(f"[{key!r}]" for key in keys)
    value = observation + at
    if picture is None:
        if isinstance(space, spaces.Box):
            return f"np.ravel({value})" if len(space.shape) != 1 else f"np.asarray({value})"
        return f"spaces.flatten(env.observation_space{at}, {value})"
    if not picture.bytes:
        value = f'np.rint(np.multiply({value}, {picture.scale!r}, dtype="float32"))'
    if len(space.shape) == 2:
        return f"{value}[..., None]"
    return f"np.moveaxis({value}, 0, -1)" if picture.channel_first else value
