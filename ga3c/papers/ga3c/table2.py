"""Table 2 of the paper: PPS and utilisation for five networks."""

from math import isnan
from pathlib import Path

from ga3c.experiments.runs import perform
from ga3c.experiments.throughput import SpeedRun, Spread, csv_row, measure, write_rows
from ga3c.papers import Options, only
from ga3c.records.files import write_whole

RUNS = "table2"
NETWORKS = ("small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1")
SCALES = {
    "cpu": {"agents": 2, "predictors": 1, "trainers": 1, "seconds": 50.0, "envs_per_agent": 16, "t_max": 5},
    # The paper's fastest setting on System I.
    "full": {"agents": 128, "predictors": 2, "trainers": 2, "seconds": 960.0, "preset": "paper"},
}
# GA3C in the paper: (PPS, CPU %, GPU %). It has only the smallest and the largest network for Systems II and III.
PAPER = {
    "I": {
        "small": (1361, 32, 56),
        "large-stride-4": (1271, 27, 68),
        "large-stride-3": (1206, 27, 77),
        "large-stride-2": (874, 26, 82),
        "large-stride-1": (490, 17, 90),
    },
    "II": {"small": (728, 62, 33), "large-stride-1": (336, 49, 78)},
    "III": {"small": (1248, 31, 60), "large-stride-1": (256, 17, 82)},
}


def plan(options: Options) -> list[SpeedRun]:
    scale = SCALES[options.scale] | {"game": only(options.game, "Pong", "--game")}
    for name in ("agents", "predictors", "trainers"):
        scale[name] = only(getattr(options, name), scale[name], f"--{name}")
    scale["seconds"] = options.seconds or scale["seconds"]
    return [SpeedRun(network=network, **scale) for network in options.network or NETWORKS]


def reproduce(options: Options, out: Path) -> str:
    runs = plan(options)
    perform(runs, out)
    measured = {run.network: measure(run, out) for run in runs}
    rows = [csv_row(run, measured[run.network]) | _paper_columns(run.network) for run in runs]
    write_rows(out / "table2.csv", rows)
    table = markdown(measured)
    write_whole(out / "table2.md", table)
    return f"\n{table}\n{_words(measured)}".rstrip()


def _paper_columns(network: str) -> dict[str, float | str]:
    columns = ("pps", "cpu_percent", "gpu_percent")
    return {
        f"paper_{system}_{column}": value
        for system, rows in PAPER.items()
        for column, value in zip(columns, rows.get(network, ("", "", "")), strict=True)
    }


def markdown(measured: dict[str, dict[str, Spread]]) -> str:
    """One row for each network, in the paper's order; "-": not measured, or not in the paper."""
    head = ["DNN", "PPS", "lowest to highest", "CPU %", "GPU %"]
    head += [f"paper, System {system}: PPS / CPU % / GPU %" for system in PAPER]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for network, values in measured.items():
        pps, cpu, gpu = (values[name] for name in ("pps", "cpu_percent", "gpu_percent"))
        cells = [network, f"{pps.median:,.0f}", f"{pps.lowest:,.0f} to {pps.highest:,.0f}"]
        cells += ["-" if isnan(share.median) else f"{share.median:.0f}" for share in (cpu, gpu)]
        cells += [" / ".join(map(str, rows[network])) if network in rows else "-" for rows in PAPER.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _words(measured: dict[str, dict[str, Spread]]) -> str:
    first, last = next(iter(measured)), list(measured)[-1]
    if first == last:
        return ""
    ours = measured[first]["pps"].median / measured[last]["pps"].median
    in_paper = [
        f"{rows[first][0] / rows[last][0]:.1f} on System {system}"
        for system, rows in PAPER.items()
        if first in rows and last in rows
    ]
    paper = f" (paper: {', '.join(in_paper)})" if in_paper else ""
    return f"{first} is {ours:.1f} times as fast as {last}{paper}."
