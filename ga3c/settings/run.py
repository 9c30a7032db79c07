"""Settings of a run, its files and its limits; and all groups of settings together."""

import os
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import tyro

from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.replay import ReplaySettings
from ga3c.settings.schedule import ScheduleSettings


@dataclass(frozen=True)
class RunSettings:
    steps: int | None = None
    """The run ends after this many steps in all. One step is --frame-skip-frames frames of an Atari game. Not given:
    no limit."""
    minutes: float | None = None
    """This start ends after this many minutes of training, counted from the first prediction on. Not given: no
    limit."""
    episodes: int | None = None
    """The run ends after this many finished games in all. Not given: no limit."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    """The model runs on this device: auto, cpu or gpu.
    auto: the GPU where TensorFlow finds one, else the cores.
    cpu: the cores.
    gpu: the GPU. It is an error if there is none."""
    devices: str | None = None
    """These devices learn together, each from its part of every batch, and have equal weights (Stooke and Abbeel 2018,
    section 4.2). Say gpu:all, gpu:0,1 for the GPUs of these numbers, or cpu:2 to try it with the cores divided by two.
    Not given: one device."""
    device_updates: Literal["synchronous", "asynchronous"] = "synchronous"
    """This says whether the devices of --devices wait for each other.
    synchronous: they make each update together.
    asynchronous: each has agents and batches of its own, and adds what it has learned to weights that all share
    (Stooke and Abbeel 2018, section 4.3)."""
    device_exchange_minibatches: int = 0
    """Devices of --device-updates asynchronous exchange weights after this many minibatches (Stooke and Abbeel 2018: 1
    to 4). 0 means after all minibatches of an update. It is for ppo."""
    device_pull_steps: int = 0
    """Devices of --device-updates asynchronous take the shared weights again after this many steps of each game (Stooke
    and Abbeel 2018: 64). 0 means that they take them after each of their own updates only."""
    xla: Literal["auto", "on", "off"] = "auto"
    """TensorFlow compiles the model with XLA.
    auto: on a GPU, but not for algorithms that learn from minibatches, for which it takes minutes.
    on: always.
    off: only for the optimizer's step of dqn and c51."""
    tensorflow_threads: int = 0
    """One TensorFlow operation uses this many threads. 0 means a quarter of the cores, or all of them for the two
    largest networks and that of dqn."""
    name: str | None = None
    """The run gets this name. It is the name of its directory and its label beside other runs. Not given: the time of
    the start."""
    resume: str | None = None
    """A run goes on: the newest, with --game the newest of that game, or the one in the directory that follows."""
    start_from: Annotated[str | None, tyro.conf.arg(name="from")] = None
    """A new run begins with the weights of this agent: the directory of a run, or a checkpoint. Where no game is named,
    it is the agent's. Everything else is new."""
    run_dir: str | None = None
    """The run is written into this directory. Not given: results/GAME/START-TIME, or results/GAME/NAME with --name."""
    checkpoint_seconds: float = 60.0
    """A checkpoint is written every this many seconds."""
    checkpoints_kept: int = 3
    """This many of the newest checkpoints stay on disk."""
    checkpoint_steps: int = 0
    """After every this many steps a checkpoint is written that stays on disk. It has the weights of the network alone,
    and evaluate --checkpoint plays with them. 0 means none."""
    checkpoint_games: bool = False
    """The games are saved with the newest checkpoint, so that a resumed run goes on in the middle of them. It works
    with --sampling batched or --serial, for Atari games on our own emulator. Each game takes 0.13 MB. Other games
    begin anew."""
    log_seconds: float = 5.0
    """A row of throughput.csv, and a line of the plain console, is written every this many seconds."""
    console: Literal["auto", "screen", "plain"] = "auto"
    """The progress is shown in this way: auto, screen or plain.
    auto: the screen where the terminal can show it, else plain lines.
    screen: a live screen that fills the terminal.
    plain: one line that changes. Where the output is no terminal, there is a new line every --log-seconds."""
    track: tuple[Literal["wandb", "mlflow", "tensorboard"], ...] = ()
    """The run is followed in these trackers of experiments, one or more: wandb, mlflow, tensorboard. A resumed run goes
    on there; --track without a name ends that. ga3c/tracking/README.md says more.
    wandb: W&B gets settings, each row of the log, scores of games and messages, and at the end the best checkpoint and
    a recorded game.
    mlflow: MLflow gets the same.
    tensorboard: TensorBoard gets scores of games, settings and messages. Each run writes its curves without this."""
    stall_seconds: float = 30.0
    """The console says who waits for whom when no update comes for this many seconds. 0 means never. Ctrl-\\ (SIGQUIT)
    asks for that at any time, with 0, too."""
    plot_seconds: float = 300.0
    """The plot is drawn every this many seconds, and at the end. 0 means never; ./run.sh plot draws it later."""


@dataclass(frozen=True)
class Settings:
    """All settings of one training run."""

    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    run: RunSettings = field(default_factory=RunSettings)


def without_paths(settings: Settings) -> Settings:
    """Returns the settings without paths and limits of the run, which are nobody's business."""
    learning = settings.learning
    if learning.dataset and os.path.isabs(learning.dataset):
        learning = replace(learning, dataset=os.path.basename(learning.dataset))
    return replace(settings, run=RunSettings(), learning=learning)
