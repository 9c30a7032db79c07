"""Trains an agent: python -m ga3c [train] --game Boxing."""

import contextlib
import os
import random
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ga3c import environments, networks, systems
from ga3c.commands.train_messages import draw_last, say_model, say_saved, say_start, say_totals
from ga3c.commands.train_options import Start, parse_settings
from ga3c.environments import own_games
from ga3c.errors import ConfigError, Interrupted, TrainingFailed
from ga3c.processes import agents_start, stop_signals
from ga3c.records import run_directory
from ga3c.records.columns import MESSAGE_COLUMNS
from ga3c.records.console import Aside, Console
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.game_output import GameOutput
from ga3c.records.taken_directories import TakenDirectories
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import uses
from ga3c.settings.run import Settings
from ga3c.tracking.trackers import Trackers
from ga3c.views import live_screen
from ga3c.views.plotter import Plotter
from ga3c.views.terminal_access import can_show

_FRESH = random.SystemRandom()  # a program that trains several times has its own state of random numbers put back


@dataclass(frozen=True)
class Host:
    """The parts of a run that depend on who starts it: the command, or Python code (`ga3c.python.training`)."""

    console: Any  # a `records.console.Console`, or a `views.progress_bar.ProgressBar`
    signals: Callable[[Any], Any]  # makes a `server.signals.Signals` of the server
    look: Callable[[Any], None] = lambda _: None  # is called with the server, each second
    has_screen: bool = True  # a live screen may fill the terminal


class Ended(NamedTuple):
    """A run that has ended."""

    path: Path
    saved: bool  # its last checkpoint is there
    status: int  # the exit status that a signal asks for; 0 without one
    failure: str  # the reason why it failed; "" if it did not


def run(arguments: list[str]) -> int:
    here, before = own_games.here(), {}
    if threading.current_thread() is threading.main_thread():
        before = stop_signals.handle(_interrupt)  # until the run has handlers of its own
    try:
        ended = train(parse_settings(arguments), here, _host)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) in (_interrupt, _go_on):
                signal.signal(number, handler)
    return 1 if ended.failure or not ended.saved else ended.status


def _interrupt(number: int, _) -> None:
    """Ends what is not a run yet, as Ctrl-C does. A second signal does not end the clearing up."""
    stop_signals.handle(_go_on)
    raise Interrupted(number)


def _go_on(*_) -> None:
    """Does nothing."""


def _host() -> Host:
    """Returns the parts of a run that the command starts."""
    from ga3c.server.signals import Signals

    console = Console()
    console.take_streams()
    return Host(console, Signals)


def train(start: Start, here: str, host: Callable[[], Host]) -> Ended:
    """Trains as `start` says. `here`: the working directory. Raises ConfigError where the run cannot begin.

    `host` is called when nothing is wrong with the settings and the game.
    """
    settings, schedule = _with_seed(start.settings), start.settings.schedule
    with contextlib.ExitStack() as opened:
        printed = None if schedule.one_thread or schedule.cluster else _start_agents(opened)
        games = environments.seen(settings.environment, schedule.one_thread)
        _check_seen(settings, start, games)
        own_games.note_all(settings, here, None if start.resumed is None else start.given)
        directories = TakenDirectories(settings, start.resumed)
        try:
            begun = host()
        except BaseException:  # Ctrl-C
            directories.take_back()
            raise
        return _train(start._replace(settings=settings), directories, games, begun, printed, opened)


def _with_seed(settings: Settings) -> Settings:
    """Draws a seed where none is given. It is written down, and kept over a resume."""
    if settings.learning.seed:
        return settings
    return replace(settings, learning=replace(settings.learning, seed=_FRESH.randrange(1, 2**31)))


def _start_agents(opened: contextlib.ExitStack) -> int:
    """Starts the process that agents are forked from. Returns the end of a pipe out of which comes what they print,
    which `opened` closes."""
    printed, prints = os.pipe()
    opened.callback(os.close, printed)
    agents_start.start(prints)
    return printed


def _check_seen(settings: Settings, start: Start, games) -> None:
    """Raises ConfigError where a setting does not go with what the game shows, or with this terminal."""
    if settings.run.checkpoint_games and not hasattr(games, "restore"):
        why = environments.emulator_line(settings.environment) or "This game is not played on that."
        raise ConfigError(f"--checkpoint-games is for Atari games on our own emulator: leave it out. {why}")
    spec = games.spec
    network = networks.resolve(settings.learning.network, spec, settings.learning.algorithm)
    uses.check_seen(settings, start.given, network, spec)
    _check_players(settings, spec)
    if "console" in start.given and settings.run.console == "screen" and not can_show():
        raise ConfigError("--console screen: standard output is no terminal that can be filled. Use plain or auto.")


