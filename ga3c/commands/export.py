"""Makes a small directory of a trained agent, to keep or for other programs: python -m ga3c export RUN."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ga3c.commands.agent_options import RunOptions, load_run
from ga3c.commands.command_line import check_writable, parse
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import ways_of
from ga3c.experiments.export import FILES, export
from ga3c.exports.formats import check_installed
from ga3c.exports.request import Request
from ga3c.play.trained_agent import TrainedAgent
from ga3c.records import chosen_runs, run_directory
from ga3c.text import count

DESCRIPTION = """Puts a trained agent into a small directory of its own: its weights, its settings, its learning curve,
its scores, and the time it took. play, evaluate and report take it as RUN.

With --format it writes what other programs read instead: from what the game shows to the action. Each file is read
again and compared with the agent. Beside it lies a script that plays the game without this program, and a model card.

Example: ./run.sh export --game Pong --format tflite onnx --quantize int8"""


@dataclass(frozen=True)
class ExportOptions(RunOptions):
    format: tuple[Literal["saved-model", "tflite", "onnx", "keras"], ...] = ()
    """One format or several, for other programs."""
    quantize: tuple[Literal["float16", "int8"], ...] = ()
    """Writes a smaller TFLite file, too, and says what ten games of it score: weights of half the bits, or bytes."""
    out: str | None = None
    """Directory to make. Default: results/pretrained/GAME; with --format results/exported/GAME."""
    replace: bool = False
    """Replace the agent that lies there already."""


def run(arguments: list[str]) -> int:
    options = parse(ExportOptions, arguments, ExportOptions(), DESCRIPTION, "export")
    if options.format or options.quantize:
        return _in_formats(options)
    directory = chosen_runs.chosen(options.run, options.game)
    if run_directory.is_exported(directory):
        raise ConfigError(f"{directory} is an exported agent already: copy the directory.")
    agent = load_run(options, directory)
    out = _out(options, "pretrained", agent)
    _check_free(out, options.replace)
    check_writable("--out", out, makes_directories=True)
    print(f"Playing {count(len(ways_of(agent)) * options.episodes, 'game')} ...", flush=True)
    export(agent, directory, out, options.episodes, options.seed)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"In {out} ({size / 1e6:.1f} MB)")
    return 0


def _out(options: ExportOptions, kind: str, agent: TrainedAgent) -> Path:
    """Returns the directory to make: the one named, else that of the agent's game in results/`kind`."""
    if options.out:
        return Path(options.out)
    return run_directory.RESULTS / kind / run_directory.game_directory(agent.settings.environment.game).name


def _check_free(out: Path, replace: bool) -> None:
    """Raises ConfigError where something lies in `out` that would be replaced, and is no agent to replace."""
    there = [name for name in FILES if (out / name).exists()]
    if there and not ("config.json" in there and run_directory.is_exported(out)):
        raise ConfigError(f"There is {there[0]} in {out}, which is no exported agent: name another with --out.")
    if there and not replace:
        raise ConfigError(f"There is an agent in {out} already: name another directory with --out, or add --replace.")


def _in_formats(options: ExportOptions) -> int:
    check_installed(options.format)
    directory = chosen_runs.existing(options.run) if options.run else chosen_runs.trained(options.game)
    agent = load_run(options, directory)
    out = _out(options, "exported", agent)
    request = Request(options.format, options.quantize, out, options.replace, options.episodes, options.seed)
    request.check()
    check_writable("--out", out, makes_directories=True)

    from ga3c.exports import bundle  # isort: skip (loads TensorFlow)

    bundle.export(agent, request)
    print(f"In {out}")
    return 0
