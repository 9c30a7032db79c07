"""Records games of a trained agent as a data set: python -m ga3c dataset RUN --games 100."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import tyro

from ga3c.commands import agent_options
from ga3c.commands.agent_options import AgentOptions
from ga3c.commands.command_line import parse
from ga3c.datasets import folders, making
from ga3c.datasets.about import About
from ga3c.datasets.making import Target
from ga3c.errors import ConfigError
from ga3c.play.trained_agent import TrainedAgent
from ga3c.text import count, place, word

DESCRIPTION = """Records whole games of a trained agent as a data set in the format of Minari: observations, actions,
rewards, ends, and the log-probabilities of the actions. With --short it is a small file of seeds and actions, which
./run.sh dataset FILE makes a data set of."""


@dataclass(frozen=True)
class DatasetOptions(AgentOptions):
    episodes: Annotated[int, tyro.conf.arg(name="games", aliases=["--episodes"])] = 30
    """Games to record."""
    name: str | None = None
    """Name of the data set, for minari.load_dataset(NAME): pong/ga3c-v0. Default: game, preset, first free version."""
    out: str | None = None
    """Folder to write the data set into, or with --short the file (.npz). Default: where Minari looks for the name;
    with --short a file in results/datasets."""
    short: bool = False
    """Write seeds and actions alone. The observations are made from them again when they are needed."""
    greedy: bool = False
    """Take the most probable actions instead of sampling from the policy."""
    ram: bool = False
    """Record the console's 128 bytes of memory, too, as an info. It is for Atari games."""
    author: str | None = None
    """Author of the data set, for its metadata."""
    author_email: str | None = None
    """How to reach the author."""
    code_permalink: str | None = None
    """Address of the code that the games were made with."""


def run(arguments: list[str]) -> int:
    options = parse(DatasetOptions, arguments, DatasetOptions(), DESCRIPTION, "dataset")
    if options.run and Path(options.run).suffix == folders.SHORT:
        return _expand(options, Path(options.run))
    agent = agent_options.load(options)
    target = making.target(options.name, options.out, options.short, agent.settings)
    about = About(target.name, agent.settings, _player(agent, options.greedy), _credits(options))
    print(f"Playing {count(options.episodes, 'game')} ...", flush=True)
    scores = making.record_agent(agent, target, about, options)
    print(f"  mean score of {count(len(scores), 'game')}: {sum(scores) / len(scores):.2f}")
    _say(target)
    return 0


def _player(agent: TrainedAgent, greedy: bool) -> str:
    best = greedy or agent.has_action_values
    how = "the best actions" if best else "actions sampled from its policy"
    return f"an agent of {agent.settings.learning.algorithm} after {count(agent.steps, 'step')}, {how}"


def _credits(options: DatasetOptions) -> dict:
    given = {"author": options.author, "author_email": options.author_email}
    found = {name: [value] for name, value in given.items() if value}
    return found | ({"code_permalink": options.code_permalink} if options.code_permalink else {})


def _expand(options: DatasetOptions, file: Path) -> int:
    if options.short:
        raise ConfigError(f"{file} is in the short form already: leave --short out.")
    usual = DatasetOptions()
    for field in fields(options):
        of_play = field.name not in ("run", "name", "out", "trust")
        if of_play and getattr(options, field.name) != getattr(usual, field.name):
            flag = "games" if field.name == "episodes" else field.name.replace("_", "-")
            raise ConfigError(f"--{flag} is for games that are played now, and {file} has recorded ones: leave it out.")
    short = making.read_short(file, options.trust)
    target = making.target(options.name, options.out, False, short.settings, short.name)
    print("Playing the recorded games again ...", flush=True)
    making.expand(short, target)
    _say(target)
    return 0


def _say(target: Target) -> None:
    size = sum(file.stat().st_size for file in [target.path, *target.path.rglob("*")] if file.is_file())
    print(f"In {place(target.path)} ({size / 1e6:,.2f} MB)")
    if target.short:
        print(f"./run.sh dataset {word(target.path)} makes a data set of Minari of it.")
    elif target.path == folders.named(target.name):
        print(f'minari.load_dataset("{target.name}") reads it.')
    else:
        print(f'minari.MinariDataset("{place(target.path / "data")}") reads it.')
