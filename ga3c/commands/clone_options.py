"""--algorithm clone: the defaults that a data set stands for, and the end of the run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings

LEARNED_ALIKE = ("preset", "input_scaling", "normalize_values", "discount", "precision")


def defaults(asked: Mapping[str, Any], trusted: bool) -> Settings:
    """Returns the defaults for a data set: game and network of the agent that has played, as far as they are known.

    They keep the agent's preset, which a run that begins with the clone's weights has, too.

    Args:
        asked: the settings that the user names, among them "dataset".
        trusted: the user trusts who has written the data set.

    Raises ConfigError.
    """
    dataset, clone = asked["dataset"], with_presets(Settings(), "clone", asked.get("protocol"))
    teacher, _ = _described(dataset)
    if teacher is None:
        return clone
    own_games.import_all(teacher, dataset, trusted, asked)
    theirs, row = teacher.learning, ALGORITHMS["clone"]
    if not ALGORITHMS[theirs.algorithm].policy:
        return replace(clone, environment=teacher.environment)
    known = theirs.network in ("auto", *row.pictures, *row.vectors) or ":" in theirs.network
    alike = {name: getattr(theirs, name) for name in LEARNED_ALIKE}
    learning = replace(clone.learning, network=theirs.network if known else "auto", **alike)
    return replace(clone, environment=teacher.environment, learning=learning)


def with_end(settings: Settings) -> Settings:
    """Returns the settings of a clone with the steps of all passes over the data set, if nothing else ends the run.

    Others are returned as they are. Raises ConfigError where a clone has no data set.
    """
    learning, run = settings.learning, settings.run
    if learning.algorithm != "clone":
        return settings
    if learning.dataset is None:
        raise ConfigError("--algorithm clone imitates recorded games: name them with --dataset.")
    if run.steps or run.minutes or run.episodes:
        return settings
    _, steps = _described(learning.dataset)
    return replace(settings, run=replace(run, steps=learning.epochs * steps))


def _described(dataset: str) -> tuple[Settings | None, int]:
    """Returns what `demonstrations.described` does. Other runs load nothing that reads data sets."""
    from ga3c.datasets import demonstrations

    return demonstrations.described(dataset)