def _check_players(settings: Settings, spec: EnvironmentSpec) -> None:
    """Raises ConfigError where games that step together do not have all players of each game."""
    schedule = settings.schedule
    games = schedule.games_of(schedule.first_agents()) if schedule.one_thread else schedule.envs_per_agent
    if games % spec.players:
        flag = f"--games {games}" if schedule.games else f"--envs-per-agent {schedule.envs_per_agent}"
        raise ConfigError(
            f"The game '{spec.name}' has {spec.players} players, each of which counts as a game: give a multiple of "
            f"{spec.players} in place of {flag}."
        )


def _train(
    start: Start,
    directories: TakenDirectories,
    games,
    host: Host,
    printed: int | None,
    opened: contextlib.ExitStack,
) -> Ended:
    """`games`: closed. `printed`: a pipe with what agents print. `opened` gets what is to be closed at the end: this
    process may go on. Raises ConfigError."""
    run_dir, spec, console, settings = directories.runs[0], games.spec, host.console, start.settings
    game_output = GameOutput(run_dir / run_directory.GAME_OUTPUT, console.say)
    server = signals = totals = trackers = plotter = None
    failure, whole = "", False
    try:
        disk = opened.enter_context(contextlib.closing(Disk(lambda _: None, run_dir)))
        console.keep(CsvLog(run_dir / "messages.csv", MESSAGE_COLUMNS, disk).append)
        say_start(settings, run_dir, games, console)
        if printed is not None:
            game_output.follow(printed)
        elif not settings.schedule.cluster:
            game_output.take_streams()
        server, seconds = _server(start, directories, spec, console, opened)
        signals = host.signals(server)
        if host.has_screen and can_show() and settings.run.console != "plain":
            console.cover(live_screen.LiveScreen(run_dir))
        server.start()
        say_model(settings, server.system, console)
        trackers = Trackers(settings, run_dir, console.say)
        plotter = Plotter(directories.runs, settings.run.plot_seconds)
        server.serve(lambda: (plotter.tick(), host.look(server)))
        whole = True
    except TrainingFailed as failed:
        failure = str(failed)
        console.say(f"ga3c: {failure}")
    finally:
        if server is not None:
            if signals and signals.status:
                alone = settings.schedule.one_thread
                first = "the step in hand ends" if alone else "the agents hand over what they have played"
                console.say(f"Stopping: {first}, then the run is saved ...")
            totals = server.stop()
            if server.failure and not failure:  # of a thread, while it stopped
                failure = server.failure
                console.say(f"ga3c: {failure}")
        game_output.finish()
        console.end()
        if plotter:
            plotter.end()
        if trackers:
            _end(trackers, bool(failure) or not whole, server.saved, signals)
        if totals is None:  # it did not come to serve: nothing was trained
            console.flush()
            directories.take_back()
    say_totals(totals, settings, spec, [server.system, *seconds], console)
    say_saved(directories.runs, server.saved, console)
    if server.saved and settings.run.plot_seconds:
        draw_last(directories.runs, console)
    return Ended(run_dir, server.saved, signals.status, failure)


def _end(trackers: Trackers, failed: bool, saved: bool, signals) -> None:
    """Ends the trackers. A signal ends the waiting for them."""
    before = signals.count
    has_time = signals.status in (0, 128 + signal.SIGINT)  # after another signal the machine may soon be gone
    trackers.end(failed, saved and has_time, lambda: signals.count > before)


def _server(
    start: Start,
    directories: TakenDirectories,
    spec: EnvironmentSpec,
    console: Console,
    opened: contextlib.ExitStack,
):
    """Returns the server, and a list with the secondary learner's system if there is one. Raises ConfigError."""
    from ga3c.server.recorded_run import RecordedRun
    from ga3c.server.server import Server

    settings, (run_dir, *others) = start.settings, directories.runs
    first = RecordedRun(systems.system_of(settings), settings, run_dir, spec, console, start.given)
    server = Server(first, settings.run, console)
    opened.callback(server.close)
    if not directories.secondary:
        return server, []
    make_system, aside = systems.secondary_of(server.system), Aside(console, others[0].name)
    second = RecordedRun(make_system, directories.secondary, others[0], spec, aside)
    server.add(second)
    return server, [second.system]
