"""Table 5 of the paper: frames per second in training DQN, A2C and PPO on Pong, by engine and number of games.

The paper's engines are OpenAI Gym, here ale-py, and CuLE on cores and on a GPU, here our own. How busy the GPU was is
left out.
"""

from itertools import product
from pathlib import Path
from typing import NamedTuple

from ga3c.experiments import emulation
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import write_rows
from ga3c.papers import only, seconds
from ga3c.papers.cule import Options, loads
from ga3c.records.files import write_whole

RUNS = "cule-table5"
SCALES = {"cpu": {"games": (256,), "seconds": 60.0}, "full": {"games": (256, 1024), "seconds": 300.0}}
# With little in the replay an update costs what it does later: there is no need to wait for 50,000 transitions.
PRESETS = {
    "dqn": ("--replay-minimum-transitions", "5000", "--replay-transitions", "50000"),
    "a2c": (),
    "ppo": (),
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
    scale, game = SCALES[options.scale], only(options.game, "Pong", "--game")
    return {
        loads.run(
            game, engine, count, seconds(options, scale), "--preset", algorithm, *PRESETS[algorithm], name=algorithm
        ): (algorithm, count, engine)
        for algorithm, count, engine in product(PRESETS, options.games or scale["games"], emulation.engines())
    }


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(list(runs), out)
    found = {what: loads.frames_per_second(run, out) for run, what in runs.items()}
    rows = []
    for (algorithm, count, engine), rate in found.items():
        paper = PAPER.get((algorithm, count))
        own = {"algorithm": algorithm, "games": count, "engine": engine, "frames_per_second": f"{rate:.6g}"}
        rows.append(own | {"paper_frames_per_second": getattr(paper, engine) if paper else ""})
    write_rows(out / "table5.csv", rows)
    table = markdown(found)
    write_whole(out / "table5.md", table)
    return f"\n{table}"


def markdown(found: dict[tuple[str, int, str], float]) -> str:
    head = ["algorithm", "games", "ale-py", "ours", "ours / ale-py", "paper: ours / ale-py", "ours, GPU", "paper, GPU"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for algorithm, count in dict.fromkeys((algorithm, count) for algorithm, count, _ in found):
        theirs, ours = found[algorithm, count, "ale"], found[algorithm, count, "ours"]
        paper, gpu, cells = PAPER.get((algorithm, count)), found.get((algorithm, count, "gpu")), ["-", "-"]
        names = [loads.thousands(theirs), loads.thousands(ours), f"{ours / theirs:.2f}"]
        if paper:
            names[:2] = [f"{names[0]} ({loads.thousands(paper.ale)})", f"{names[1]} ({loads.thousands(paper.ours)})"]
            cells = [f"{paper.ours / paper.ale:.2f}", loads.thousands(paper.gpu)]
        cells.insert(1, loads.thousands(gpu) if gpu else "-")
        lines.append("| " + " | ".join([algorithm.upper(), f"{count:,}", *names, *cells]) + " |")
    return "\n".join(lines) + "\nRaw frames a second; in brackets the paper's, on 12 cores and a Titan V.\n"
