"""Table 1 of the paper: training times and frame rates of other systems, beside CuLE's and ours.

The rows of other systems are the paper's data. Ours are runs on one game, raw frames (4 for each step) a second, with
inference and in training; their games are few where there is no GPU.
"""

from pathlib import Path

from ga3c.experiments import emulation, tables
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import results
from ga3c.papers import RUN
from ga3c.papers.cule import Options, loads
from ga3c.papers.plan import chosen

RUNS = "cule-table1"
READS = (*RUN, "games")
SCALES = {
    "cpu": {"game": "Pong", "games": 256, "seconds": 60.0},
    "full": {"game": "Pong", "games": 4096, "seconds": 300.0},
}
# System: time, million raw frames, 1,000 raw frames a second, resources. An empty text: the paper does not say.
PAPER = {
    "Ape-X DQN": ("5 days", "22,800", "50", "376 cores, 1 GPU"),
    "Rainbow": ("10 days", "200", "", "1 GPU"),
    "C51": ("10 days", "200", "", "1 GPU"),
    "A3C": ("4 days", "", "2", "16 cores"),
    "GA3C": ("1 day", "", "8", "16 cores, 1 GPU"),
    "Prioritized Dueling": ("9.5 days", "200", "", "1 GPU"),
    "DQN": ("9.5 days", "200", "", "1 GPU"),
    "Gorila DQN": ("4 days", "", "", "more than 100 cores"),
    "UNREAL": ("", "250", "", "16 cores"),
    "Stooke and Abbeel: A2C, DQN": ("hours", "200", "35", "40 cores, 8 GPUs"),
    "IMPALA": ("minutes to hours", "200", "250", "100 to 200 cores, 1 GPU"),
    "CuLE, emulation alone, 4,096 games": ("", "", "41 to 155", "1 GPU"),
    "CuLE, inference, 4,096 games": ("", "", "39 to 125", "1 GPU"),
    "CuLE, A2C with V-trace, 1,200 games": ("1 hour", "200", "26 to 68", "1 GPU"),
    "CuLE, the same, 4 x 1,200 games, four of the games": ("minutes", "200", "142 to 187", "4 GPUs"),
}
_LOADS = {"inference": loads.inference, "training": loads.training}


def plan(options: Options) -> dict[LearningRun, tuple[str, str]]:
    """The runs, and the load and the engine of each: ours on the cores and, where there is one, on the GPU."""
    scale = chosen(SCALES, options)
    ours = [engine for engine in emulation.engines() if engine != "ale"]
    return {
        _LOADS[load](scale["game"], engine, scale["games"], scale["seconds"]): (load, engine)
        for load in _LOADS
        for engine in ours
    }


def reproduce(options: Options, out: Path) -> str:
    runs, scale = plan(options), chosen(SCALES, options)
    found = {runs[run]: rate for run, rate in results(runs, out, loads.frames_per_second).items()}
    named = f"{scale['game']}, {scale['games']:,} games"
    ours = [
        [f"{loads.ENGINES[engine]}, {load}, {named}", "", "", f"{rate / 1000:.1f}", "this machine"]
        for (load, engine), rate in found.items()
    ]
    head = ["system", "time", "million frames", "1,000 frames/s", "resources"]
    rows = [*([name, *row] for name, row in PAPER.items()), *ours]
    table = tables.markdown(head, rows)
    tables.write(out, "table1", [dict(zip(head, row, strict=True)) for row in rows], table)
    return f"\n{table}"
