"""Table 5 of the paper: frames per second in training DQN, A2C and PPO on Pong, by engine and number of games.

The paper's engines are OpenAI Gym, here ale-py, and CuLE on cores and on a GPU, here our own. How busy the GPU was is
left out.
"""

from itertools import product
from pathlib import Path
from typing import NamedTuple

from ga3c.experiments import emulation, tables
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import results
from ga3c.papers import RUN
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen

RUNS = "cule-table5"
READS = (*RUN, "games")
SCALES = {
    "cpu": {"game": "Pong", "games": (256,), "seconds": 60.0},
    "full": {"game": "Pong", "games": (256, 1024), "seconds": 300.0},
}
# With little in the replay an update costs what it does later: there is no need to wait for 50,000 transitions.
PRESETS = {
    "dqn": ("--preset", "dqn", "--replay-minimum-transitions", "5000", "--replay-transitions", "50000"),
    "a2c": ("--preset", "a2c"),
    "ppo": ("--preset", "ppo-paper"),
}


class Paper(NamedTuple):
    """Frames per second on System I: 12 cores, a Titan V."""

    ale: int
    ours: int
    gpu: int


PAPER = {
    ("dqn", 256): Paper(6_400, 7_200, 14_400),
    ("dqn", 1024): Paper(8_400, 8_600, 25_600),
    ("a2c", 256): Paper(12_800, 10_400, 19_600),
    ("a2c", 1024): Paper(15_200, 14_200, 51_000),
    ("ppo", 256): Paper(12_000, 10_000, 14_000),
    ("ppo", 1024): Paper(10_600, 10_200, 36_000),
}


def plan(options: Options) -> dict[LearningRun, tuple[str, int, str]]:
    """The runs, and algorithm, number of games and engine of each."""
    scale, runs = chosen(SCALES, options), {}
    for algorithm, count, engine in product(PRESETS, scale["games"], emulation.engines()):
        run = loads.run(scale["game"], engine, count, scale["seconds"], *PRESETS[algorithm], name=algorithm)
        runs[run] = algorithm, count, engine
    return runs


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    found = {runs[run]: rate for run, rate in results(runs, out, loads.frames_per_second).items()}
    rows = []
    for (algorithm, count, engine), rate in found.items():
        paper = PAPER.get((algorithm, count))
        own = {"algorithm": algorithm, "games": count, "engine": engine, "frames_per_second": f"{rate:.6g}"}
        rows.append(own | {"paper_frames_per_second": getattr(paper, engine) if paper else ""})
    table = markdown(found)
    tables.write(out, "table5", rows, table)
    return f"\n{table}"


def markdown(found: dict[tuple[str, int, str], float]) -> str:
    head = ["algorithm", "games", "ale-py", "ours", "ours / ale-py", "paper: ours / ale-py", "ours, GPU", "paper, GPU"]
    rows = []
    for algorithm, count in dict.fromkeys((algorithm, count) for algorithm, count, _ in found):
        theirs, ours, gpu = (found.get((algorithm, count, engine)) for engine in loads.ENGINES)
        speeds, ratio, its_gpu = [loads.thousands(theirs), loads.thousands(ours)], None, None
        if paper := PAPER.get((algorithm, count)):
            in_brackets = map(loads.thousands, (paper.ale, paper.ours))
            speeds = [f"{own} ({its})" for own, its in zip(speeds, in_brackets, strict=True)]
            ratio, its_gpu = f"{paper.ours / paper.ale:.2f}", loads.thousands(paper.gpu)
        cells = [*speeds, f"{ours / theirs:.2f}", ratio, gpu and loads.thousands(gpu), its_gpu]
        rows.append([algorithm.upper(), f"{count:,}", *cells])
    return tables.markdown(head, rows) + "Raw frames a second; in brackets the paper's, on 12 cores and a Titan V.\n"
