"""Settings of the game: which one, under which rules, and how the agent sees it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class EnvironmentSettings:
    game: str = "Pong"
    """Atari game in any usual spelling (Boxing, ms_pacman, ALE/Pong-v5).
    Or a Gymnasium id (CartPole-v1; with --preset ppo-continuous or apex-dpg HalfCheetah-v5, or any other whose actions
    are a Box), a task of dm_control (humanoid-walk, with the same presets), or your own (package.module:EnvId)."""
    protocol: Literal["paper", "machado"] = "paper"
    """Sets the Atari settings below. paper: to what is shown here.
    machado (Machado et al. 2018): sticky actions 0.25, all 18 actions, no no-op starts, no life signal."""
    frame_skip_frames: int = 4
    """Emulator frames for each step; the action is repeated and the last two frames are max-pooled."""
    frame_size_pixels: int = 84
    """Height and width of the grey frame that the network sees."""
    frame_stack: int = 4
    """Frames stacked into one state."""
    no_op_max_steps: int = 30
    """A game starts with 1 to this many no-ops; 0: none."""
    start_steps_limit: int = 0
    """Before it is learned from, each game of an agent takes 0 to this many steps at random, so that games are not
    all at the same point (Stooke and Abbeel 2018, section 5.3). They are in the score of that game. 0: none."""
    sticky_action_probability: float = 0.0
    """Chance that the emulator repeats the previous action instead."""
    full_action_set: bool = False
    """All 18 actions instead of those that the game uses."""
    fire_reset: bool = False
    """Press FIRE at the start of a game that waits for it."""
    life_loss_terminates: bool = True
    """Training treats a lost life as the end (paper: not); the game and its score go on."""
    reward_clip: float = 1.0
    """Rewards are clipped to plus or minus this for training; 0: never. Logged scores are always the true ones."""
    reward_scaling_discount: float = 0.0
    """Before that, rewards are divided by the deviation of what they come to in an agent's games so far, discounted by
    this in each step; 0: never. An agent that starts, after a resume too, measures that anew."""
    episode_cap_frames: int = 108_000
    """An Atari game is cut off (truncated, not terminated) after this many frames, half an hour of play."""
    adapt_spaces: bool = True
    """Gymnasium games: pictures of floats, with their channels first, or alone in a Dict, become bytes for the
    convolutional network, and continuous actions from -1 to 1 are scaled to the bounds of the game. The start of a run
    says what was made of its game. Without it such pictures become vectors, and actions are cut at the bounds, as in
    runs of older versions, which go on so."""
    emulator: Literal["auto", "ours", "gpu", "ale"] = "auto"
    """What plays an Atari game: our own emulator, or ale-py's. auto: ours where it is proven to play as ale-py's does.
    gpu: ours, with --sampling batched, on the GPU that the model is on; what the games show stays in its memory. auto
    does so where it can. Nothing that a player sees is different."""
