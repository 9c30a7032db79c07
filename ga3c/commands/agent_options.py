"""Which trained agent a command is about."""

from dataclasses import dataclass

from ga3c.commands.command_line import RunArgument
from ga3c.errors import ConfigError
from ga3c.play import trained_agent
from ga3c.play.trained_agent import TrainedAgent


@dataclass(frozen=True)
class AgentOptions:
    """What all commands that use a trained agent have in common."""

    run: RunArgument = None
    """Directory of the run to take."""
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
    """Seeds the sampling of actions; the games are seeded seed, seed + 1, ..."""
    episodes: int = 1
    """Games to play."""


def load(options: AgentOptions) -> TrainedAgent:
    """The agent that the options mean. Raises ConfigError."""
    if options.episodes is not None and options.episodes < 1:
        raise ConfigError(f"--episodes {options.episodes} is out of range: give a number of at least 1.")
    return trained_agent.load(
        options.run, options.game, options.checkpoint, options.seed, options.best, trusted=options.trust
    )
