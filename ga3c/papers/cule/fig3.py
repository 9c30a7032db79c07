"""Figure 3 of the paper: frames per second, in all and for each game, over the number of games, by engine and load.

The paper's engines are OpenAI Gym, here ale-py, CuLE on cores, here our own emulator, and CuLE on a GPU.
"""

from itertools import product
from pathlib import Path

import numpy as np

from ga3c.experiments import emulation
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import results
from ga3c.experiments.tables import markdown, rounded, write_rows
from ga3c.papers import RUN
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen
from ga3c.views.drawing import by_doubling, logarithmic
from ga3c.views.panels import panels

RUNS = "cule-fig3"
READS = (*RUN, "games", "loads", "all_games")
LOADS = ("emulation", "inference")
SCALES = {
    "cpu": {"loads": LOADS, "game": ("Pong", "Boxing", "Riverraid"), "games": (1, 8, 64, 256), "seconds": 8.0,
            "emulation_seconds": 1.0, "rounds": 3},
    "full": {"loads": LOADS, "game": (), "games": (1, 8, 32, 128, 512, 2048, 4096, 16384), "seconds": 60.0,
             "emulation_seconds": 5.0, "rounds": 3},
}  # fmt: skip
# What the text says of 57 games, with 4,096 environments each: lowest, median, highest; a gap: not said. On System I:
# 12 cores, a Titan V.
PAPER_GAMES = 4096
PAPER_ENGINES = {"ale": "paper: OpenAI Gym", "ours": "paper: CuLE, cores", "gpu": "paper: CuLE, GPU"}
PAPER = {
    ("emulation", "ale"): (None, 18_000, None),  # the highest median over numbers of environments
    ("emulation", "ours"): (14_000, None, 27_000),
    ("emulation", "gpu"): (41_000, 64_000, 155_000),
    ("inference", "ours"): (12_500, 18_000, 19_800),
    ("inference", "gpu"): (39_000, 56_000, 125_000),
}


def plan(options: Options) -> dict[LearningRun, tuple[str, int]]:
    """The runs with inference, and the engine and number of games of each."""
    scale = chosen(SCALES, options)
    if "inference" not in scale["loads"]:
        return {}
    return {
        loads.inference(game, engine, count, scale["seconds"]): (engine, count)
        for (game, count), engine in product(points(options), emulation.engines())
    }


def points(options: Options) -> list[tuple[str, int]]:
    """Returns games (Pong, ...) and numbers of them."""
    scale = chosen(SCALES, options)
    return list(product((scale["game"] if not options.all_games else ()) or emulation.proven(), scale["games"]))


def reproduce(options: Options, out: Path) -> str:
    runs, scale = plan(options), chosen(SCALES, options)
    speeds = results(runs, out, loads.frames_per_second)
    found = {("inference", run.game, *runs[run]): [speed] for run, speed in speeds.items()}
    how_long = min(options.seconds or np.inf, scale["emulation_seconds"]), scale["rounds"]
    for game, count in points(options) if "emulation" in scale["loads"] else ():
        for engine, rates in loads.emulation_alone(game, count, *how_long, out).items():
            found["emulation", game, engine, count] = rates
    write_rows(out / "fig3.csv", [_row(key, rates) for key, rates in sorted(found.items())])
    draw(found, out / "fig3.png")
    return words(found)


def _row(key: tuple, rates: list[float]) -> dict:
    load, game, engine, count = key
    spread = {"lowest": min(rates), "median": np.median(rates), "highest": max(rates)}
    numbers = {f"frames_per_second_{name}": float(value) for name, value in spread.items()}
    numbers["frames_per_second_and_game"] = numbers["frames_per_second_median"] / count
    paper = PAPER.get((load, engine), (None,) * 3)
    papers = {f"paper_{name}_of_57_games": value or "" for name, value in zip(spread, paper, strict=True)}
    return {"load": load, "game": game, "engine": engine, "games": count} | rounded(numbers) | papers


