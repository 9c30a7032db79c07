"""Figures and tables of papers, made again: one file each.

Each has `RUNS`, the name of the directory of its runs below results/reproduce/; `READS`, the options that it has
besides --scale and --out; and `reproduce(options, out)`, which makes the runs that are missing, writes CSV and picture
into `out` and returns what they say, in words.
"""

from dataclasses import dataclass
from typing import Literal

RUN = ("game", "seconds")  # options of runs whose speed is measured
CURVES = (*RUN, "seeds", "machines")  # of those whose curves are shown
LEARNING = (*CURVES, "episodes")  # of those whose agents are evaluated


@dataclass(frozen=True)
class CommonOptions:
    """The options of each figure. An option that is not given is what the scale says."""

    scale: Literal["cpu", "full"] = "cpu"
    """full: the paper's settings, hours to days on a machine with a GPU. cpu: smaller ones, for any machine."""
    out: str | None = None
    """Directory for runs, CSV and picture. Default: a directory of figure and scale in results/reproduce/."""
    game: tuple[str, ...] = ()
    """The game; where learning is shown, one or more."""
    seconds: float | None = None
    """Training time of each run. Where speed is measured its first fifth is for settling and does not count."""
    seeds: int | None = None
    """Runs of each setting, with the seeds 1, 2, ...; for all that shows learning, and for fast DQN's trials."""
    episodes: int = 30
    """Games that each trained agent plays; where agents are evaluated."""
    machines: str | None = None
    """The machines of the Ray cluster at this address, HOST:PORT or auto, make the runs, each of them one at a time;
    for all that shows learning. All must see the directory of --out. Default: this machine makes them."""
