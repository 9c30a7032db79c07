"""The contents of the five papers: each figure and table, and what makes it again.

`./run.sh reproduce` lists them, and README.md in this folder says what came of them here.
"""

import difflib
from typing import NamedTuple

from ga3c.errors import ConfigError
from ga3c.papers import CommonOptions, accelerated, apex, cule, fast_dqn, ga3c


class Item(NamedTuple):
    """A figure or table of a paper."""

    name: str
    shows: str
    instead: str = ""  # what there is in place of a command of its own, or why there is none


class Paper(NamedTuple):
    """A paper, and all of its figures and tables in their order."""

    title: str
    source: str
    options: type[CommonOptions]
    items: tuple[Item, ...]

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of those that have a command of their own."""
        return tuple(item.name for item in self.items if not item.instead)


DRAWING = "a drawing"
PAPERS = {
    "ga3c": Paper("GA3C", "Babaeizadeh et al., ICLR 2017", ga3c.Options, (
        Item("fig1", "the architectures of A3C and GA3C", f"{DRAWING}: ga3c/README.md has ours"),
        Item("fig2", "what the controller does"),
        Item("fig3", "TPS over agents, predictors and trainers"),
        Item("fig4", "queues and batches in the runs of fig3"),
        Item("table1", "the systems that were measured", "no measurement: results/README.md says what ours is"),
        Item("table2", "PPS and utilisation over networks, and A3C's PPS on the cores"),
        Item("fig5", "TPS and learning"),
        Item("table3", "scores of nine games"),
        Item("fig6", "learning curves, with several seeds and rates"),
        Item("fig7", "minimum batches and learning"),
        Item("ablation", "not in the paper: the defaults with one thing put back to the paper's"),
    )),
    "accelerated": Paper("Accelerated methods", "Stooke and Abbeel 2018", accelerated.Options, (
        Item("fig1", "synchronised sampling in two groups", f"{DRAWING}: ga3c/README.md has ours"),
        Item("table1", "sampling speed: synchronised, alternating and asynchronous"),
        Item("fig2", "sampling speed over games per core and cores, with and without inference"),
        Item("fig3", "learning of A2C, A3C, PPO and APPO over numbers of games"),
        Item("table2", "hours of A2C, A3C, PPO and APPO by the number of devices"),
        Item("fig4", "learning of DQN and C51 over batch sizes"),
        Item("fig5", "learning of A2C, A3C, PPO and APPO on several devices, over steps and minutes"),
        Item("table3", "hours of DQN, C51 and Rainbow with large batches"),
        Item("fig6", "a secondary learner of DQN beside the run whose replay it learns from, with other batches"),
        Item("fig7", "norms of both learners' weights in the runs of fig6"),
        Item("fig8", "the secondary learner with the same batch", "fig6 shows it, too"),
        Item("fig9", "norms of weights, gradients and steps on Q*bert, with Adam and with RMSProp"),
        Item("fig10", "A2C on many games", "fig3 --game GAMES"),
        Item("fig11", "PPO on many games", "fig3 --game GAMES"),
        Item("fig12", "learning of DQN, C51 and Rainbow with large batches"),
    )),
    "fast_dqn": Paper("Fast DQN", "Daley and Amato 2021", fast_dqn.Options, (
        Item("fig1", "the order of work in DQN and with concurrent training", DRAWING),
        Item("fig2", "the time that each order of work takes", DRAWING),
        Item("fig3", "why environments that wait for nobody gain little", DRAWING),
        Item("table1", "hours, percentage and speed-up of 14 variants of DQN (the paper's tables 1 to 3)"),
        Item("table2", "those hours as a percentage of DQN's", "table1 shows it, too"),
        Item("table3", "those hours as a speed-up", "table1 shows it, too"),
        Item("table4", "scores of fast DQN and DQN, beside the paper's"),
        Item("table5", "the constants", "./run.sh train --preset dqn has them"),
    )),
    "apex": Paper("Ape-X", "Horgan et al. 2018", apex.Options, (
        Item("fig1", "the architecture", f"{DRAWING}: ga3c/cluster/README.md has ours"),
        Item("fig2", "the median score of 57 games over time, beside other agents'", "table1 has the medians"),
        Item("table1", "median of human-normalised scores"),
        Item("fig3", "learning of Ape-X DPG with more and more actors"),
        Item("fig4", "learning of Ape-X DQN with more and more actors"),
        Item("fig5", "learning with smaller and larger replays"),
        Item("fig6", "learning with copies of each transition in the replay, beside that with more actors"),
        Item("fig7", "learning with six exploration rates, or with one for each game"),
        Item("fig8", "the tasks of fig3", "pictures of the tasks"),
        Item("fig9", "curves of 57 games over time", "table1 draws the curves of its games"),
        Item("fig10", "curves of 57 games over frames", "table1 draws the curves of its games"),
        Item("fig11", "how much is played in a second over the number of actors"),
        Item("fig12", "learning with more and more actors, with and without priorities"),
        Item("table2", "scores of 57 games from no-op and from human starts",
             "table1 has those from no-op starts; human starts need records of games that people played"),
    )),
    "cule": Paper("CuLE", "Dalton et al. 2020", cule.Options, (
        Item("fig1", "the data path of a learning system", DRAWING),
        Item("table1", "training times and frame rates of other systems, beside CuLE's and ours"),
        Item("table2", "the systems that were measured", "no measurement: results/README.md says what ours is"),
        Item("fig2", "the two kernels", f"{DRAWING}: ga3c/emulator/README.md has ours"),
        Item("fig3", "frames per second over numbers of games, emulation alone and with inference, by emulator"),
        Item("table3", "batching strategies of A2C with V-trace: speed, and time and steps to a score"),
        Item("fig4", "how much games would hold each other up on a GPU"),
        Item("fig5", "frames per second of emulation, inference and training"),
        Item("fig6", "the batching strategies", f"{DRAWING}: ga3c/README.md has ours"),
        Item("fig7", "scores over time with each batching strategy", "table3 draws it"),
        Item("table4", "hours of PPO and Rainbow by the number of devices"),
        Item("table5", "speed of DQN, A2C and PPO"),
        Item("fig8", "frames per second over the steps of games that begin alike, on cores"),
        Item("fig9", "fig5 for other games", "fig5 --game GAME"),
        Item("fig10", "scores of the agents that come with the program, on both emulators"),
    )),
}  # fmt: skip


def overview() -> str:
    """Returns what there is, a line for each paper."""
    lines = [
        f"  {name:12} {paper.title} ({paper.source}): {', '.join(paper.figures)}" for name, paper in PAPERS.items()
    ]
    return "\n".join(
        [
            "Figures and tables of five papers can be made again:",
            "",
            *lines,
            "",
            "./run.sh reproduce PAPER lists all of a paper.",
            "./run.sh reproduce PAPER FIGURE makes one, in minutes to hours.",
            "./run.sh reproduce PAPER --help lists the options.",
        ]
    )


def listing(name: str) -> str:
    """Returns all figures and tables of a paper, a line for each."""
    paper = PAPERS[name]
    lines = [f"  {one.name:9} {one.shows}{f' [{one.instead}]' if one.instead else ''}" for one in paper.items]
    return "\n".join(
        [
            f"{paper.title} ({paper.source}). In brackets: what there is in place of a command.",
            "",
            *lines,
            "",
            f"./run.sh reproduce {name} {paper.figures[0]} makes one. Its options: ./run.sh reproduce {name} --help",
        ]
    )


def described(name: str) -> str:
    """Returns the text above the options of a paper's command."""
    paper = PAPERS[name]
    made = " ".join(f"{one.name}: {one.shows}." for one in paper.items if not one.instead)
    return (
        f"Makes a figure or table of {paper.title} ({paper.source}) again, from runs of its own. "
        f"After an interruption the same command goes on. ./run.sh reproduce lists the other papers.\n\n{made}"
    )


def check(name: str, figure: str) -> None:
    """Raises ConfigError if the paper has no command for this figure or table."""
    paper = PAPERS[name]
    if figure in paper.figures:
        return
    if instead := next((one.instead for one in paper.items if one.name == figure), ""):
        raise ConfigError(f"{figure} of {paper.title} has no command of its own: {instead}.")
    known = [*PAPERS, *paper.figures] if name == "ga3c" else list(paper.figures)
    near = difflib.get_close_matches(figure, known, 1)
    hint = f"Is it {near[0]}? " if near else ""
    raise ConfigError(f"There is no {figure} to make again. {hint}./run.sh reproduce lists what there is.")
