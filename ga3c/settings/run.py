"""Settings of a run, its files and its limits; and all groups of settings together."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import tyro

from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.schedule import ScheduleSettings


@dataclass(frozen=True)
class RunSettings:
    steps: int | None = None
    """Stop after this many steps of the whole run (1 step = frame_skip_frames frames)."""
    minutes: float | None = None
    """Stop after this many minutes of training in this start, from the first prediction on."""
    episodes: int | None = None
    """Stop after this many finished games of the whole run."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """Where the model runs. auto: the GPU where TensorFlow finds one."""
    devices: str | None = None
    """Several devices that learn together, each from its part of every batch, with equal weights (Stooke and Abbeel
    2018, section 4.2): gpu:all, gpu:0,1 (those of these numbers), or cpu:2 (the cores, divided by two: to try it)."""
    device_updates: Literal["synchronous", "asynchronous"] = "synchronous"
    """asynchronous: with --devices and a2c, a2c-vtrace, ppo, dqn or c51: each device has agents and batches of its own,
    waits for no other, and brings what it has learned to weights that all share (section 4.3 and appendix A)."""
    xla: Literal["auto", "on", "off"] = "auto"
    """Compile the model with XLA. auto: on a GPU."""
    tensorflow_threads: int = 0
    """Threads inside one TensorFlow operation. 0: a quarter of the cores; all for the two largest networks."""
    name: str | None = None
    """What to call the run: the name of its directory, and its label where runs stand beside each other."""
    resume: str | None = None
    """Go on with a run: the newest of the game, or the one whose directory follows."""
    start_from: Annotated[str | None, tyro.conf.arg(name="from")] = None
    """Begin with the weights of an agent: the directory of a run, or a checkpoint. All else is new."""
    run_dir: str | None = None
    """Directory of the run. Default: results/GAME/START-TIME, with --name results/GAME/NAME."""
    checkpoint_seconds: float = 60.0
    """Seconds between two checkpoints."""
    checkpoints_kept: int = 3
    """Newest checkpoints that stay on disk."""
    checkpoint_games: bool = False
    """batched, or --serial: keep the games with the newest checkpoint, so that a resumed run goes on in the middle of
    them, and not with new ones. Of Atari games on our own emulator; each takes 0.13 MB there. Games of agents in
    processes of their own begin anew."""
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
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    run: RunSettings = field(default_factory=RunSettings)
