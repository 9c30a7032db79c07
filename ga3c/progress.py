"""Progress: what a run has reached besides its weights. A checkpoint holds it, and a system begins from it."""

import reprlib
from dataclasses import dataclass

from ga3c.controller.counts import Counts
from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings
from ga3c.stats import Totals


@dataclass(frozen=True)
class Progress:
    """The progress of a run when its checkpoint was written, or when it begins."""

    settings: Settings
    totals: Totals
    counts: Counts
    next_agent: int  # agents are numbered through, over a resume too
    recent_scores: list[float]  # of the last 100 games
    spaces: dict | None = None  # `spaces_of` the game that its network was made for; None: not known

    def check_spaces(self, spec: EnvironmentSpec, path) -> None:
        """Raises ConfigError if the spaces of the game were others when the file at `path` was saved."""
        for name, now in spaces_of(spec).items():
            before = (self.spaces or {}).get(name, now)
            if before != now:
                raise ConfigError(
                    f"The {name} of the game '{spec.name}' were {reprlib.repr(before)} when {path} was saved, and are "
                    f"{reprlib.repr(now)} now: its weights are for the former. Give the game its spaces back, or begin "
                    "a new run."
                )


def counts_of(settings: Settings) -> Counts:
    """Returns the numbers of agents, predictors and trainers that a run starts with."""
    schedule = settings.schedule
    return Counts(schedule.first_agents(), schedule.predictors, schedule.trainers)


def beginning(settings: Settings) -> Progress:
    """Returns the progress of a new run."""
    return Progress(settings, Totals(), counts_of(settings), next_agent=0, recent_scores=[])


def spaces_of(spec: EnvironmentSpec) -> dict[str, list]:
    """Returns the observations and actions that a network is made for, as plain values, for JSON."""
    actions = spec.actions
    words = {
        "discrete": [actions.count],
        "multidiscrete": [list(actions.sizes)],
        "continuous": [list(actions.shape), list(actions.low), list(actions.high)],
    }
    parts = spec.layout.described() if spec.layout else []
    return {
        "observations": [spec.observation_dtype, list(spec.observation_shape), *parts],
        "actions": [actions.kind, *words[actions.kind]],
    }
