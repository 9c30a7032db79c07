"""Table 1 of the paper: sampling speed over the number of games, synchronised and asynchronous."""

from pathlib import Path

from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import Spread, csv_row, measure, write_rows
from ga3c.papers import only
from ga3c.papers.accelerated import Options, sampling
from ga3c.papers.accelerated.sampling import SamplingRun
from ga3c.records.files import write_whole
from ga3c.views.drawing import BAND, by_doubling, common_legend, from_zero, pyplot, save

RUNS = "accelerated-table1"
# The paper's synchronised column alternates, and waits for all games after every fifth step, as with an update of A2C.
SAMPLINGS = ("synchronised", "alternating", "asynchronous")
SCALES = {
    "cpu": {"seconds": 50.0, "games": (2, 4, 8, 16), "t_max": 5},
    "full": {"seconds": 300.0, "games": (2, 4, 8, 16), "t_max": 5},
}
# Games per core -> (games in all, synchronised, asynchronous), thousands of samples per second, on 8 GPUs and 40 cores.
PAPER = {2: (64, 29.6, 31.9), 4: (128, 33.0, 34.7), 8: (256, 35.7, 36.7), 16: (512, 35.8, 38.4)}
Measured = dict[SamplingRun, dict[str, Spread]]


def plan(options: Options) -> list[SamplingRun]:
    cores = only(options.cores, len(sampling.usable()), "--cores")
    return sampling.plan(options, [cores], SCALES[options.scale], SAMPLINGS)


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(runs, out)
    measured = {run: measure(run, out) for run in runs}
    write_rows(out / "table1.csv", [csv_row(run, measured[run]) | _columns(run) for run in runs])
    speeds = {(run.sampling, run.games_per_core): measured[run]["pps"] for run in runs}
    table = markdown(speeds, runs[0].cores)
    write_whole(out / "table1.md", table)
    draw(speeds, f"{runs[0].game}, cores: {runs[0].cores}", out / "table1.png")
    return f"\n{table}\n{_words(speeds)}"


def _columns(run: SamplingRun) -> dict:
    names = ("paper_games", "paper_synchronised_thousands", "paper_asynchronous_thousands")
    paper = dict(zip(names, PAPER.get(run.games_per_core, ("",) * 3), strict=True))
    return {"games": run.cores * run.games_per_core, "games_per_core": run.games_per_core} | paper


def _counts(speeds: dict[tuple[str, int], Spread]) -> list[int]:
    return sorted({games for _, games in speeds})


def markdown(speeds: dict[tuple[str, int], Spread], cores: int) -> str:
    """Medians of samples per second, a row for each number of games; "-": not in the paper."""
    head = ["games (per core)", *SAMPLINGS, "paper: games", "synchronised", "asynchronous"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for games in _counts(speeds):
        ours = [f"{speeds[sampling, games].median:,.0f}" for sampling in SAMPLINGS]
        count, *thousands = PAPER.get(games, ("-", None, None))
        paper = [str(count), *(f"{1000 * value:,.0f}" if value else "-" for value in thousands)]
        lines.append("| " + " | ".join([f"{cores * games} ({games})", *ours, *paper]) + " |")
    return "\n".join(lines) + "\n"


def draw(speeds: dict[tuple[str, int], Spread], what: str, file: Path) -> None:
    """Ours left, the paper's right: a line for each sampling over games per core; a band from lowest to highest."""
    plt = pyplot()
    figure, (ours, paper) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    games = _counts(speeds)
    for index, name in enumerate(SAMPLINGS):
        spreads = [speeds[name, count] for count in games]
        ours.plot(games, [s.median for s in spreads], "o-", color=f"C{index}", label=name)
        ours.fill_between(games, [s.lowest for s in spreads], [s.highest for s in spreads], color=f"C{index}", **BAND)
    for column, index in ((1, 1), (2, 2)):  # its synchronised column alternates
        paper.plot(list(PAPER), [1000 * row[column] for row in PAPER.values()], "o-", color=f"C{index}")
    for axis, title, ticks in ((ours, what, games), (paper, "the paper: Breakout, 8 GPUs, 40 cores", list(PAPER))):
        by_doubling(axis, ticks)
        axis.set(title=title, xlabel="games per core", ylabel="samples per second")
        axis.yaxis.set_major_formatter("{x:,.0f}")
        from_zero(axis)
    common_legend(figure)
    save(figure, file)


def _words(speeds: dict[tuple[str, int], Spread]) -> str:
    lines = []
    for games in _counts(speeds):
        ours, alternating = (speeds[name, games].median for name in ("asynchronous", "alternating"))
        _, synchronised, asynchronous = PAPER.get(games, (0, 0, 0))
        paper = f" (paper: {asynchronous / synchronised:.2f})" if synchronised else ""
        lines.append(f"{games} games per core: asynchronous is {ours / alternating:.2f} of alternating{paper}.")
    return "\n".join(lines)
