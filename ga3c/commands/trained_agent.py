"""Loads a trained agent from a run or a checkpoint, for the commands that use one."""

from dataclasses import dataclass
from pathlib import Path

from ga3c import checkpoint, config, environments, progress, run_directory
from ga3c.commands.command_line import Run
from ga3c.config import ConfigError, Settings


@dataclass(frozen=True)
class AgentOptions:
    """What all commands that use a trained agent have in common."""

    run: Run = None
    """Directory of the run to take."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named, or the agent shipped for it. Default: that of the
    newest run."""
    checkpoint: str | None = None
    """The checkpoint file to take, instead of a run's newest."""
    greedy: bool = False
    """Take the most probable action instead of sampling from the policy."""
    seed: int = 1_000
    """Seeds the sampling of actions; the games are seeded seed, seed + 1, ..."""
    episodes: int = 1
    """Games to play."""


@dataclass(frozen=True)
class TrainedAgent:
    """A model with trained weights (`ga3c.model.Model`), and what it was trained on."""

    model: object
    settings: Settings
    game: str  # canonical name
    steps: int
    path: Path


def load(options: AgentOptions) -> TrainedAgent:
    """The agent in the checkpoint named, else the newest of the run named, else of the newest run of the game.

    Raises ConfigError.
    """
    if options.episodes is not None and options.episodes < 1:
        raise ConfigError(f"--episodes {options.episodes} is out of range: give a number of at least 1.")
    if options.run is not None and options.checkpoint is not None:
        raise ConfigError(f"RUN ({options.run}) and --checkpoint name an agent each: leave one out.")
    game = options.game
    if options.checkpoint is not None:
        file = Path(options.checkpoint)
        arrays, meta = checkpoint.load(file)
    else:
        directory = run_directory.existing(options.run) if options.run else run_directory.trained(game)
        file, arrays, meta = checkpoint.load_newest(directory / "checkpoints")
    saved = progress.from_meta(meta, file)
    settings, steps = saved.settings, saved.totals.steps
    trained_on = settings.environment.game
    if game is not None and environments.resolve(game) != environments.resolve(trained_on):
        raise ConfigError(f"{file} was trained on {trained_on}, not on {game}: leave --game out, or name another run.")
    games = environments.make(settings.environment, 1, 0)
    spec = games.spec
    games.close()

    from ga3c.device import set_up_device  # isort: skip (first: it loads TensorFlow)
    from ga3c.model import Model

    set_up_device("cpu", config.usable_cores())
    model = Model(spec, settings.learning, options.seed, xla=False)
    model.restore(arrays)
    print(f"{spec.name}: {file}, {steps:,} steps of training", flush=True)
    return TrainedAgent(model, settings, spec.name, steps, file)
