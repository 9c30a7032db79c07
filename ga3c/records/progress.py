"""Progress: what a run has come to besides its weights, as a checkpoint's meta holds it."""

import reprlib
from dataclasses import dataclass, fields

from ga3c.controller.counts import Counts
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.records.csv_reading import LARGEST
from ga3c.records.files import reason
from ga3c.rollout import EnvironmentSpec, spaces_of
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.ranges import MANY
from ga3c.settings.run import Settings
from ga3c.stats import Totals


@dataclass(frozen=True)
class Progress:
    """Of a run when its checkpoint was written."""

    settings: Settings
    totals: Totals
    counts: Counts
    next_agent: int  # agents are numbered through, over a resume too
    recent_scores: list[float]  # of the last 100 games
    spaces: dict | None = None  # what its network was made for: `rollout.spaces_of`; None: it is not known

    def check_spaces(self, spec: EnvironmentSpec, path) -> None:
        """Raises ConfigError where the game, as it is now, is another one for a network than when that was saved."""
        for name, now in spaces_of(spec).items():
            before = (self.spaces or {}).get(name, now)
            if before != now:
                raise ConfigError(
                    f"The {name} of the game '{spec.name}' were {reprlib.repr(before)} when {path} was saved, and are "
                    f"{reprlib.repr(now)} now: its weights are for the former. Give the game its spaces back, or begin "
                    "a new run."
                )

    def to_meta(self) -> dict:
        """As plain values, for JSON."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return own | {
            "settings": saved_settings.to_dict(self.settings),
            "protocol": protocols.fingerprint(self.settings.environment),
            "totals": vars(self.totals),
        }


def counts_of(settings: Settings) -> Counts:
    """That a run starts with."""
    schedule = settings.schedule
    return Counts(schedule.first_agents(), schedule.predictors, schedule.trainers)


def beginning(settings: Settings) -> Progress:
    """Of a new run."""
    return Progress(settings, Totals(), counts_of(settings), next_agent=0, recent_scores=[])


def from_meta(meta: dict, path) -> Progress:
    """The inverse of `to_meta`. Raises ConfigError, with the path, where something is missing or makes no sense."""
    try:
        totals = Totals(**meta["totals"])
        counts = Counts(*(_count(value, 1) for value in meta["counts"]))
        scores = [float(score) for score in meta["recent_scores"]]
        if not all(abs(score) < LARGEST for score in scores):
            raise ValueError("a score is not finite, or too large")
        next_agent = _count(meta["next_agent"], 0)
        for name, value in vars(totals).items():
            fits = isinstance(value, type(getattr(Totals, name)) | int) and not isinstance(value, bool)
            if not (fits and 0 <= value <= MANY):
                raise ValueError(f"{name} is {reprlib.repr(value)}")
        spaces = meta.get("spaces")
        if not isinstance(spaces, dict | None):
            raise ValueError("its spaces are none")
        settings = saved_settings.from_dict(meta["settings"], meta.get("protocol"))
        return Progress(settings, totals, counts, next_agent, scores, spaces)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ConfigError(f"{path} is not a checkpoint of this version of ga3c ({reason(error)}).") from error


def _count(value, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 2**31:
        raise ValueError(f"{reprlib.repr(value)} is no count")
    return value
