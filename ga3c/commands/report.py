"""Writes a report of a run, one HTML file to send to somebody: python -m ga3c report RUN."""

import base64
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ga3c import evaluation, run_directory, saved_settings
from ga3c.commands import trained_agent
from ga3c.commands.command_line import Run, parse
from ga3c.commands.plot import draw
from ga3c.commands.trained_agent import AgentOptions, TrainedAgent
from ga3c.config import ConfigError, Settings
from ga3c.disk import write_whole
from ga3c.playing import Stage, moments
from ga3c.run_view import RunView
from ga3c.screen import clock

DESCRIPTION = """Writes one HTML file that says what a run was, how well its agent plays, and how it got there: scores
with confidence intervals, curves, the controller's decisions, a recorded game. It needs no network to be read."""
TEMPLATE = Path(__file__).parent.parent / "report.html"
FILM_SECONDS = 120  # of play in the page at the most


@dataclass(frozen=True)
class ReportOptions:
    run: Run = None
    """Directory of the run. Default: the newest."""
    game: str | None = None
    """The game whose newest run is taken if no directory is named."""
    out: str | None = None
    """File to write. Default: report.html in the run."""
    episodes: int = 30
    """Games to play for the scores: so many sampling from the policy, and so many greedy."""
    seed: int = 1_000
    """The games are seeded seed, seed + 1, ..."""


def scores(agent: TrainedAgent, episodes: int, seed: int) -> list[dict]:
    """A row for each way to play."""
    found = evaluation.evaluate(agent.model.policy, agent.settings.environment, episodes, seed)
    names = {"sampled": "sampling from the policy", "greedy": "greedy"}
    return [found | value | {"way": names[way]} for way, value in found["ways"].items()]


def film(agent: TrainedAgent, seed: int, path: Path) -> str:
    """Records a game; returns what is to be said of it."""
    from ga3c.displays.overlay import Overlay
    from ga3c.displays.video import Video

    stage = Stage(agent.settings.environment, 1, seed)
    video = Video(path, stage.steps_per_second, Overlay(stage.game, stage.action_names))
    for moment in moments(stage, agent.model.policy, False, lambda: None):
        video.show(moment, "")
        cut = moment.steps[0] >= FILM_SECONDS * stage.steps_per_second
        if moment.ended[0] or cut:
            break
    video.close()
    stage.close()
    end = f"its first {FILM_SECONDS} s, score {moment.scores[0]:g} by then" if cut else f"score {moment.scores[0]:g}"
    return f"Game with seed {seed}, actions sampled from the policy: {end}."


def changed(settings: Settings) -> dict[str, object]:
    """Settings that are not the usual ones."""
    usual, found = saved_settings.to_dict(Settings()), {}
    for group, values in saved_settings.to_dict(settings).items():
        if group != "run":
            found |= {name: value for name, value in values.items() if value != usual[group][name]}
    return found


def page(run: Path, agent: TrainedAgent, rows: list[dict], film_file: Path, film_text: str, curves: Path) -> str:
    from jinja2 import ChainableUndefined, Environment

    view = RunView(run)
    description = json.loads((run / "config.json").read_text(encoding="utf-8"))
    seconds, steps, frames = (view.throughput.last(name, 0.0) for name in ("seconds", "steps", "frames"))
    environment = Environment(autoescape=True, undefined=ChainableUndefined, trim_blocks=True, lstrip_blocks=True)
    svg = curves.read_text(encoding="utf-8")
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        game=view.game,
        run=run.name,
        written=time.strftime("%Y-%m-%d %H:%M"),
        command=" ".join(["./run.sh", *map(str, description.get("command", [])[1:])]),
        description=description,
        changed=changed(view.settings),
        settings=saved_settings.to_dict(view.settings),
        rows=rows,
        hours=seconds / 3600,
        steps=steps,
        frames=frames,
        trained_steps=agent.steps,
        pps=steps / seconds if seconds else 0.0,
        games=len(view.episodes),
        decisions=[
            (clock(when), text)
            for when, text in zip(view.decisions.columns["seconds"], view.decisions.columns["reason"], strict=True)
        ],
        curves=svg[svg.index("<svg") :],
        film=base64.b64encode(film_file.read_bytes()).decode(),
        film_text=film_text,
    )


def run(arguments: list[str]) -> int:
    options = parse(ReportOptions, arguments, ReportOptions(), DESCRIPTION, "report")
    directory = run_directory.existing(options.run) if options.run else run_directory.newest(options.game)
    out = Path(options.out) if options.out else directory / "report.html"
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out {out}: there is no directory {out.absolute().parent}.")
    agent = trained_agent.load(AgentOptions(run=str(directory), episodes=options.episodes, seed=options.seed))
    print(f"Playing twice {options.episodes} games ...", flush=True)
    rows = scores(agent, options.episodes, options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        film_file, curves = Path(scratch) / "film.mp4", Path(scratch) / "curves.svg"
        film_text = film(agent, options.seed, film_file)
        draw([directory], curves)
        text = page(directory, agent, rows, film_file, film_text, curves)
    try:
        write_whole(out, text)
    except OSError as error:
        raise ConfigError(f"Cannot write {out}: {error.strerror}.") from error
    print(f"Written to {out} ({len(text) / 1e6:.1f} MB)")
    return 0