def over_games(found: dict, load: str, engine: str) -> dict[int, tuple[float, float, float]]:
    """By number of games: lowest, median and highest over the games (Pong, Boxing, ...)."""
    counts = sorted({key[3] for key in found if (key[0], key[2]) == (load, engine)})
    medians = {
        count: [np.median(rates) for key, rates in found.items() if (key[0], *key[2:]) == (load, engine, count)]
        for count in counts
    }
    return {count: (min(rates), float(np.median(rates)), max(rates)) for count, rates in medians.items()}


def draw(found: dict, file: Path) -> None:
    """Above all games' frames, below those of one; left emulation alone, right with inference. Hollow: the paper's."""
    shown = [load for load in LOADS if any(key[0] == load for key in found)]
    counts = sorted({key[3] for key in found} | {PAPER_GAMES})
    with panels(file, 2, len(shown), size=(4.5 * len(shown), 5.8), sharex=True, sharey="row") as axes:
        for (row, column), axis in np.ndenumerate(axes):
            by_doubling(axis, counts)
            logarithmic(axis, (1,) if row else (1, 2, 5))
            for shift, (engine, (colour, mark)) in enumerate(loads.STYLES.items(), -1):
                own, papers = over_games(found, shown[column], engine), PAPER.get((shown[column], engine))
                style = {"color": colour, "marker": mark}
                _line(axis, own, row, 1.15**shift, label=loads.ENGINES[engine], **style)
                paper = {PAPER_GAMES: papers} if papers else {}
                _line(axis, paper, row, 1.6**shift, label=PAPER_ENGINES[engine], mfc="none", **style)
        for column, load in enumerate(shown):
            axes[0, column].set_title(f"{load} only")
            axes[1, column].set_xlabel("games")
        axes[0, 0].set_ylabel("frames per second")
        axes[1, 0].set_ylabel("frames per second and game")


def _line(axis, spread: dict[int, tuple], of_one: bool, shift: float, **style) -> None:
    """The middle, and a bar from lowest to highest, where they are known; `shift` times as far right, so that engines
    stand beside each other."""
    if not spread:
        return
    counts = np.array(list(spread))
    low, middle, high = np.array(list(spread.values()), float).T / (counts if of_one else 1)
    axis.plot([shift * counts] * 2, [low, high], "-", color=style["color"])
    axis.plot(shift * counts, middle, **style)


def words(found: dict) -> str:
    """The paper's numbers stand beside them; ratios are of rounds in turn, so they hold on a busy machine too."""
    head = ["load", "games", *loads.ENGINES.values(), "ours / ale-py", "paper: ours / ale-py", "paper, GPU"]
    rows = []
    for load in [load for load in LOADS if any(key[0] == load for key in found)]:
        spreads = {engine: over_games(found, load, engine) for engine in loads.ENGINES}
        for count in spreads["ours"]:
            cells = [_spread(spreads[engine].get(count)) for engine in loads.ENGINES]
            paper = " / ".join(_paper(load, engine) for engine in ("ours", "ale")), _paper(load, "gpu")
            rows.append([load, f"{count:,}", *cells, _ratio(found, load, count), *paper])
    return markdown(head, rows) + (
        f"Raw frames a second: median (lowest to highest) over games. Paper: of 57 games, {PAPER_GAMES:,} of each "
        "at a time, on 12 cores and a Titan V; of ale-py (OpenAI Gym) the most that any number of games gave."
    )


def _ratio(found: dict, load: str, count: int) -> str:
    """Median (lowest to highest) over games, each the median of its rounds."""
    ratios = [
        np.median(np.divide(rates, found[load, game, "ale", count]))
        for (kind, game, engine, number), rates in found.items()
        if (kind, engine, number) == (load, "ours", count)
    ]
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _spread(values: tuple[float, float, float] | None) -> str:
    if values is None:
        return "-"
    low, middle, high = map(loads.thousands, values)
    return f"{middle} ({low} to {high})"


def _paper(load: str, engine: str) -> str:
    low, middle, high = (value and loads.thousands(value) for value in PAPER.get((load, engine), (None,) * 3))
    around = f"{low} to {high}" if low and high else ""
    return f"{middle} ({around})" if middle and around else middle or around or "-"
