"""Every setting of a run: its meaning, unit, symbol in the paper and default.

The command line is made from these classes (`ga3c/commands/command_line.py`): a field is a flag, the text
below it is its help. "Paper" is Babaeizadeh et al., ICLR 2017.
"""

import os
from dataclasses import dataclass, field, replace
from typing import Literal

Network = Literal["auto", "small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1", "mlp"]


class ConfigError(ValueError):
    """A wrong setting. Its text is one line that says what is wrong and what to do."""


class TrainingFailed(RuntimeError):
    """A part of the program failed in a way that ends the run. Its text says which and how."""


def usable_cores() -> int:
    """Cores that this process may use; containers and `taskset` often allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class EnvironmentSettings:
    game: str = "Pong"
    """Atari game in any usual spelling (Boxing, ms_pacman, ALE/Pong-v5).
    Or a Gymnasium id with discrete actions (CartPole-v1), or your own (package.module:EnvId)."""
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
    episode_cap_frames: int = 108_000
    """An Atari game is cut off (truncated, not terminated) after this many frames, half an hour of play."""


@dataclass(frozen=True)
class ScheduleSettings:
    agents: int = 0
    """Agent processes (paper: N_A). 0: one more than there are cores."""
    predictors: int = 1
    """Predictor threads (paper: N_P)."""
    trainers: int = 1
    """Trainer threads (paper: N_T)."""
    envs_per_agent: int = 32
    """Games that one agent steps together; 1 is the paper's agent."""
    controller: Literal["on", "paper", "off"] = "on"
    """Change the three counts while training to raise TPS (paper, section 4.3).
    paper: by the paper's rule, one count at random by one, kept if TPS is higher. on: by measurements against noise."""
    controller_seconds: float = 60.0
    """The longest that a trial of the controller measures a new setting; paper: seconds between two decisions."""
    policy_lag_limit_updates: float = field(default_factory=lambda: 0.75 * (usable_cores() + 1))
    """The controller keeps to settings with a mean policy lag up to this, whatever their TPS; 0: no limit (paper).
    Not given: 0.75 for each core and one more, a fifth above the lag of as many agents of 32 games."""
    agent_silence_seconds: float = 5.0
    """An agent without a sign of life for so long hangs and is replaced; 0: never. More for games with slow steps."""
    max_prediction_batch: int = 128
    """States in one prediction at the most."""


@dataclass(frozen=True)
class LearningSettings:
    preset: Literal["default", "paper"] = "default"
    """Defaults of the learning and scheduling settings. paper: the paper's constants and one game for each agent."""
    network: Network = "auto"
    """The paper's small or large networks (section 5.1), or a small fully connected one (mlp).
    auto: small for images, mlp for vectors."""
    input_scaling: Literal["standardized", "bytes"] = "standardized"
    """What images are to the network. standardized: less the mean state of the run, over four standard deviations.
    bytes: 0 to 255 becomes 0 to 1."""
    t_max: int = 10
    """Steps of one rollout (paper: t_max)."""
    minimum_batch_steps: int = 320
    """Steps in one model update at the least (paper, section 5.3: minimum training batch size)."""
    discount: float = 0.99
    """Discount of future rewards for each step (paper: gamma)."""
    return_lambda: float = 0.95
    """Weight of longer returns against shorter ones in the targets (lambda of GAE). 1: the n-step return (paper)."""
    lag_correction: bool = False
    """A step counts for less the less likely the newest policy is to repeat it (paper: not).
    The weights are those of V-trace (Espeholt et al. 2018)."""
    normalize_advantages: bool = False
    """Advantages of a batch get mean 0 and deviation 1 before they enter the policy's loss."""
    entropy_weight: float = 0.004
    """Weight of the policy's entropy in the loss (paper: beta)."""
    value_weight: float = 0.1
    """Weight of the squared value error in the loss."""
    learning_rate: float = 8e-4
    """Step size of RMSProp (paper: eta)."""
    learning_rate_decay_steps: int = 1_000_000
    """The step size falls as 1 / (1 + steps / this), so to a half after so many. 0: it stays (paper)."""
    rmsprop_decay: float = 0.99
    """Decay of RMSProp's mean square (paper: alpha)."""
    rmsprop_epsilon: float = 1e-5
    """Added to the mean square inside the square root (paper: epsilon of Eq. 3)."""
    gradient_clip_norm: float = 160.0
    """The summed gradient is scaled down to this norm; 0: never (the paper needs none)."""
    log_epsilon: float = 1e-6
    """Added to probabilities inside logarithms (paper: epsilon of Eq. 5)."""
    seed: int = 0
    """Seeds the weights, the games and the sampling of actions. 0: a new one for each run."""


@dataclass(frozen=True)
class RunSettings:
    steps: int | None = None
    """Stop after this many steps of the whole run (1 step = frame_skip_frames frames)."""
    minutes: float | None = None
    """Stop after this many minutes from this start."""
    episodes: int | None = None
    """Stop after this many finished games of the whole run."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Where the model runs. auto: the GPU where TensorFlow finds one."""
    xla: Literal["auto", "on", "off"] = "auto"
    """Compile the model with XLA. auto: on a GPU."""
    tensorflow_threads: int = 0
    """Threads inside one TensorFlow operation. 0: a quarter of the cores; all for the two largest networks."""
    resume: str | None = None
    """Go on with a run: the newest of the game, or the one whose directory follows."""
    run_dir: str | None = None
    """Directory of the run. Default: results/GAME/START-TIME."""
    checkpoint_seconds: float = 60.0
    """Seconds between two checkpoints."""
    checkpoints_kept: int = 3
    """Newest checkpoints that stay on disk."""
    log_seconds: float = 5.0
    """Seconds between two rows of throughput.csv, and two lines of a plain console."""
    console: Literal["auto", "screen", "plain"] = "auto"
    """screen: a live screen that fills the terminal. plain: a line now and then. auto: a screen where it can be."""
    stall_seconds: float = 30.0
    """After so long without an update the console says who waits for whom (also on SIGQUIT, Ctrl-\\); 0: never."""
    plot_seconds: float = 300.0
    """Seconds between two drawings of the plot; 0: only at the end."""


@dataclass(frozen=True)
class Settings:
    """All settings of one training run."""

    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    run: RunSettings = field(default_factory=RunSettings)


def with_presets(settings: Settings, preset: str | None, protocol: str | None) -> Settings:
    """`settings` with the defaults that `--preset` and `--protocol` stand for put in."""
    if preset == "paper":
        learning = replace(
            settings.learning,
            preset="paper",
            input_scaling="bytes",
            t_max=5,
            minimum_batch_steps=40,
            return_lambda=1.0,
            lag_correction=False,
            normalize_advantages=False,
            learning_rate=3e-4,
            learning_rate_decay_steps=0,
            entropy_weight=0.01,
            rmsprop_epsilon=0.1,
            value_weight=1.0,
            gradient_clip_norm=0.0,
        )
        schedule = replace(
            settings.schedule,
            envs_per_agent=1,
            agents=max(32, usable_cores()),
            predictors=2,
            trainers=2,
            policy_lag_limit_updates=0.0,
        )
        environment = replace(settings.environment, life_loss_terminates=False)
        settings = replace(settings, environment=environment, learning=learning, schedule=schedule)
    if protocol == "machado":
        environment = replace(
            settings.environment,
            protocol="machado",
            sticky_action_probability=0.25,
            full_action_set=True,
            no_op_max_steps=0,
            life_loss_terminates=False,
        )
        settings = replace(settings, environment=environment)
    return settings
