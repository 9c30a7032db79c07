"""Trains an agent: python -m ga3c [train] --game Boxing."""

import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ga3c import environments, networks, systems
from ga3c.commands.train_options import given, parse_settings
from ga3c.environments import own_games, rewards
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.processes import agents_start, stop_signals
from ga3c.records import run_directory
from ga3c.records.columns import MESSAGE_COLUMNS
from ga3c.records.console import Console
from ga3c.records.disk import CsvLog, Disk
from ga3c.records.game_output import GameOutput
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import uses
from ga3c.settings.batches import of_secondary
from ga3c.settings.run import Settings
from ga3c.text import count, duration, place, word
from ga3c.views import live_screen
from ga3c.views.plot import draw
from ga3c.views.plotter import Plotter
from ga3c.views.standing import standing
from ga3c.views.terminal_access import can_show

SAME_WISH_SECONDS = 1.0  # between two signals that mean one stop


class _Directories:
    """Of a run, and of its secondary learner's, if it has one. Raises ConfigError where they cannot be taken."""

    def __init__(self, settings: Settings, resumed: Path | None):
        self.runs: list[Path] = []
        self.secondary: Settings | None = None  # its settings
        self._undo: list[Callable[[], None]] = []
        try:
            inner = resumed and resumed / run_directory.SECONDARY
            if inner and not (inner / "config.json").exists():  # a start was killed before it made this one
                inner = None
            if inner and settings.replay.secondary_batch:
                run_directory.check_secondary(resumed)
            self._take(settings, resumed)
            if settings.replay.secondary_batch:
                self.secondary = of_secondary(settings, self.runs[0] / run_directory.SECONDARY)
                self._take(self.secondary, inner)
        except ConfigError:
            self.take_back()
            raise

    def _take(self, settings: Settings, resumed: Path | None) -> None:
        if resumed is None:
            path = run_directory.create(settings)
            self._undo.append(partial(run_directory.discard, path))
        else:
            path = resumed
            self._undo.append(partial(run_directory.take_back, path, run_directory.go_on(path, settings)))
        self.runs.append(path)

    def take_back(self) -> None:
        """A start that fails changes nothing."""
        for undo in reversed(self._undo):
            undo()


class _Signals:
    """The first asks the server to stop, a second one ends the program at once."""

    def __init__(self, server):
        self._server, self._first = server, None  # its number, and when it came
        stop_signals.handle(self._stop)
        signal.signal(signal.SIGQUIT, lambda *_: server.request_report())

    def _stop(self, number: int, _frame) -> None:
        # Asked twice: at once; agents end when their connections do. Some programs send one wish twice, though.
        if self._first and time.monotonic() - self._first[1] > SAME_WISH_SECONDS:
            os._exit(128 + number)
        self._first = self._first or (number, time.monotonic())
        self._server.request_stop()

    @property
    def status(self) -> int:
        """With which the program ends; 0 without a signal."""
        return 128 + self._first[0] if self._first else 0


def run(arguments: list[str]) -> int:
    here = own_games.here()
    settings, resumed = parse_settings(arguments)
    if not settings.learning.seed:  # drawn once, written down, and kept over a resume
        settings = replace(settings, learning=replace(settings.learning, seed=random.randrange(1, 2**31)))
    schedule = settings.schedule
    in_agents = not (schedule.serial or schedule.cluster or schedule.sampling == "batched")
    printed = _start_agents() if in_agents else None
    games = environments.make(settings.environment, 1, 0)
    games.close()
    if settings.run.checkpoint_games and not hasattr(games, "restore"):
        why = environments.emulator_line(settings.environment) or "This game is not played on that."
        raise ConfigError(f"--checkpoint-games is for Atari games on our own emulator: leave it out. {why}")
    spec = games.spec
    network, asked = networks.resolve(settings.learning.network, spec, settings.learning.algorithm), given(arguments)
    uses.check_seen(settings, asked, network, len(spec.observation_shape) == 3, spec.actions.continuous)
    if "console" in asked and settings.run.console == "screen" and not can_show():
        raise ConfigError("--console screen: standard output is no terminal that can be filled. Use plain or auto.")
    console = Console()
    if resumed is None:
        own_games.note(settings.environment.game, here)
    return _train(settings, _Directories(settings, resumed), games, console, printed)


def _start_agents() -> int:
    """Returns the end of a pipe out of which comes what agents print."""
    printed, prints = os.pipe()
    agents_start.start(prints)
    os.close(prints)
    return printed


