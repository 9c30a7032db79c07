"""Figures and tables of accelerated methods (Stooke and Abbeel 2018)."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from ga3c.papers import CommonOptions
from ga3c.settings.presets import agents_of

# Section 5.3: all of its experiments start each game with a random number of random steps; it does not say how many.
START_STEPS = "--start-steps-limit 100"


@dataclass(frozen=True)
class Options(CommonOptions):
    cores: tuple[int, ...] = ()
    """Numbers of cores that a run may use, for games and inference; table1 takes one."""
    games: tuple[int, ...] = ()
    """Numbers of games: per core in fig2 and table1, of a whole run in fig3 and fig6."""
    devices: tuple[int, ...] = ()
    """Numbers of devices in table2 and table3; the one of fig5. At cpu scale they are parts of the cores."""
    batches: tuple[int, ...] = ()
    """Transitions in an update; fig4 shows each."""
    start_from: Annotated[str | None, tyro.conf.arg(name="from", metavar="RUN")] = None
    """The run whose agent plays in fig2 and table1, of the preset `ga3c`. The paper's agent was trained, so that games
    last as long as those of a good player. Default: new weights."""


def as_flags(settings: dict[str, object]) -> str:
    """Returns the flags of `train` for these settings."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def games_flags(count: int) -> str:
    """Returns the flags of `train` for so many games in all."""
    return as_flags(agents_of(count))
