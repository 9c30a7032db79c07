"""Figure 3 of the paper: TPS of the best three settings for each number of agents, and with larger networks."""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from ga3c.experiments.runs import results
from ga3c.experiments.tables import write_rows
from ga3c.experiments.throughput import SpeedRun, Spread, csv_row, measure
from ga3c.papers import RUN
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen
from ga3c.views.drawing import WHISKER, from_zero
from ga3c.views.panels import panels

RUNS = "fig3"
READS = (*RUN, "agents", "predictors", "trainers", "network")
SHOWN = 3  # settings for each number of agents
NETWORKS = ("small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1")
SCALES = {
    "cpu": {
        "game": "Pong", "seconds": 25.0, "envs_per_agent": 16, "t_max": 5,
        "agents": (1, 2, 4, 8), "predictors": (1, 2, 4), "trainers": (1, 2, 4),
    },
    "full": {
        "game": "Pong", "seconds": 960.0, "preset": "paper",
        "agents": (16, 32, 64, 128), "predictors": (1, 2, 4, 8, 16), "trainers": (1, 2, 4, 8, 16),
    },
}  # fmt: skip
Measured = dict[SpeedRun, dict[str, Spread]]
_measure = partial(measure, needed="tps")


def grid(options: Options) -> list[SpeedRun]:
    """All combinations of agents, predictors and trainers, with the first network."""
    scale = chosen(SCALES, options) | {"network": (options.network or NETWORKS)[0]}
    names = "agents", "predictors", "trainers"
    return [
        SpeedRun(**scale | dict(zip(names, counts, strict=True)))
        for counts in product(*(scale[name] for name in names))
    ]


def larger(best: SpeedRun, options: Options) -> list[SpeedRun]:
    """The best setting with the other networks."""
    return [replace(best, network=network) for network in (options.network or NETWORKS)[1:]]


def measure_grid(options: Options, out: Path) -> Measured:
    """Makes the runs of the grid that are missing, and measures all."""
    return results(grid(options), out, _measure)


def tps(measured: Measured):
    """A key to sort runs by."""
    return lambda run: measured[run]["tps"].median


def top(measured: Measured) -> dict[int, list[SpeedRun]]:
    """Number of agents -> the settings with the highest TPS, best first."""
    ranked = sorted(measured, key=tps(measured), reverse=True)
    return {n: [run for run in ranked if run.agents == n][:SHOWN] for n in sorted({run.agents for run in ranked})}


def setting(run: SpeedRun) -> str:
    return f"N_A = {run.agents}, N_P = {run.predictors}, N_T = {run.trainers}"


def reproduce(options: Options, out: Path) -> str:
    small = measure_grid(options, out)
    shown = top(small)
    best = max(small, key=tps(small))
    others = larger(best, options)
    measured = small | (results(others, out, _measure) if others else {})
    unit = max(values["tps"].median for values in measured.values())
    rows = [csv_row(run, measured[run]) | _normalised(measured[run]["tps"], unit) for run in measured]
    write_rows(out / "fig3.csv", rows)
    draw(measured, shown, others, unit, out / "fig3.png")
    return _words(measured, shown, best, others)


def _normalised(values: Spread, unit: float) -> dict[str, str]:
    return {f"tps_normalised_{name}": f"{value / unit:.4f}" for name, value in values._asdict().items()}


def draw(measured: Measured, shown: dict[int, list[SpeedRun]], others: list[SpeedRun], unit: float, file: Path) -> None:
    """Bars in a group for each number of agents, the larger networks in the last; medians, lowest and highest."""
    groups = {f"$N_A$ = {agents}": runs for agents, runs in shown.items()}
    if others:
        best = others[0]
        groups[f"larger networks\n({best.agents}, {best.predictors}, {best.trainers})"] = others
    with panels(file, size=(9, 4)) as ((axis,),):
        bars(axis, groups, {run: Spread(*(v / unit for v in measured[run]["tps"])) for run in measured})
        axis.set(ylabel="TPS, normalised by the best")
        from_zero(axis)
        game = next(iter(measured)).game
        axis.set_title(f"{game}: the best {SHOWN} settings ($N_P$, $N_T$) for each number of agents")


def bars(axis, groups: dict[str, list[SpeedRun]], values: dict[SpeedRun, Spread], height: str = "median") -> None:
    """A bar for each run, whiskers from lowest to highest, and under it N_P, N_T or the network."""
    position, ticks, labels = 0.0, [], []
    for number, (name, runs) in enumerate(groups.items()):
        for run in runs:
            level = getattr(values[run], height)
            whiskers = [[level - values[run].lowest], [values[run].highest - level]]
            axis.bar(position, level, color=f"C{number}", yerr=whiskers, error_kw=WHISKER)
            ticks.append(position)
            label = f"{run.predictors}, {run.trainers}"
            labels.append(run.network.removeprefix("large-") if run.network.startswith("large-") else label)
            position += 1
        centre = position - (len(runs) + 1) / 2
        axis.annotate(
            name, (centre, 0), (0, -48), xycoords=("data", "axes fraction"), textcoords="offset points", ha="center",
            va="top",
        )  # fmt: skip
        position += 0.7
    axis.set_xticks(ticks, labels, rotation=90)
    axis.grid(axis="x", visible=False)
    axis.annotate(
        "$N_P$, $N_T$", (0, 0), (-44, -16), xycoords="axes fraction", textcoords="offset points", fontsize="small"
    )


def _words(measured: Measured, shown: dict[int, list[SpeedRun]], best: SpeedRun, others: list[SpeedRun]) -> str:
    rate = tps(measured)
    fewest = shown[min(shown)][0]
    depicted = [rate(run) for runs in shown.values() for run in runs]
    text = (
        f"Best: {setting(best)} with {rate(best):.0f} TPS, {rate(best) / rate(fewest):.2f} times the best with "
        f"N_A = {fewest.agents} (paper, System I: N_A = 128, N_P = N_T = 2). The lowest shown is "
        f"{100 * (1 - min(depicted) / max(depicted)):.0f} % below the best (paper: 14 %)."
    )
    if others:
        drops = ", ".join(f"{run.network} {100 * (rate(run) / rate(best) - 1):+.0f} %" for run in others)
        text += f"\nTPS against the small network: {drops} (paper: -7 % for one more layer)."
    return text
