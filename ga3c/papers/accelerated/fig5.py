"""Figure 5 of the paper: learning of A2C, A3C, PPO and APPO on several devices, over steps and over minutes."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.tables import write_rows
from ga3c.papers import CURVES
from ga3c.papers.accelerated import START_STEPS, Options, as_flags, devices
from ga3c.papers.plan import chosen, learning_runs
from ga3c.views import curves
from ga3c.views.panels import panels, score_panel

RUNS = "accelerated-fig5"
READS = (*CURVES, "devices")
SCALES = {
    "cpu": {"game": ("Pong",), "devices": 2, "steps": 1_000_000, "seconds": 3600.0, "seeds": 1},
    "full": {"game": ("Pong", "Breakout", "Qbert"), "devices": 8, "steps": 50_000_000, "seconds": 14_400.0, "seeds": 2},
}
Runs = dict[tuple[str, str], list[LearningRun]]  # game and algorithm -> seeds


def plan(options: Options) -> Runs:
    """Raises ConfigError."""
    scale, runs = chosen(SCALES, options), {}
    for game in scale["game"]:
        for algorithm in devices.GAMES:
            settings = {f"{algorithm}-{scale['devices']}": flags(algorithm, options.scale, scale["devices"])}
            runs[game, algorithm] = learning_runs(scale | {"game": (game,)}, settings)
    return runs


def flags(algorithm: str, scale: str, count: int, exchange: int = devices.EXCHANGE_MINIBATCHES) -> str:
    """Returns the flags of `train`. exchange: APPO's devices exchange weights after so many minibatches."""
    words = [f"--preset {devices.preset(algorithm)}", START_STEPS]
    words.append(as_flags(devices.spread(algorithm, count)))
    if count > 1:
        words.append(f"--devices {devices.flag(scale, count)}")
    if algorithm in devices.ASYNCHRONOUS and count > 1:
        words.append("--device-updates asynchronous")
    if horizon := devices.horizon(algorithm, count):
        words.append(f"--t-max {horizon}")
    if algorithm == "appo" and count > 1:
        words.append(as_flags(devices.appo(exchange)))
    return " ".join(words)


def reproduce(options: Options, out: Path) -> str:
    runs, rows = plan(options), []
    perform([run for group in runs.values() for run in group], out, options.machines)
    for (game, algorithm), group in runs.items():
        for run in group:
            own = {"game": game, "algorithm": algorithm, "seed": run.seed}
            rows.append(own | last_score(directory_of(run, out)))
    write_rows(out / "fig5.csv", rows)
    draw(runs, out)
    lines = [f"{r['game']}, {r['algorithm']}, seed {r['seed']}: {r['mean_of_last_games']}" for r in rows]
    return "\n".join(["", *lines, devices.note(options)])


def last_score(directory: Path) -> dict:
    """Returns columns that say where the learning curve of a run ends."""
    steps, score = curves.of_run(directory, curves.SCORE_OVER_STEPS)
    if not len(score):
        return {"steps": 0, "mean_of_last_games": ""}
    return {"steps": round(1e6 * steps[-1]), "mean_of_last_games": f"{score[-1]:.6g}"}


def draw(runs: Runs, out: Path) -> None:
    """A row for each game: scores over steps and over minutes, the mean of the seeds and a band around it."""
    names = list(dict.fromkeys(game for game, _ in runs))
    with panels(out / "fig5.png", len(names), 2, sharey="row") as axes:
        for row, game in zip(axes, names, strict=True):
            groups = {name: [directory_of(run, out) for run in runs[game, name]] for name in devices.GAMES}
            for axis, over in zip(row, (curves.SCORE_OVER_STEPS, curves.SCORE_OVER_TIME), strict=True):
                score_panel(axis, game, groups, over)
