"""Table 2 of the paper: PPS and utilisation for five networks, beside A3C's PPS on the cores alone.

The paper's A3C has an agent for each core, as `--preset a3c-cores` has. Its agents write without a lock; here one
writes a third of the weights at a time, and others wait for that third.
"""

from dataclasses import dataclass
from pathlib import Path

from ga3c.experiments import tables
from ga3c.experiments.runs import results
from ga3c.experiments.throughput import SpeedRun, Spread, csv_row, measure
from ga3c.papers import RUN
from ga3c.papers.ga3c import Options
from ga3c.papers.plan import chosen
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.views.figures import number

RUNS = "table2"
READS = (*RUN, "agents", "predictors", "trainers", "network")
NETWORKS = ("small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1")
COUNTS = {"agents": 2, "predictors": 1, "trainers": 1}
FASTEST = {"agents": 128, "predictors": 2, "trainers": 2}  # of the paper, on System I
SCALES = {
    "cpu": {"game": "Pong", "network": NETWORKS, **COUNTS, "seconds": 50.0, "envs_per_agent": 16, "t_max": 5},
    "full": {"game": "Pong", "network": NETWORKS, **FASTEST, "seconds": 960.0, "preset": "paper"},
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
# A3C's PPS.
PAPER_A3C = {
    "I": {"small": 352, "large-stride-4": 113, "large-stride-3": 97, "large-stride-2": 43, "large-stride-1": 11},
    "II": {"small": 116, "large-stride-1": 12},
    "III": {"small": 300, "large-stride-1": 38},
}


@dataclass(frozen=True)
class A3CRun(SpeedRun):
    """A run of A3C, which has no predictors."""

    @property
    def name(self) -> str:
        return f"{super().name}-a3c"


def plan(options: Options) -> list[SpeedRun]:
    """Returns GA3C's runs, then A3C's."""
    scale = chosen(SCALES, options)
    each_core = with_presets(Settings(), "a3c-cores", None).schedule.agents
    alone = {"agents": each_core, "predictors": 1, "trainers": 1, "envs_per_agent": 1, "preset": "a3c-cores"}
    kinds = ((SpeedRun, scale), (A3CRun, scale | alone))
    return [kind(**settings | {"network": network}) for kind, settings in kinds for network in scale["network"]]


def reproduce(options: Options, out: Path) -> str:
    found = results(plan(options), out, measure)
    measured = {run.network: values for run, values in found.items() if not isinstance(run, A3CRun)}
    a3c = {run.network: values["pps"].median for run, values in found.items() if isinstance(run, A3CRun)}
    table = markdown(measured, a3c)
    rows = [csv_row(run, values) | _paper_columns(run.network) for run, values in found.items()]
    tables.write(out, "table2", rows, table)
    return f"\n{table}\n{_words(measured)}".rstrip()


def _paper_columns(network: str) -> dict[str, float | str]:
    columns = ("pps", "cpu_percent", "gpu_percent")
    ga3c = {
        f"paper_{system}_{column}": value
        for system, rows in PAPER.items()
        for column, value in zip(columns, rows.get(network, ("", "", "")), strict=True)
    }
    return ga3c | {f"paper_{system}_a3c_pps": rows.get(network, "") for system, rows in PAPER_A3C.items()}


def markdown(measured: dict[str, dict[str, Spread]], a3c: dict[str, float]) -> str:
    """One row for each network, in the paper's order; "-": not measured, or not in the paper."""
    head = ["DNN", "A3C: PPS", "GA3C: PPS", "lowest to highest", "speed-up", "CPU %", "GPU %"]
    head += [f"paper, System {system}: A3C / GA3C: PPS / CPU % / GPU %" for system in PAPER]
    rows = []
    for network, values in measured.items():
        pps, cpu, gpu = (values[name] for name in ("pps", "cpu_percent", "gpu_percent"))
        cells = [network, f"{a3c[network]:,.0f}", f"{pps.median:,.0f}", f"{pps.lowest:,.0f} to {pps.highest:,.0f}"]
        cells += [f"{pps.median / a3c[network]:.1f}", *(number(share.median) for share in (cpu, gpu))]
        for system, rows_of in PAPER.items():
            theirs = (PAPER_A3C[system][network], *rows_of[network]) if network in rows_of else None
            cells.append(" / ".join(map(str, theirs)) if theirs else None)
        rows.append(cells)
    return tables.markdown(head, rows)


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