def _train(settings: Settings, directories: _Directories, games, console: Console, printed: int | None) -> int:
    """`games`: closed. `printed`: a pipe with what agents print. Returns the exit status. Raises ConfigError."""
    run_dir, spec = directories.runs[0], games.spec
    game_output = GameOutput(run_dir / run_directory.GAME_OUTPUT, console.say)
    server = signals = totals = None
    failed = False
    try:
        _announce(settings, run_dir, games, console)
        if printed is not None:
            game_output.follow(printed)
        elif not settings.schedule.cluster:
            game_output.take_streams()
        server, second = _server(settings, directories, spec, console)
        signals = _Signals(server)
        if can_show() and settings.run.console != "plain":
            console.cover(live_screen.LiveScreen(run_dir))
        server.start()
        _say_model(settings, server.system, console)
        server.serve(Plotter(directories.runs, settings.run.plot_seconds).tick)
    except TrainingFailed as failure:
        failed = True
        console.say(f"ga3c: {failure}")
    finally:
        if server is not None:
            if signals and signals.status:
                console.say("Stopping: the agents hand over what they have played, then the run is saved ...")
            totals = server.stop()
        game_output.finish()
        console.end()
        if totals is None:  # it did not come to serve: nothing was trained
            console.flush()
            directories.take_back()
    _say_totals(totals, settings, spec, server, second, console)
    if server.saved:
        _say_saved(directories.runs, console)
    else:
        console.say("The last checkpoint could not be written. This takes the one before:")
        console.say(f"./run.sh --resume {word(run_dir)}")
    return 1 if failed or not server.saved else signals.status


def _announce(settings: Settings, run_dir: Path, games, console: Console) -> None:
    console.take_streams()
    console.keep(CsvLog(run_dir / "messages.csv", MESSAGE_COLUMNS, Disk(lambda _: None, run_dir)).append)
    console.say(f"Training {games.spec.name} in {place(run_dir)}  (Ctrl-C stops and saves)")
    network = networks.resolve(settings.learning.network, games.spec, settings.learning.algorithm)
    for line in (*environments.said(settings.environment, games, network), rewards.line(settings.environment)):
        if line:
            console.say(line)
    console.say("Curves in a browser:")
    console.say(f"{word(Path(sys.executable).with_name('tensorboard'))} --logdir {word(run_dir)}")
    console.say("Loading TensorFlow.")


def _server(settings: Settings, directories: _Directories, spec: EnvironmentSpec, console: Console):
    """The server, and the secondary learner's system or None. Raises ConfigError."""
    from ga3c.server import Server

    server, second = Server(systems.system_of(settings), settings, directories.runs[0], spec, console), None
    if directories.secondary:
        second = server.add(systems.secondary_of(server.system), directories.secondary, directories.runs[1])
    return server, second


def _say_model(settings: Settings, system, console: Console) -> None:
    model, learning = system.model, settings.learning
    network = f"{model.network_name} network, {model.parameters:,} parameters"
    console.say(f"{network}, on the {system.device}; seed {learning.seed}.")
    end = learning.learning_rate_decay_steps
    if learning.learning_rate_schedule == "linear" and end and settings.run.steps is None:
        console.say(f"The learning rate falls to 0 at {end:,} steps: then learning ends. --steps moves that.")


def _say_totals(totals, settings: Settings, spec: EnvironmentSpec, server, second, console: Console) -> None:
    console.say(
        f"{count(totals.steps, 'step')} ({count(totals.steps * spec.frames_per_step, 'frame')}), "
        f"{count(totals.episodes, 'game')}, {count(totals.updates, 'update')} in {duration(totals.seconds)}"
        + _score(server.system.stats.mean_score())
    )
    if settings.run.steps and totals.steps > settings.run.steps:
        more = count(totals.steps - settings.run.steps, "step")
        console.say(f"These are {more} more than --steps {settings.run.steps}: {_why_more(settings)}.")
    if server.system.stats.recent_scores() and (known := standing(settings.environment, totals.steps)):
        console.say(known)
    if second:
        console.say(f"secondary: {count(second.stats.totals().updates, 'update')}{_score(second.stats.mean_score())}")


def _why_more(settings: Settings) -> str:
    """Why a run has made more steps than it was asked for."""
    if settings.schedule.cluster:
        return "pods hand over what they had played until they heard of the end"
    if settings.replay.concurrent_training:
        return "a block of concurrent training goes on to its end"
    return "every game finishes the step that it is in"


def _say_saved(runs: list[Path], console: Console) -> None:
    run_dir = runs[0]
    console.say(f"Saved in {place(run_dir)}")
    for what, command in (("Go on", "./run.sh --resume"), ("Watch it play", "./play.sh")):
        console.say(f"{what}:")
        console.say(f"{command} {word(run_dir)}")  # on a line of its own, to be copied
    try:
        draw(runs, run_dir / "plot.png")
    except OSError as error:
        console.say(f"Cannot draw {place(run_dir / 'plot.png')}: {error.strerror}.")


def _score(mean: float) -> str:
    return "." if math.isnan(mean) else f"; mean score of the last 100 games {mean:.2f}."
