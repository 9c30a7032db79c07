"""Loads a trained agent from a run or a checkpoint, for the commands that use one."""

from dataclasses import dataclass
from pathlib import Path

from ga3c import checkpoint, config, environments, run_directory
from ga3c.config import ConfigError, Settings


@dataclass(frozen=True)
class TrainedAgent:
    """A model with trained weights (`ga3c.model.Model`), and what it was trained on."""

    model: object
    settings: Settings
    game: str  # canonical name
    steps: int
    path: Path

    def act(self, observations, greedy: bool):
        """Actions int64 [batch]: sampled from the policy, or the most probable ones."""
        sampled, logits, _ = self.model.policy(observations)
        return (logits.argmax(axis=1) if greedy else sampled).astype("int64")


def load(game: str | None, run: str | None, path: str | None, seed: int) -> TrainedAgent:
    """The agent in the checkpoint `path`, else the newest of `run`, else of the newest run of `game` (None: of any).

    `seed` is for sampling actions. Raises ConfigError.
    """
    if path is not None:
        file = Path(path)
        arrays, meta = checkpoint.load(file)
    else:
        directory = run_directory.existing(run) if run else run_directory.newest(game)
        file, arrays, meta = checkpoint.load_newest(directory / "checkpoints")
    try:
        settings, steps = config.from_dict(meta["settings"]), int(meta["totals"]["steps"])
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{file} is not a checkpoint of this version of ga3c.") from error
    trained_on = settings.environment.game
    if game is not None and environments.resolve(game) != environments.resolve(trained_on):
        raise ConfigError(f"{file} was trained on {trained_on}, not on {game}: leave --game out, or name another run.")
    games = environments.make(settings.environment, 1, 0)
    spec = games.spec
    games.close()

    from ga3c.device import set_up_device  # isort: skip (first: it loads TensorFlow)
    from ga3c.model import Model

    set_up_device("cpu", 0)
    model = Model(spec, settings.learning, seed, xla=False)
    model.restore(arrays)
    return TrainedAgent(model, settings, spec.name, steps, file)
