"""Draws the curves of one or more runs: python -m ga3c plot [RUN ...]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ga3c.commands.command_line import parse
from ga3c.errors import ConfigError
from ga3c.records import chosen_runs
from ga3c.text import one_line
from ga3c.views import curves
from ga3c.views.plot import draw

DESCRIPTION = """Draws score, throughput, counts and queues. One run: into its directory. Several: against each
other; those that differ in their seed alone as one curve, with a band from lowest to highest."""


@dataclass(frozen=True)
class PlotOptions:
    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN ...]")] = ()
    """Directories of runs. Without: the newest run of --game, or of all."""
    game: str | None = None
    """The game whose newest run is drawn if no directory is named."""
    out: str | None = None
    """File to draw into (png, pdf or svg). Default: plot.png in the run, comparison.png for several."""


def run(arguments: list[str]) -> int:
    options = parse(PlotOptions, arguments, PlotOptions(), DESCRIPTION, "plot")
    runs = [chosen_runs.chosen(name, options.game, with_checkpoint=False) for name in options.runs or (None,)]
    out = Path(options.out) if options.out else runs[0] / "plot.png" if len(runs) == 1 else Path("comparison.png")
    if out.suffix not in (".png", ".pdf", ".svg"):
        raise ConfigError(f"--out {out}: draw into a .png, .pdf or .svg file.")
    try:
        draw(runs, out)
    except OSError as error:
        raise ConfigError(f"Cannot write {out}: {error.strerror}.") from error
    if mix := curves.mixed_protocols(runs):
        print(f"Their scores do not compare, {mix}")
    print(f"Drawn into {one_line(out)}")
    return 0
