"""The options that name a trained agent."""

from dataclasses import dataclass
from pathlib import Path

from ga3c.commands.command_line import RunArgument, check_range
from ga3c.play import trained_agent
from ga3c.play.trained_agent import TrainedAgent
from ga3c.settings.ranges import RANGES


@dataclass(frozen=True)
class AgentOptions:
    """The options of commands that play with an agent."""

    run: RunArgument = None
    """Directory of the run. Default: the newest run, or an agent that comes with the program."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named, or the agent shipped for it. Default: that of the
    newest run."""
    checkpoint: str | None = None
    """The checkpoint file to take, instead of a run's newest."""
    trust: bool = False
    """Run the code of a game that the run names (package.module:EnvId), though you have not trained on it here."""
    best: bool = False
    """Take the checkpoint with the best mean score of 100 games, instead of the newest."""
    seed: int = 1_000
    """Seed of the sampled actions and of the first game; the next games have seed + 1, seed + 2, ... (in
    ./play.sh, the games of a grid)."""
    episodes: int = 1
    """Games to play."""


@dataclass(frozen=True)
class RunOptions:
    """The options of commands that measure the agent of a run and write about it."""

    run: RunArgument = None
    """Directory of the run. Default: the newest."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named."""
    trust: bool = False
    """Run the code of a game that the run names (package.module:EnvId), though you have not trained on it here."""
    episodes: int = 30
    """Games to play for the scores, in each way to play."""
    seed: int = 1_000
    """The games are seeded seed, seed + 1, ..."""


def load_run(options: RunOptions, directory: Path) -> TrainedAgent:
    """Returns the agent of the run in `directory`. Raises ConfigError."""
    asked = {name: getattr(options, name) for name in ("game", "trust", "episodes", "seed")}
    return load(AgentOptions(run=str(directory), **asked))


def load(options: AgentOptions) -> TrainedAgent:
    """Returns the agent that the options name. Raises ConfigError."""
    check_range("seed", options.seed, *RANGES["seed"])
    if options.episodes is not None:
        check_range("episodes", options.episodes, 1)
    agent = trained_agent.load(
        options.run, options.game, options.checkpoint, options.seed, options.best, trusted=options.trust
    )
    print(agent, flush=True)
    return agent
