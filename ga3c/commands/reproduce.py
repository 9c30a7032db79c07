"""Makes a figure or table of a paper again: python -m ga3c reproduce ga3c fig3 --scale cpu."""

import importlib
import signal
import sys
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import tyro

from ga3c.commands.command_line import check_range, parse
from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.experiments.runs import RunFailed
from ga3c.papers import CommonOptions, accelerated, apex, cule, fast_dqn, ga3c
from ga3c.processes import stop_signals
from ga3c.records import run_directory

GA3C = """Makes a figure or table of GA3C's paper again, from training runs of its own. A second start goes on.
Of accelerated methods (Stooke and Abbeel 2018): ./run.sh reproduce accelerated --help. Of fast DQN (Daley and Amato
2021): ./run.sh reproduce fast_dqn --help. Of Ape-X (Horgan et al. 2018): ./run.sh reproduce apex --help. Of CuLE
(Dalton et al. 2020): ./run.sh reproduce cule --help.

fig2: what the controller does. fig3: TPS over agents, predictors, trainers. fig4: queues and batches in the runs of
fig3. table2: PPS and utilisation over networks. fig5: TPS and learning. fig6: learning curves. fig7: minimum batches
and learning. table3: scores. ablation: not in the paper; the defaults with one thing put back to the paper's."""
ACCELERATED = """Makes a figure or table of accelerated methods (Stooke and Abbeel 2018) again, from runs of its own. A
second start goes on. Of GA3C's paper: ./run.sh reproduce --help.

fig2: sampling speed over games per core and cores, with and without inference. table1: the same synchronised,
alternating and asynchronous. fig3: learning of A2C, A3C, PPO and APPO over numbers of games. fig4: of DQN and C51 over
batch sizes. fig5: learning of A2C, A3C, PPO and APPO on several devices, over steps and minutes. fig6: a secondary
learner of DQN beside the run whose replay it learns from, with other batches. table2: hours of A2C, A3C, PPO and APPO
by the number of devices. table3: hours of DQN, C51 and Rainbow with large batches."""
FAST_DQN = """Makes tables of fast DQN (Daley and Amato 2021) again, from runs of its own. A second start goes on. Of
GA3C's paper: ./run.sh reproduce --help.

table1: speed of DQN with concurrent training, synchronised execution, both and neither, over numbers of games."""

APEX = """Makes a figure or table of Ape-X (Horgan et al. 2018) again, from runs of its own. A second start goes on. Of
GA3C's paper: ./run.sh reproduce --help.

fig4: learning with more and more actors. fig11: how much is played in a second over the number of actors. table1:
median of human-normalised scores."""

CULE = """Makes figures and tables of CuLE (Dalton et al. 2020) again, from runs of its own. A second start goes on. Of
GA3C's paper: ./run.sh reproduce --help.

fig3: frames per second over numbers of games, of emulation alone and with inference, by emulator. fig4: how much games
would hold each other up on a GPU. fig5: frames per second of emulation, inference and training. fig10: scores of the
agents that come with the program, on both emulators. table3: batching strategies of A2C with V-trace: speed, and time
and steps to a score. table4: hours of PPO and Rainbow by the number of devices. table5: speed of DQN, A2C and PPO."""


class Paper(NamedTuple):
    """A paper whose figures and tables can be made again."""

    options: type[CommonOptions]
    figures: tuple[str, ...]
    description: str

    @property
    def command_line(self) -> type:
        """The options, and the figure as the first word."""
        figure = Annotated[Literal[self.figures], tyro.conf.Positional, tyro.conf.arg(help="What to make.")]
        return make_dataclass("Reproduce", [("figure", figure, tyro.MISSING)], bases=(self.options,), frozen=True)


PAPERS = {
    "ga3c": Paper(ga3c.Options, ("fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "table2", "table3", "ablation"), GA3C),
    "accelerated": Paper(
        accelerated.Options, ("fig2", "table1", "fig3", "fig4", "fig5", "fig6", "table2", "table3"), ACCELERATED
    ),
    "fast_dqn": Paper(fast_dqn.Options, ("table1",), FAST_DQN),
    "apex": Paper(apex.Options, ("fig4", "fig11", "table1"), APEX),
    "cule": Paper(cule.Options, ("fig3", "fig4", "fig5", "fig10", "table3", "table4", "table5"), CULE),
}


def check(options: CommonOptions) -> None:
    """Raises ConfigError for what no run can be made with."""
    for game in options.game:
        own_games.import_named(game)
    for name in ("seconds", "seeds", "episodes"):
        if (value := getattr(options, name)) is not None:
            check_range(name, value, 1)
    for name in ("agents", "predictors", "trainers", "cores", "games", "batches", "devices", "actors"):
        if (smallest := min(getattr(options, name, ()), default=1)) < 1:
            raise ConfigError(f"--{name} {smallest} is out of range: give numbers of at least 1.")


def run(arguments: list[str]) -> int:
    paper, *others = arguments if arguments and arguments[0] in PAPERS else ["ga3c", *arguments]
    kind = PAPERS[paper].command_line
    command = "reproduce" + f" {paper}" * (paper != "ga3c")
    options = parse(kind, others, kind(), PAPERS[paper].description, command)
    check(options)
    figure = importlib.import_module(f"ga3c.papers.{paper}.{options.figure}")
    default = run_directory.RESULTS / "reproduce" / f"{figure.RUNS}-{options.scale}"
    out = Path(options.out) if options.out else default
    return made(lambda: figure.reproduce(options, out), out)


def made(make: Callable[[], str], out: Path) -> int:
    """Prints what `make()` says of the runs that it makes in `out`. Returns the exit status."""
    others = tuple(number for number in stop_signals.STOP_SIGNALS if number != signal.SIGINT)
    stop_signals.handle(lambda number, _frame: sys.exit(128 + number), others)
    try:
        print(make())
    except RunFailed as failure:
        print(f"ga3c: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with the runs that are missing.", flush=True)
        return 130
    print(f"In {out}")
    return 0
