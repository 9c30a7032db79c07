"""Makes data sets: of an agent's games, of a person's, and of a file in the short form."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ga3c import environments
from ga3c.datasets import folders, playing_agent, short_form
from ga3c.datasets.about import About
from ga3c.datasets.minari_writer import MinariWriter
from ga3c.datasets.recorded_games import Recorder
from ga3c.datasets.short_form import ShortForm, ShortRecorder
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.play.trained_agent import TrainedAgent
from ga3c.records import run_directory
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings


@dataclass(frozen=True)
class Target:
    """A data set that is to be made."""

    name: str  # as Minari has it
    path: Path  # a folder, or a file in the short form
    short: bool


def target(name: str | None, out: str | None, short: bool, settings: Settings, usual: str | None = None) -> Target:
    """Returns where games are to be recorded. usual: the name if none is given; None: game, preset, first free version.

    Raises ConfigError where something is there already, or the name is none.
    """
    if name is None:
        game = run_directory.game_directory(settings.environment.game).name.lower().replace(".", "-")
        name = usual or folders.free_name(f"{game}/{settings.learning.preset}")
    folder = folders.named(name)
    if short and out and Path(out).suffix != folders.SHORT:
        raise ConfigError(f"--out {out}: the short form is a file that ends in {folders.SHORT}.")
    if not short and out and Path(out).suffix == folders.SHORT:
        raise ConfigError(f"--out {out}: a file {folders.SHORT} is the short form: add --short, or name a folder.")
    in_results = run_directory.RESULTS / "datasets" / f"{name.replace('/', '-')}{folders.SHORT}"
    path = Path(out) if out else in_results if short else folder
    folders.check_free(path)
    return Target(name, path, short)


@contextlib.contextmanager
def recording(target: Target, about: About, games, with_ram: bool = False) -> Iterator[Recorder]:
    """Yields a recorder of games. When the block ends, the data set is whole, and there under its name.

    Nothing is there if the block fails, or if no step was recorded. Raises ConfigError.
    """
    playing_agent.check_recorded(games, with_ram)
    if target.short:
        recorder = ShortRecorder()
        yield recorder
        _check_steps(recorder.steps)
        short_form.write(target.path, about, recorder, with_ram)
        return
    with folders.whole(target.path) as folder:
        data = folder / "data"
        data.mkdir()
        writer = MinariWriter(data, about, games)
        try:
            yield writer
            writer.close()
        finally:
            writer.abandon()
        _check_steps(writer.steps)


def _check_steps(steps: int) -> None:
    if not steps:
        raise ConfigError("No step was played, so nothing is recorded.")


def record_agent(agent: TrainedAgent, target: Target, about: About, options) -> list[float]:
    """Records games of an agent, as `options` (`commands.dataset.DatasetOptions`) say. Returns their scores."""

    def say(games: int) -> None:
        if games < options.episodes:
            print(f"{games} of {options.episodes} games are recorded.", file=sys.stderr, flush=True)

    with recording(target, about, agent.games, options.ram) as recorder:
        return playing_agent.record(agent, recorder, options.episodes, options.seed, options.greedy, options.ram, say)


def read_short(file: Path, trusted: bool) -> ShortForm:
    """Reads a file in the short form, and imports what its game needs. trusted: whoever has written it.

    Raises ConfigError.
    """
    short = short_form.read(file)
    own_games.import_all(replace(short.settings, learning=LearningSettings()), file, trusted)
    return short


def expand(short: ShortForm, target: Target) -> None:
    """Makes a data set of games in the short form. Raises ConfigError where they are not as they were."""
    with recording(target, short.about, environments.closed(short.settings.environment), short.with_ram) as writer:
        short_form.replay(short, ShortRecorder(also=writer))
