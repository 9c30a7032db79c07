"""Makes a small directory of a trained agent, to ship or to keep: python -m ga3c export RUN."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from ga3c import checkpoint, curves, progress, run_directory, saved_settings
from ga3c.commands import trained_agent
from ga3c.commands.command_line import Run, parse, to_flags
from ga3c.commands.evaluate import result
from ga3c.commands.trained_agent import AgentOptions
from ga3c.config import ConfigError, RunSettings, Settings, with_presets
from ga3c.disk import line, write_whole
from ga3c.drawing import pyplot, save

DESCRIPTION = """Puts a trained agent into a small directory of its own: its weights, its settings, its learning curve,
its scores, and the time it took. play, evaluate and report take it as RUN."""


@dataclass(frozen=True)
class ExportOptions:
    run: Run = None
    """Directory of the run. Default: the newest."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named."""
    out: str | None = None
    """Directory to make. Default: results/pretrained/GAME."""
    episodes: int = 30
    """Games to play for the scores, in each way to play."""
    seed: int = 1_000
    """The games are seeded seed, seed + 1, ..."""


def command(settings: Settings) -> str:
    """What trains with these settings, seed included."""
    learning, environment = settings.learning, settings.environment
    preset = "paper" if learning.preset == "paper" else None
    usual = with_presets(Settings(), preset, "machado" if environment.protocol == "machado" else None)
    usual = replace(
        usual,
        environment=replace(usual.environment, game="", protocol="paper"),
        learning=replace(usual.learning, preset="default"),
        run=settings.run,
    )
    return " ".join(["./run.sh", *to_flags(settings, usual)])


def _draw(x, y, game: str, file: Path) -> None:
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
    axis.plot(x, y)
    axis.set(title=game, xlabel="minutes", ylabel=f"score (mean of {curves.SMOOTH_GAMES} games)")
    save(figure, file)


def _readme(outcome: dict, settings: Settings, minutes: float, frames: int, hardware: dict) -> str:
    ways = outcome["ways"]
    rows = [
        f"| {name} | {way['mean']:.1f} | {way['low']:.1f} to {way['high']:.1f} | {way['min']:g} to {way['max']:g} |"
        for name, way in (("sampled", ways["sampled"]), ("most probable", ways["greedy"]))
    ]
    return "\n".join(
        [
            f"# {outcome['game']}",
            "",
            f"| actions | mean of {outcome['episodes']} games | 95 % interval | lowest to highest |",
            "|---|---|---|---|",
            *rows,
            "",
            f"True scores, protocol {outcome['fingerprint']}. Trained in {minutes:.0f} minutes on {hardware['cores']} "
            f"cores ({hardware['processor']}): {outcome['steps_trained']:,} steps, {frames:,} frames.",
            "",
            f"    {command(settings)}",
            "",
            "![Learning curve](learning-curve.png)",
            "",
        ]
    )


def run(arguments: list[str]) -> int:
    options = parse(ExportOptions, arguments, ExportOptions(), DESCRIPTION, "export")
    directory = run_directory.existing(options.run) if options.run else run_directory.newest(options.game)
    agent = trained_agent.load(AgentOptions(run=str(directory), episodes=options.episodes, seed=options.seed))
    out = Path(options.out) if options.out else run_directory.PRETRAINED / run_directory.game_directory(agent.game).name
    settings = replace(agent.settings, run=RunSettings())  # paths and limits of the run are nobody's business
    try:
        description = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        hardware = {name: description["hardware"][name] for name in ("processor", "cores")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"Cannot read {directory / 'config.json'}: {error}") from error
    description |= {"settings": saved_settings.to_dict(settings), "command": command(settings).split()}
    _, arrays, meta = checkpoint.load_newest(directory / "checkpoints")
    saved = replace(progress.from_meta(meta, agent.path), settings=settings)
    minutes, frames = saved.totals.seconds / 60, agent.steps * settings.environment.frame_skip_frames
    x, y = curves.thinned(*curves.of_run(directory, curves.SCORE_OVER_TIME))
    steps, _ = curves.thinned(*curves.of_run(directory, curves.SCORE_OVER_STEPS))

    print(f"Playing twice {options.episodes} games ...", flush=True)
    outcome = result(agent, settings.environment, options.episodes, options.seed, greedy=False)
    outcome |= {"checkpoint": agent.path.name, "minutes": minutes, "frames": frames}
    weights = {name: array for name, array in arrays.items() if not name.startswith("optimizer/")}
    try:
        checkpoint.save(out / "checkpoints", agent.steps, weights, saved.to_meta(), keep=1)
        write_whole(out / "config.json", json.dumps(description, indent=2) + "\n")
        write_whole(out / "evaluation.json", json.dumps(outcome, indent=2) + "\n")
        points = zip(x, steps, y, strict=True)
        curve = [
            ("minutes", "million_steps", "mean_score"),
            *((f"{m:.2f}", f"{s:.4f}", f"{v:.2f}") for m, s, v in points),
        ]
        write_whole(out / "learning-curve.csv", "".join(map(line, curve)))
        _draw(x, y, agent.game, out / "learning-curve.png")
        write_whole(out / "README.md", _readme(outcome, settings, minutes, frames, hardware))
    except OSError as error:
        raise ConfigError(f"Cannot write to {out}: {error.strerror}.") from error
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"In {out} ({size / 1e6:.1f} MB)")
    return 0
