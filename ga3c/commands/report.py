"""Writes a report of a run, one HTML file to send to somebody: python -m ga3c report RUN."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ga3c.commands.agent_options import RunOptions, load_run
from ga3c.commands.command_line import check_writable, parse
from ga3c.errors import ConfigError
from ga3c.experiments import evaluation
from ga3c.experiments.aggregates import in_words
from ga3c.play.recording import film
from ga3c.play.trained_agent import TrainedAgent
from ga3c.records import chosen_runs
from ga3c.records.files import write_whole
from ga3c.text import count, one_line
from ga3c.views.plot import draw
from ga3c.views.report import page

DESCRIPTION = """Writes one HTML file that says what a run was, how well its agent plays, and how it got there: scores
with confidence intervals, curves, the controller's decisions, a recorded game. It needs no network to be read."""


@dataclass(frozen=True)
class ReportOptions(RunOptions):
    out: str | None = None
    """File to write. Default: report.html in the run."""


def scores(agent: TrainedAgent, episodes: int, seed: int) -> list[dict]:
    """Returns a row for each way to play."""
    found = evaluation.evaluate(agent, agent.settings.environment, episodes, seed)
    names = {"sampled": "sampling from the policy", "greedy": f"{evaluation.ways_of(agent)['greedy']} actions"}
    ways = [found["ways"][way] | {"way": names[way]} for way in evaluation.ways_of(agent)]
    return [found | way | {"interval": in_words(way["low"], way["high"], way["scores"])} for way in ways]


def run(arguments: list[str]) -> int:
    options = parse(ReportOptions, arguments, ReportOptions(), DESCRIPTION, "report")
    directory = chosen_runs.chosen(options.run, options.game)
    out = Path(options.out) if options.out else directory / "report.html"
    check_writable("--out", out)
    agent = load_run(options, directory)
    print(f"Playing {count(len(evaluation.ways_of(agent)) * options.episodes, 'game')} ...", flush=True)
    rows = scores(agent, options.episodes, options.seed)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            film_file, curves = Path(scratch) / "film.mp4", Path(scratch) / "curves.svg"
            print("Recording a game, and drawing ...", flush=True)
            film_text = film(agent, options.seed, film_file)
            draw([directory], curves, columns=1)
            text = page(directory, agent.steps, rows, film_file, film_text, curves)
        write_whole(out, text)
    except OSError as error:
        raise ConfigError(f"Cannot write {error.filename or out}: {error.strerror}.") from error
    print(f"Written to {one_line(out)} ({len(text) / 1e6:.1f} MB)")
    return 0
