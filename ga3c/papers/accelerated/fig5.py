"""Figure 5 of the paper: learning of A2C, A3C, PPO and APPO on several devices, over steps and over minutes."""

from pathlib import Path

from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.throughput import write_rows
from ga3c.papers import games, only, seconds, seeds
from ga3c.papers.accelerated import START_STEPS, Options, devices
from ga3c.views import curves
from ga3c.views.drawing import BAND, common_legend, pyplot, save

RUNS = "accelerated-fig5"
SCALES = {
    "cpu": {"game": ("Pong",), "devices": 2, "steps": 1_000_000, "seconds": 3600.0, "seeds": 1},
    "full": {"game": ("Pong", "Breakout", "Qbert"), "devices": 8, "steps": 50_000_000, "seconds": 14_400.0, "seeds": 2},
}
X = {"million steps": curves.SCORE_OVER_STEPS, "minutes": curves.SCORE_OVER_TIME}
Runs = dict[tuple[str, str], list[LearningRun]]  # game and algorithm -> seeds


def plan(options: Options) -> Runs:
    """Raises ConfigError."""
    scale = SCALES[options.scale]
    count = only(options.devices, scale["devices"], "--devices")
    limits = {"seconds": seconds(options, scale), "steps": 0 if options.seconds else scale["steps"]}
    return {
        (game, algorithm): [
            LearningRun(
                game, f"{algorithm}-{count}", tuple(flags(algorithm, options.scale, count).split()), seed, **limits
            )
            for seed in seeds(options, scale)
        ]
        for game in games(options, scale["game"])
        for algorithm in devices.GAMES
    }


def flags(algorithm: str, scale: str, count: int) -> str:
    """Of `train`."""
    words = [f"--preset {devices.ASYNCHRONOUS.get(algorithm, algorithm)}", START_STEPS]
    words += [f"--{name.replace('_', '-')} {value}" for name, value in devices.spread(algorithm, count).items()]
    if count > 1:
        words.append(f"--devices {devices.flag(scale, count)}")
    if algorithm in devices.ASYNCHRONOUS and count > 1:
        words.append("--device-updates asynchronous")
    if algorithm == "appo":
        words.append(f"--learning-rate {devices.APPO_RATE:g} --learning-rate-schedule inverse")
        words.append("--learning-rate-decay-steps 0")
    return " ".join(words)


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform([run for group in runs.values() for run in group], out)
    rows = []
    for (game, algorithm), group in runs.items():
        for run in group:
            steps, score = curves.of_run(directory_of(run, out), curves.SCORE_OVER_STEPS)
            rows.append(
                {
                    "game": game,
                    "algorithm": algorithm,
                    "seed": run.seed,
                    "steps": round(1e6 * steps[-1]) if len(steps) else 0,
                    "mean_of_last_games": f"{score[-1]:.6g}" if len(score) else "",
                }
            )
    write_rows(out / "fig5.csv", rows)
    draw(runs, out)
    lines = [f"{r['game']}, {r['algorithm']}, seed {r['seed']}: {r['mean_of_last_games']}" for r in rows]
    return "\n".join(["", *lines, devices.note(options)])


def draw(runs: Runs, out: Path) -> None:
    """A row for each game: scores over steps and over minutes, the mean of the seeds and a band around it."""
    plt, names = pyplot(), list(dict.fromkeys(game for game, _ in runs))
    figure, axes = plt.subplots(
        len(names), len(X), figsize=(9, 3.5 * len(names)), squeeze=False, sharey="row", layout="constrained"
    )
    for row, game in zip(axes, names, strict=True):
        for axis, (label, quantity) in zip(row, X.items(), strict=True):
            for index, algorithm in enumerate(devices.GAMES):
                curve = curves.of_runs([directory_of(run, out) for run in runs[game, algorithm]], quantity)
                axis.plot(curve.x, curve.y, color=f"C{index}", label=algorithm)
                axis.fill_between(curve.x, curve.low, curve.high, color=f"C{index}", **BAND)
            axis.set(title=game, xlabel=label, ylabel="score")
    common_legend(figure)
    save(figure, out / "fig5.png")
