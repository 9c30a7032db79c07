"""Figure 5 of the paper: frames per second over the number of games under three loads: emulation, inference, training.

Training is A2C with five steps. The engines are those of figure 3.
"""

from itertools import product
from pathlib import Path

import numpy as np

from ga3c.experiments import emulation
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import results
from ga3c.experiments.tables import markdown, write_rows
from ga3c.papers import RUN
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen
from ga3c.views.drawing import by_doubling, logarithmic
from ga3c.views.panels import panels

RUNS = "cule-fig5"
READS = (*RUN, "games")
LOADS = {"emulation": "-", "inference": "--", "training": ":"}
SCALES = {
    "cpu": {"game": "Assault", "games": (32, 128, 512), "seconds": 20.0, "emulation_seconds": 2.0},
    "full": {"game": "Assault", "games": (32, 128, 512, 1024, 2048, 4096), "seconds": 60.0,
             "emulation_seconds": 10.0},
}  # fmt: skip
ROUNDS = 3  # of emulation alone, in turns
PAPER_RATIO, PAPER_GAMES = 2.53, 1024  # CuLE on a GPU to the engines on cores, when training
_RUNS = {"inference": loads.inference, "training": loads.training}


def plan(options: Options) -> dict[LearningRun, tuple[str, str, int]]:
    """The runs, and load, engine and number of games of each."""
    scale = chosen(SCALES, options)
    return {
        _RUNS[load](scale["game"], engine, count, scale["seconds"]): (load, engine, count)
        for load, count, engine in product(_RUNS, scale["games"], emulation.engines())
    }


def reproduce(options: Options, out: Path) -> str:
    runs, scale = plan(options), chosen(SCALES, options)
    found = {runs[run]: rate for run, rate in results(runs, out, loads.frames_per_second).items()}
    game = scale["game"]
    how_long = min(options.seconds or np.inf, scale["emulation_seconds"])
    for count in scale["games"]:
        for engine, rates in loads.emulation_alone(game, count, how_long, ROUNDS, out).items():
            found["emulation", engine, count] = float(np.median(rates))
    rows = [
        {"game": game, "load": load, "engine": engine, "games": count, "frames_per_second": f"{rate:.6g}"}
        for (load, engine, count), rate in found.items()
    ]
    write_rows(out / "fig5.csv", rows)
    draw(found, game, out / "fig5.png")
    return words(found)


def draw(found: dict, game: str, file: Path) -> None:
    with panels(file) as ((axis,),):
        for (load, dash), (engine, (colour, mark)) in product(LOADS.items(), loads.STYLES.items()):
            rates = {key[2]: rate for key, rate in sorted(found.items()) if key[:2] == (load, engine)}
            if rates:
                label = f"{loads.ENGINES[engine]}, {load}"
                axis.plot(list(rates), list(rates.values()), dash, color=colour, marker=mark, label=label)
        by_doubling(axis, sorted({count for _, _, count in found}))
        logarithmic(axis, (1, 1.5, 2, 3, 4, 5, 7))
        axis.set(xlabel="games", ylabel="frames per second", title=game)


def words(found: dict) -> str:
    rows = []
    for load, count in sorted({(load, count) for load, _, count in found}):
        theirs, ours, gpu = (found.get((load, engine, count)) for engine in loads.ENGINES)
        speeds = [loads.thousands(theirs), loads.thousands(ours), f"{ours / theirs:.2f}", gpu and loads.thousands(gpu)]
        rows.append([load, f"{count:,}", *speeds])
    return markdown(["load", "games", "ale-py", "ours", "ours / ale-py", "ours, GPU"], rows) + (
        f"Raw frames a second. Paper: with {PAPER_GAMES:,} games in training, its engine on a GPU made {PAPER_RATIO} "
        "times the frames of those on cores."
    )
