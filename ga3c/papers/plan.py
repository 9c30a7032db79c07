"""The plan of a figure: what its options choose, and the runs that it needs."""

from itertools import chain, product
from pathlib import Path

from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import NEWEST, Evaluation, LearningRun, Outcome
from ga3c.papers import CommonOptions
from ga3c.settings.game import EnvironmentSettings


def only(values: tuple, default, flag: str):
    """Returns the one value given, or the default. Raises ConfigError for more than one."""
    if len(values) > 1:
        raise ConfigError(f"{flag} takes one value for this figure.")
    return values[0] if values else default


def chosen(scales: dict[str, dict], options: CommonOptions) -> dict:
    """Returns the constants of the scale, replaced by the options of the same name that are given.

    An option takes several values where the constant is a tuple, and one elsewhere. Runs of a given time have no
    limit of steps. Raises ConfigError.
    """
    scale = dict(scales[options.scale])
    for name, constant in scale.items():
        if given := getattr(options, name, None):
            several = isinstance(constant, tuple) or not isinstance(given, tuple)
            scale[name] = given if several else only(given, constant, f"--{name}")
    if options.seconds and "steps" in scale:
        scale["steps"] = 0
    return scale


def learning_runs(scale: dict, settings: dict[str, str]) -> list[LearningRun]:
    """Returns a run of each setting (name: flags of `train`) on each game with each of the seeds 1, 2, ...

    Raises ConfigError where their scores would not compare.
    """
    protocols.refuse_mixed(protocols.fingerprint(EnvironmentSettings(game=game)) for game in scale["game"])
    return [
        LearningRun(game, name, tuple(flags.split()), seed, scale["seconds"], scale.get("steps", 0))
        for (name, flags), game, seed in product(settings.items(), scale["game"], range(1, scale["seeds"] + 1))
    ]


def learnt(runs: list[LearningRun], options: CommonOptions, out: Path, how: Evaluation = NEWEST) -> list[Outcome]:
    """Makes the runs that are missing, and lets their agents play."""
    return comparison.make(runs, out, options.episodes, how, options.machines)


def report(
    runs: list[LearningRun], options: CommonOptions, out: Path, name: str, paper: str, how: Evaluation = NEWEST
) -> str:
    """Makes the runs and a report; returns its table, and what the paper says."""
    outcomes = learnt(runs, options, out, how)
    return f"\n{comparison_report.report(outcomes, out, name)}\nPaper: {paper}"


def reports(
    groups: dict[str, list[LearningRun]], options: CommonOptions, out: Path, name: str, how: Evaluation = NEWEST
) -> str:
    """Makes the runs and a report for each group of them; returns the tables."""
    outcomes = learnt(list(chain.from_iterable(groups.values())), options, out, how)
    tables = (
        comparison_report.report([one for one in outcomes if one.run in group], out, f"{name}-{key}")
        for key, group in groups.items()
    )
    return "\n" + "\n".join(tables)
