"""The meta of a checkpoint: the progress of a run as plain values for JSON."""

import reprlib

from ga3c.controller.counts import Counts
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.progress import Progress
from ga3c.records.csv_reading import LARGEST
from ga3c.records.files import reason
from ga3c.settings import saved_settings
from ga3c.settings.ranges import MANY
from ga3c.stats import Totals


def to_meta(progress: Progress) -> dict:
    """Returns the progress as plain values."""
    return vars(progress) | {
        "settings": saved_settings.to_dict(progress.settings),
        "protocol": protocols.fingerprint(progress.settings.environment),
        "totals": vars(progress.totals),
    }


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
