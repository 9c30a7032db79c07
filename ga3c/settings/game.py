"""Settings of the game: which one, under which rules, and how the agent sees it."""

import json
import reprlib
from dataclasses import dataclass
from typing import Any, Literal

from ga3c.errors import ConfigError


@dataclass(frozen=True)
class EnvironmentSettings:
    game: str = "Pong"
    """This is the game to train on: an Atari game in any usual spelling, such as Boxing, ms_pacman or ALE/Pong-v5. It
    can also be the id of a Gymnasium game (CartPole-v1), a task of DeepMind's control suite (humanoid-walk), or a game
    of your own (package.module:EnvId, where EnvId may also be a class or function that makes one). Games with
    continuous actions need another preset, such as ppo-continuous or apex-dpg (also ppo, appo, a2c, a2c-vtrace)."""
    protocol: Literal["paper", "machado"] = "paper"
    """The protocol fixes the rules of Atari games, and so which scores compare.
    paper: fewer than 30 frames without action at the start of a game, no sticky actions, only the actions that the game
    uses.
    machado: sticky actions with probability 0.25, all 18 actions, no no-ops at the start, and a lost life does not end
    what is learned from (Machado et al. 2018)."""
    frame_skip_frames: int = 4
    """One step of the agent lasts this many frames of the Atari emulator. The action is repeated in each of them, and
    the agent sees the maximum of the last two."""
    frame_size_pixels: int = 84
    """Atari frames are shrunk to a grey picture of this height and width."""
    frame_stack: int = 4
    """The agent sees this many of the newest Atari frames at once, so that it can tell how things move."""
    no_op_max_steps: int = 30
    """An Atari game starts with fewer frames without action than this (0 to N - 1), drawn at random. 0 means none."""
    start_steps_limit: int = 0
    """Each game of an agent first takes 0 to this many random steps, which are not learned from. This way games are
    not all at the same point (Stooke and Abbeel 2018, section 5.3). The rewards of these steps count in the score of
    that first game. 0 means none."""
    sticky_action_probability: float = 0.0
    """The Atari emulator repeats the previous action with this probability, whatever the agent chose."""
    full_action_set: bool = False
    """The agent has all 18 actions of an Atari console instead of those that the game uses."""
    fire_reset: bool = False
    """FIRE is pressed at the start of an Atari game that waits for it."""
    life_loss_terminates: bool = True
    """In training a lost life counts as the end of an Atari game. The game itself and its score go on. The paper does
    not do this."""
    stall_limit_steps: int = 0
    """In training an Atari game begins anew once this many steps have brought no reward and cost no life: it may go
    round in a circle. Lives count only with --life-loss-terminates. The game's score counts as that of one that ended.
    Agents are evaluated without this limit. 0 means none."""
    reward_clip: float = 1.0
    """Rewards are clipped to plus or minus this for training. 0 means no limit. Logged scores are always the true ones.
    1 is usual for Atari games. In other games, unless a flag says something of rewards, the limit is 10, and rewards
    that are larger are scaled first."""
    reward_scaling_discount: float = 0.0
    """Before rewards are clipped, they are divided by the standard deviation of the return in an agent's games so far.
    The return is discounted by this number. 0 means that rewards are not divided. An agent that starts, after a resume
    too, measures the deviation anew."""
    reward_scaling_limit: float = 0.0
    """An agent divides rewards only once it has seen one above this, or if it has seen none above 1 / this when as many
    games have ended as it plays. 0 means that it always divides them."""
    episode_cap_frames: int = 108_000
    """An Atari game is cut off after this many frames. 108,000 frames are half an hour of play."""
    adapt_spaces: bool = True
    """A Gymnasium game is adapted to what networks and policies expect. Pictures of floats, pictures with their
    channels first, and a picture that is alone in a Dict become bytes for the convolutional network. Continuous actions
    from -1 to 1 are scaled to the bounds of the game. The start of a run says what was made of its game. With
    --no-adapt-spaces such pictures become vectors, and actions are cut at the bounds."""
    environment_arguments: str | None = None
    """The game is made with these arguments, in JSON: {"size": 8}. Not given: with its own defaults."""
    wrapper: tuple[str, ...] = ()
    """The game is wrapped in these, the first around it, the next around that: package.module:Wrapper. It is for
    Gymnasium games."""
    observation: Literal["auto", "ram", "flat"] = "auto"
    """This is what the network sees of a game.
    auto: the picture of an Atari game. In other games each part of a Dict or a Tuple has its own place in the network:
    pictures have convolutions, vectors are numbers, and a choice of several is one number for each.
    ram: the 128 bytes of memory of an Atari console, in place of its picture.
    flat: all parts of a Dict or a Tuple in one vector."""
    action_masks: bool = True
    """Actions that the game forbids in its state are never taken, and do not count in what is learned. A game of
    Gymnasium says which are allowed by info["action_mask"] or by a method action_masks()."""
    emulator: Literal["auto", "ours", "gpu", "ale"] = "auto"
    """This program plays Atari games.
    auto: our own emulator where it is proven to play as ale-py's does, else ale-py's. With --sampling batched it plays
    on the GPU where that works.
    ours: our own emulator on the cores.
    gpu: our own emulator on the GPU that holds the model. It needs --sampling batched.
    ale: the emulator of ale-py."""


def game_arguments(settings: EnvironmentSettings) -> dict[str, Any]:
    """Returns the arguments that the game is made with, by name. Raises ConfigError."""
    text = settings.environment_arguments or "{}"
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ConfigError(
            f"--environment-arguments {reprlib.repr(text)} is no JSON object: give the arguments by name, as in "
            """'{"size": 8}'."""
        )
    return arguments
