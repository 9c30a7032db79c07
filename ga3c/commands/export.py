"""Makes a small directory of a trained agent, to ship or to keep: python -m ga3c export RUN."""

from dataclasses import dataclass
from pathlib import Path

from ga3c.commands.agent_options import RunOptions, load_run
from ga3c.commands.command_line import check_writable, parse
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import ways_of
from ga3c.experiments.export import export
from ga3c.records import run_directory

DESCRIPTION = """Puts a trained agent into a small directory of its own: its weights, its settings, its learning curve,
its scores, and the time it took. play, evaluate and report take it as RUN."""


@dataclass(frozen=True)
class ExportOptions(RunOptions):
    out: str | None = None
    """Directory to make. Default: results/pretrained/GAME."""
    replace: bool = False
    """Replace the agent that lies there already."""


def run(arguments: list[str]) -> int:
    options = parse(ExportOptions, arguments, ExportOptions(), DESCRIPTION, "export")
    directory = run_directory.chosen(options.run, options.game)
    if run_directory.is_exported(directory):
        raise ConfigError(f"{directory} is an exported agent already: copy the directory.")
    agent = load_run(options, directory)
    out = Path(options.out) if options.out else run_directory.PRETRAINED / run_directory.game_directory(agent.game).name
    if (out / "config.json").exists() and not options.replace:
        raise ConfigError(f"There is an agent in {out} already: name another directory with --out, or add --replace.")
    check_writable("--out", out, makes_directories=True)
    print(f"Playing {len(ways_of(agent)) * options.episodes} games ...", flush=True)
    export(agent, directory, out, options.episodes, options.seed)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"In {out} ({size / 1e6:.1f} MB)")
    return 0
