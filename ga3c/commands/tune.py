"""Searches settings of training: python -m ga3c tune."""

import difflib
import itertools
import math
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import tyro
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from ga3c.commands.command_line import check_range, flags_in, parse
from ga3c.commands.reproduce import made
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.search import study, study_report
from ga3c.machine import usable_cores
from ga3c.records import run_directory
from ga3c.settings import flag_of
from ga3c.settings.run import Settings
from ga3c.text import count

DESCRIPTION = """Searches the settings that learn fastest, with Optuna. Each trial trains on each game with settings and
a seed of its own. A trial ends early when its score falls behind that of others. After an interruption the same
command goes on. Flags of train that are the same for all trials stand at the end, after --.

Example: ./run.sh tune --game Pong Boxing --search kl-target=log:1e-3:3e-2 --search frame-size-pixels=42,64,84
--trials 30 --minutes 7 -- --preset ppo"""
TAKEN = {"--game", "--seed", "--minutes", "--steps", "--episodes", "--log-seconds", "--run-dir", "--name", "--resume"}
EXAMPLES = "as in learning-rate=log:1e-4:3e-3, t-max=5:40 or frame-size-pixels=42,64,84"


@dataclass(frozen=True)
class TuneOptions:
    game: Annotated[tuple[str, ...], tyro.conf.arg(aliases=["--games"])] = ()
    """Games to train on, one or more. The score of a trial is the mean over them."""
    search: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """SETTING=VALUES, once for each setting: LOW:HIGH is a range of numbers, log:LOW:HIGH the same on a logarithmic
    scale, and A,B,C are choices."""
    trials: int = 30
    """The search ends when so many trials have been made, by all starts together."""
    minutes: float = 7.0
    """Budget of a trial on each game: the CPU time of all cores in so many minutes. On busy cores it takes longer."""
    at_once: int = 1
    """Trials at the same time. They share the cores."""
    name: str | None = None
    """Name of the study, which lies in results/tune/NAME; or its directory, with a / in it. Default: the games."""
    report: bool = False
    """Say what was found so far, and train nothing. The search may go on meanwhile."""


def dimension(text: str) -> tuple[str, BaseDistribution]:
    """Returns what `learning-rate=log:1e-4:3e-3` says: a flag of train, and its values. Raises ConfigError."""
    flag, _, values = text.removeprefix("--").partition("=")
    found = re.fullmatch(r"(log:)?([^:,]+):([^:,]+)", values)
    choices = values.split(",")
    if not flag or not values or not (found or len(choices) > 1):
        raise ConfigError(f"--search {text!r}: give a setting with a range, or with choices, {EXAMPLES}.")
    if not found:
        if len(set(choices)) < len(choices) or not all(choices):
            raise ConfigError(f"--search {text!r}: give each choice once.")
        return flag, CategoricalDistribution(choices)
    kinds = {name: kind for group in fields(Settings) for name, kind in get_type_hints(group.default_factory).items()}
    kind = kinds.get(flag.replace("-", "_"))
    whole, logarithmic = int in (kind, *get_args(kind)), found[1] is not None
    if not whole and float not in (kind, *get_args(kind)):
        near = [] if kind else difflib.get_close_matches(flag.replace("-", "_"), kinds, 1)
        hint = f"Nearest: {flag_of(near[0])}." if near else f"Give choices: {flag}=A,B."
        raise ConfigError(f"--search {text!r}: --{flag} is no setting that is a number. {hint}")
    try:
        low, high = map(float, found.groups()[1:])
    except ValueError:
        low = high = math.nan
    are_whole = low.is_integer() and high.is_integer()
    if not (0 if logarithmic else -math.inf) < low < high < math.inf or (whole and not are_whole):
        numbers = f"two {'whole ' * whole}numbers{' above 0' * logarithmic}, the lower one first"
        raise ConfigError(f"--search {text!r}: a range of --{flag} is {numbers}.")
    if whole:
        return flag, IntDistribution(int(low), int(high), log=logarithmic)
    return flag, FloatDistribution(low, high, log=logarithmic)


def planned(options: TuneOptions, flags: list[str]) -> tuple[study.Plan, dict[str, BaseDistribution]]:
    """Returns the study that is asked for, and the values of each setting. Raises ConfigError."""
    for name, least in (("trials", 1), ("minutes", 0.01), ("at-once", 1)):
        check_range(name, getattr(options, name.replace("-", "_")), least)
    if not options.game or not options.search:
        raise ConfigError("tune needs games and settings: --game Pong --search kl-target=log:1e-3:3e-2.")
    run_directory.check_apart([run_directory.game_directory(game).name for game in options.game])
    searched = dict(map(dimension, options.search))
    if len(searched) < len(options.search):
        raise ConfigError("--search: two of them are for the same setting.")
    for flag in flags_in([*flags, *(f"--{flag}" for flag in searched)]) & TAKEN:
        raise ConfigError(f"{flag} cannot be searched or given after --: each trial gets its own.")
    plan = study.Plan(list(options.game), list(options.search), flags, options.minutes)
    ends = {f: v.choices if isinstance(v, CategoricalDistribution) else (v.low, v.high) for f, v in searched.items()}
    for flag, game in itertools.product(ends, options.game):
        for value in ends[flag]:  # each one, beside the first of all other settings
            parameters = {name: values[0] for name, values in ends.items()} | {flag: value}
            parse_settings(["--game", game, *study.flags_of(plan, parameters)])  # refuses what train would refuse
    return plan, searched


def _directory(options: TuneOptions) -> Path:
    """Returns the directory of the study. Raises ConfigError."""
    name = options.name or "-".join(run_directory.game_directory(game).name for game in options.game)
    return Path(name).absolute() if "/" in name else run_directory.RESULTS / "tune" / name


def run(arguments: list[str]) -> int:
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    options = parse(TuneOptions, own, TuneOptions(), DESCRIPTION, "tune")
    out = _directory(options)
    if not options.report:
        plan, searched = planned(options, arguments[len(own) + 1 :])
        budget = f"{options.minutes * usable_cores():g} core-minutes"
        print(f"On {', '.join(options.game)}: {count(options.trials, 'trial')} of {budget} a game at most.")

    def make() -> str:
        if not options.report:
            study.perform(plan, searched, out, options.trials, options.at_once)
        return study_report.report(out)

    return made(make, out)
