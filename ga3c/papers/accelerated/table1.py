"""Table 1 of the paper: sampling speed over the number of games, synchronised and asynchronous."""

from pathlib import Path

from ga3c.experiments import tables
from ga3c.experiments.runs import results
from ga3c.experiments.throughput import Spread, csv_row, measure
from ga3c.papers import RUN
from ga3c.papers.accelerated import Options, sampling
from ga3c.papers.accelerated.sampling import SamplingRun
from ga3c.papers.plan import only
from ga3c.views.drawing import by_doubling
from ga3c.views.panels import banded, beside_paper

RUNS = "accelerated-table1"
READS = (*RUN, "games", "cores", "start_from")
# The paper's synchronised column alternates, and waits for all games after every fifth step, as with an update of A2C.
SAMPLINGS = ("synchronised", "alternating", "asynchronous")
SCALES = {
    "cpu": {"seconds": 50.0, "game": "Breakout", "games": (2, 4, 8, 16), "t_max": 5},
    "full": {"seconds": 300.0, "game": "Breakout", "games": (2, 4, 8, 16), "t_max": 5},
}
# Games per core -> (games in all, synchronised, asynchronous), thousands of samples per second, on 8 GPUs and 40 cores.
PAPER = {2: (64, 29.6, 31.9), 4: (128, 33.0, 34.7), 8: (256, 35.7, 36.7), 16: (512, 35.8, 38.4)}


def plan(options: Options) -> list[SamplingRun]:
    cores = only(options.cores, len(sampling.usable()), "--cores")
    return sampling.plan(options, [cores], SCALES, SAMPLINGS)


def reproduce(options: Options, out: Path) -> str:
    measured = results(plan(options), out, measure)
    speeds = {(run.sampling, run.games_per_core): found["pps"] for run, found in measured.items()}
    first = next(iter(measured))
    table = markdown(speeds, first.cores)
    tables.write(out, "table1", [csv_row(run, found) | _columns(run) for run, found in measured.items()], table)
    draw(speeds, f"{first.game}, cores: {first.cores}", out / "table1.png")
    return f"\n{table}\n{_words(speeds)}"


def _columns(run: SamplingRun) -> dict:
    names = ("paper_games", "paper_synchronised_thousands", "paper_asynchronous_thousands")
    paper = dict(zip(names, PAPER.get(run.games_per_core, ("",) * 3), strict=True))
    return {"games": run.cores * run.games_per_core, "games_per_core": run.games_per_core} | paper


def _counts(speeds: dict[tuple[str, int], Spread]) -> list[int]:
    return sorted({games for _, games in speeds})


def markdown(speeds: dict[tuple[str, int], Spread], cores: int) -> str:
    """Medians of samples per second, a row for each number of games; "-": not in the paper."""
    rows = []
    for games in _counts(speeds):
        ours = [f"{speeds[sampling, games].median:,.0f}" for sampling in SAMPLINGS]
        count, *thousands = PAPER.get(games, (None, None, None))
        paper = (value and f"{1000 * value:,.0f}" for value in thousands)
        rows.append([f"{cores * games} ({games})", *ours, count, *paper])
    return tables.markdown(["games (per core)", *SAMPLINGS, "paper: games", "synchronised", "asynchronous"], rows)


def draw(speeds: dict[tuple[str, int], Spread], what: str, file: Path) -> None:
    """A line for each sampling over games per core; a band from lowest to highest."""
    titles, games = (what, "the paper: Breakout, 8 GPUs, 40 cores"), _counts(speeds)
    with beside_paper(file, titles, ("games per core", "samples per second")) as (ours, paper):
        for name in SAMPLINGS:
            banded(ours, games, [speeds[name, count] for count in games], label=name)
        for column in (1, 2):  # its synchronised column alternates
            paper.plot(list(PAPER), [1000 * row[column] for row in PAPER.values()], "o-", color=f"C{column}")
        by_doubling(ours, games)
        by_doubling(paper, PAPER)


def _words(speeds: dict[tuple[str, int], Spread]) -> str:
    lines = []
    for games in _counts(speeds):
        ours, alternating = (speeds[name, games].median for name in ("asynchronous", "alternating"))
        _, synchronised, asynchronous = PAPER.get(games, (0, 0, 0))
        paper = f" (paper: {asynchronous / synchronised:.2f})" if synchronised else ""
        lines.append(f"{games} games per core: asynchronous is {ours / alternating:.2f} of alternating{paper}.")
    return "\n".join(lines)
