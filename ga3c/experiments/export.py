"""Makes a small directory of a trained agent, laid out as a run: weights, settings, learning curve, scores."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

from ga3c.environments import rewards
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import evaluate, table, ways_of
from ga3c.play.trained_agent import TrainedAgent
from ga3c.records import checkpoint
from ga3c.records.checkpoint_meta import from_meta, to_meta
from ga3c.records.csv_log import line
from ga3c.records.description import read
from ga3c.records.files import make_directory, reason, write_whole
from ga3c.records.staging import put_in_place, staging
from ga3c.settings import saved_settings
from ga3c.settings.run import Settings, without_paths
from ga3c.settings.saved_settings import flags_of
from ga3c.views import curves
from ga3c.views.panels import SCORE_LABEL, panels

# What it writes, and so may replace.
FILES = ("config.json", "evaluation.json", "checkpoints", "learning-curve.csv", "learning-curve.png", "README.md")


def export(agent: TrainedAgent, run: Path, out: Path, episodes: int, seed: int) -> None:
    """Lets the newest agent of `run` play for its scores and writes all into `out`. Raises ConfigError."""
    settings = without_paths(agent.settings)
    try:
        description = read(run)
        hardware = {name: description["hardware"][name] for name in ("processor", "cores")}
    except (KeyError, TypeError) as error:
        raise ConfigError(f"Cannot read {run / 'config.json'}: {error}") from error
    description.pop("history", None)  # names folders of this machine
    description |= {"settings": saved_settings.to_dict(settings), "command": shlex.split(command(settings))}
    arrays, meta = checkpoint.load(agent.path)
    saved = replace(from_meta(meta, agent.path), settings=settings)
    minutes, frames = saved.totals.seconds / 60, agent.steps * agent.frames_per_step
    x, y = curves.thinned(*curves.of_run(run, curves.SCORE_OVER_TIME))
    steps, _ = curves.thinned(*curves.of_run(run, curves.SCORE_OVER_STEPS))
    outcome = evaluate(agent, settings.environment, episodes, seed)
    outcome |= {"checkpoint": agent.path.name, "minutes": minutes, "frames": frames}
    weights = {name: array for name, array in arrays.items() if not name.startswith(("optimizer/", "target/"))}
    try:
        if not out.is_dir():  # it may be a link to one
            make_directory(out)
        with staging(out, "agent") as new:
            checkpoint.save(new / "checkpoints", agent.steps, weights, to_meta(saved), keep=1)
            write_whole(new / "config.json", json.dumps(description, indent=2) + "\n")
            write_whole(new / "evaluation.json", json.dumps(outcome, indent=2) + "\n")
            points = ((f"{m:.2f}", f"{s:.4f}", f"{v:.2f}") for m, s, v in zip(x, steps, y, strict=True))
            curve = [("minutes", "million_steps", "mean_score"), *points]
            write_whole(new / "learning-curve.csv", "".join(map(line, curve)))
            _draw(x, y, agent.game, new / "learning-curve.png")
            write_whole(new / "README.md", _readme(outcome, ways_of(agent), settings, minutes, frames, hardware))
            put_in_place(new, out, last="config.json")
    except OSError as error:
        raise ConfigError(f"Cannot write to {out}: {reason(error)}.") from error


def command(settings: Settings) -> str:
    """Returns the command that trains with these settings, seed included."""
    return shlex.join(["./run.sh", *flags_of(settings, rewards.usual)])


def _draw(x, y, game: str, file: Path) -> None:
    with panels(file, size=(5.5, 3.2)) as ((axis,),):
        axis.plot(x, y)
        axis.set(title=game, xlabel="minutes", ylabel=SCORE_LABEL)


def _readme(outcome: dict, names: dict, settings: Settings, minutes: float, frames: int, hardware: dict) -> str:
    return "\n".join(
        [
            f"# {outcome['game']}",
            "",
            table({name: outcome["ways"][way] for way, name in names.items()}, outcome["episodes"]),
            f"True scores, protocol {outcome['fingerprint']}. Trained in {minutes:.0f} minutes on {hardware['cores']} "
            f"cores ({hardware['processor']}): {outcome['steps_trained']:,} steps, {frames:,} frames.",
            "",
            f"    {command(settings)}",
            "",
            "![Learning curve](learning-curve.png)",
            "",
        ]
    )
