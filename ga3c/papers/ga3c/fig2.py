"""Figure 2 of the paper: the controller finds its setting, from one agent, one predictor and one trainer."""

from itertools import product
from pathlib import Path

import numpy as np

from ga3c.experiments.runs import RunFailed, directory_of, perform
from ga3c.experiments.tables import write_rows
from ga3c.experiments.throughput import SpeedRun, spread
from ga3c.papers import RUN
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen
from ga3c.records.csv_reading import read_csv
from ga3c.records.run_directory import game_directory
from ga3c.views.drawing import from_zero, legend
from ga3c.views.panels import panels

RUNS = "fig2"
READS = RUN
RULES = {"on": "our controller", "paper": "the paper's rule"}
SCALES = {
    "cpu": {"game": ("Boxing", "Pong"), "seconds": 1500.0},
    # The paper does not say how long; its Figure 5 shows the same for three hours.
    "full": {"game": ("Boxing", "Pong"), "seconds": 10_800.0, "preset": "paper"},
}
COUNTS = {"trainers": "$N_T$", "predictors": "$N_P$", "agents": "$N_A$"}


def plan(options: Options) -> dict[tuple[str, str], SpeedRun]:
    """(name of the game, rule) -> run."""
    scale = chosen(SCALES, options)
    games, scale = scale.pop("game"), scale | {"agents": 1, "predictors": 1, "trainers": 1}
    return {
        (game_directory(game).name, rule): SpeedRun(game, controller=rule, **scale)
        for game, rule in product(games, RULES)
    }


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(list(runs.values()), out)
    traces = {key: _trace(run, out) for key, run in runs.items()}
    ends = {key: _end(trace) for key, trace in traces.items()}
    write_rows(out / "fig2.csv", [{"game": game, "rule": rule} | end for (game, rule), end in ends.items()])
    draw(traces, out / "fig2.png")
    return "\n".join(
        f"{game}, {RULES[rule]}: TPS {end['tps_start']:.0f} at first, {end['tps_median']:.0f} in the last quarter, "
        f"most of it at NT {end['trainers']} NP {end['predictors']} NA {end['agents']}."
        for (game, rule), end in ends.items()
    )


def _trace(run: SpeedRun, out: Path) -> dict[str, np.ndarray]:
    """The rows of the run's throughput.csv, without the last, in which it stopped."""
    rows = read_csv(directory_of(run, out) / "throughput.csv")
    if len(rows["seconds"]) < 2:
        raise RunFailed(f"{run.name} has no row before its end: give more --seconds, and another --out.")
    return {name: column[:-1] for name, column in rows.items()}


def _end(trace: dict[str, np.ndarray]) -> dict:
    """TPS at the start (of the first setting) and over the last quarter, and the setting most in use there."""
    settings = np.stack([trace[name] for name in COUNTS], axis=1)
    first = (settings == settings[0]).all(axis=1).cumprod().astype(bool)  # rows before the first change
    last = trace["seconds"] > 0.75 * trace["seconds"][-1]
    in_use, rows = np.unique(settings[last], axis=0, return_counts=True)
    counts = dict(zip(COUNTS, in_use[rows.argmax()].astype(int).tolist(), strict=True))
    tps = {f"tps_{name}": round(value, 2) for name, value in spread(trace["tps"][last])._asdict().items()}
    return {"tps_start": round(float(np.median(trace["tps"][first])), 2)} | tps | counts


def draw(traces: dict[tuple[str, str], dict[str, np.ndarray]], file: Path) -> None:
    """A column for each game, as in the paper; counts under each rule, and TPS under both."""
    games = list(dict.fromkeys(game for game, _ in traces))
    shared = {"size": (4.5 * len(games), 7), "sharex": "col", "sharey": "row"}
    with panels(file, 3, len(games), **shared) as axes:
        for (game, rule), trace in traces.items():
            column, minutes = games.index(game), trace["seconds"] / 60
            axis = axes[list(RULES).index(rule), column]
            for (name, label), style in zip(COUNTS.items(), ("-", "--", "-."), strict=True):
                axis.step(minutes, trace[name], style, where="post", label=label)
            axis.set_title(f"{game}: {RULES[rule]}")
            axis.yaxis.get_major_locator().set_params(integer=True)
            axes[2, column].plot(minutes, trace["tps"], linewidth=1, label=RULES[rule])
            axes[2, column].set(title=f"{game}: TPS", xlabel="minutes")
        for axis, label in zip(axes[:, 0], ("number", "number", "TPS (rollouts/s)"), strict=True):
            axis.set_ylabel(label)
            from_zero(axis)  # of all games, so not before all are drawn
        for axis in axes.flat:
            legend(axis)
