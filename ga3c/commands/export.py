"""Makes a small directory of a trained agent, to ship or to keep: python -m ga3c export RUN."""

from dataclasses import dataclass
from pathlib import Path

from ga3c.commands import agent_options
from ga3c.commands.agent_options import AgentOptions
from ga3c.commands.command_line import RunArgument, check_writable, parse
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import ways_of
from ga3c.experiments.export import export
from ga3c.records import run_directory

DESCRIPTION = """Puts a trained agent into a small directory of its own: its weights, its settings, its learning curve,
its scores, and the time it took. play, evaluate and report take it as RUN."""


@dataclass(frozen=True)
class ExportOptions:
    run: RunArgument = None
    """Directory of the run. Default: the newest."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named."""
    trust: bool = False
    """Run the code of a game that the run names (package.module:EnvId), though you have not trained on it here."""
    out: str | None = None
    """Directory to make. Default: results/pretrained/GAME."""
    replace: bool = False
    """Replace the agent that lies there already."""
    episodes: int = 30
    """Games to play for the scores, in each way to play."""
    seed: int = 1_000
    """The games are seeded seed, seed + 1, ..."""


def run(arguments: list[str]) -> int:
    options = parse(ExportOptions, arguments, ExportOptions(), DESCRIPTION, "export")
    directory = run_directory.existing(options.run) if options.run else run_directory.newest(options.game)
    if run_directory.is_exported(directory):
        raise ConfigError(f"{directory} is an exported agent already: copy the directory.")
    asked = {name: getattr(options, name) for name in ("game", "trust", "episodes", "seed")}
    agent = agent_options.load(AgentOptions(run=str(directory), **asked))
    out = Path(options.out) if options.out else run_directory.PRETRAINED / run_directory.game_directory(agent.game).name
    if (out / "config.json").exists() and not options.replace:
        raise ConfigError(f"There is an agent in {out} already: name another directory with --out, or add --replace.")
    check_writable("--out", out, makes_directories=True)
    print(f"Playing {len(ways_of(agent)) * options.episodes} games ...", flush=True)
    export(agent, directory, out, options.episodes, options.seed)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"In {out} ({size / 1e6:.1f} MB)")
    return 0
