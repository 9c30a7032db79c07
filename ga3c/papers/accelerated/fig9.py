"""Figure 9 of the paper: norms of weights, gradients and steps on Q*bert, with Adam and with RMSProp."""

from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import directory_of, perform
from ga3c.experiments.tables import write_rows
from ga3c.papers import CURVES
from ga3c.papers.accelerated import START_STEPS, Options, fig4, games_flags
from ga3c.papers.accelerated.fig5 import last_score
from ga3c.papers.accelerated.fig7 import last_of
from ga3c.papers.plan import chosen, learning_runs
from ga3c.views import curves
from ga3c.views.drawing import legend
from ga3c.views.panels import panels, score_panel

RUNS = "accelerated-fig9"
READS = (*CURVES, "batches")
SCALES = {
    "cpu": {"game": "Qbert", "batches": (64, 1024), "steps": 500_000, "seconds": 7200.0, "seeds": 1,
            "flags": "--replay-transitions 100000 --replay-minimum-transitions 20000 --exploration-decay-steps 100000"},
    "full": {"game": "Qbert", "batches": (64, 256, 1024), "steps": 50_000_000, "seconds": 864_000.0, "seeds": 2,
             "flags": ""},
}  # fmt: skip
ADAM_RATE = 4.2e-4  # section 5.4.1, for all batches
# Appendix C: 20 times as much with 1,024 as with 64, where 1e-4 is too little and 5e-4 too much. That with 256 is ours.
RMSPROP_RATES = {64: 2e-4, 256: 9e-4, 1024: 4e-3}
NORMS = tuple(f"{layer}_{kind}_norm" for layer in ("fc0", "conv0") for kind in ("weight", "gradient", "update"))
WORDS = {"fc0": "fully connected 0", "conv0": "convolution 0", "update": "step"}
PAPER = (
    "Paper: gradients are smaller with larger batches; with Adam the norms of fully connected weights are alike, with "
    "RMSProp only at rates that grow with the batch."
)


def flags(optimizer: str, batch: int, extra: str) -> str:
    """Returns the flags of `train` (appendix C). RMSProp has the preset's constants. Raises ConfigError."""
    if batch not in RMSPROP_RATES:
        raise ConfigError(f"--batches {batch}: figure 9 is of {', '.join(map(str, RMSPROP_RATES))}.")
    rate = ADAM_RATE if optimizer == "adam" else RMSPROP_RATES[batch]
    words = f"--preset c51 --batch {batch} --optimizer {optimizer} --learning-rate {rate:g} --record-norms"
    return f"{words} {games_flags(fig4.games_for(batch))} {START_STEPS} {extra}"


def plan(options: Options) -> dict[str, list[LearningRun]]:
    """Optimizer -> its runs, those of the smallest batch first. Raises ConfigError."""
    scale, runs = chosen(SCALES, options), {}
    scale["game"] = (scale["game"],)
    for optimizer in ("adam", "rmsprop"):
        settings = {f"{optimizer}-{batch}": flags(optimizer, batch, scale["flags"]) for batch in scale["batches"]}
        runs[optimizer] = learning_runs(scale, settings)
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform([run for group in runs.values() for run in group], out, options.machines)
    rows = []
    for optimizer, group in runs.items():
        for run in group:
            directory = directory_of(run, out)
            own = {"optimizer": optimizer, "setting": run.setting, "game": run.game, "seed": run.seed}
            rows.append(own | last_score(directory) | last_of(directory, *NORMS))
    write_rows(out / "fig9.csv", rows)
    draw(runs, out)
    lines = [
        f"{row['setting']}, seed {row['seed']}: {row['mean_of_last_games']}; norms of the first fully connected layer: "
        f"weights {row['fc0_weight_norm']}, gradient {row['fc0_gradient_norm']}, step {row['fc0_update_norm']}"
        for row in rows
    ]
    return "\n".join(["", *lines, PAPER])


def draw(runs: dict[str, list[LearningRun]], out: Path) -> None:
    """A column for each optimizer; a row for the score, and one for each norm, whose label is on the left."""
    quantities = {curves.SCORE_OVER_STEPS: "score"} | {curves.over_steps(name): _label(name) for name in NORMS}
    shared = {"sharex": "col", "sharey": "row"}
    with panels(out / "fig9.png", len(quantities), len(runs), size=(9, 2.2 * len(quantities)), **shared) as axes:
        for row, (quantity, label) in zip(axes, quantities.items(), strict=True):
            for axis, group in zip(row, runs.values(), strict=True):
                labels = dict.fromkeys(run.setting for run in group)
                groups = {name: [directory_of(run, out) for run in group if run.setting == name] for name in labels}
                score_panel(axis, "", groups, quantity, label)
        for axis, (optimizer, group) in zip(axes[0], runs.items(), strict=True):
            axis.set_title(f"{group[0].game}, {optimizer}")
            legend(axis)


def _label(norm: str) -> str:
    layer, kind, _ = norm.split("_")
    return f"{WORDS[layer]}: {WORDS.get(kind, kind)} norm"
