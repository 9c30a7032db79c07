"""Trains an agent: python -m ga3c [train] --game Boxing."""

import os
import random
from dataclasses import replace

from ga3c import environments, networks, systems
from ga3c.commands.train_messages import say_model, say_saved, say_start, say_totals
from ga3c.commands.train_options import Start, parse_settings
from ga3c.environments import own_games
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.processes import agents_start
from ga3c.records import run_directory
from ga3c.records.columns import MESSAGE_COLUMNS
from ga3c.records.console import Console
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.game_output import GameOutput
from ga3c.records.taken_directories import TakenDirectories
from ga3c.rollout import EnvironmentSpec
from ga3c.settings import uses
from ga3c.settings.run import Settings
from ga3c.views import live_screen
from ga3c.views.plotter import Plotter
from ga3c.views.terminal_access import can_show


def run(arguments: list[str]) -> int:
    here = own_games.here()
    start = parse_settings(arguments)
    settings, schedule = _with_seed(start.settings), start.settings.schedule
    in_agents = not (schedule.serial or schedule.cluster or schedule.sampling == "batched")
    printed = _start_agents() if in_agents else None
    games = environments.make(settings.environment, 1, 0)
    games.close()
    _check_seen(settings, start, games)
    console = Console()
    if start.resumed is None:
        own_games.note(settings.environment.game, here)
    return _train(settings, TakenDirectories(settings, start.resumed), games, console, printed)


def _with_seed(settings: Settings) -> Settings:
    """Draws a seed where none is given. It is written down, and kept over a resume."""
    if settings.learning.seed:
        return settings
    return replace(settings, learning=replace(settings.learning, seed=random.randrange(1, 2**31)))


def _start_agents() -> int:
    """Starts the process that agents are forked from. Returns the end of a pipe out of which comes what they print."""
    printed, prints = os.pipe()
    agents_start.start(prints)
    os.close(prints)
    return printed


def _check_seen(settings: Settings, start: Start, games) -> None:
    """Raises ConfigError where a setting does not go with what the game shows, or with this terminal."""
    if settings.run.checkpoint_games and not hasattr(games, "restore"):
        why = environments.emulator_line(settings.environment) or "This game is not played on that."
        raise ConfigError(f"--checkpoint-games is for Atari games on our own emulator: leave it out. {why}")
    spec = games.spec
    network = networks.resolve(settings.learning.network, spec, settings.learning.algorithm)
    uses.check_seen(settings, start.given, network, len(spec.observation_shape) == 3, spec.actions.continuous)
    if "console" in start.given and settings.run.console == "screen" and not can_show():
        raise ConfigError("--console screen: standard output is no terminal that can be filled. Use plain or auto.")


def _train(settings: Settings, directories: TakenDirectories, games, console: Console, printed: int | None) -> int:
    """`games`: closed. `printed`: a pipe with what agents print. Returns the exit status. Raises ConfigError."""
    run_dir, spec = directories.runs[0], games.spec
    game_output = GameOutput(run_dir / run_directory.GAME_OUTPUT, console.say)
    server = signals = totals = None
    failed = False
    try:
        console.take_streams()
        console.keep(CsvLog(run_dir / "messages.csv", MESSAGE_COLUMNS, Disk(lambda _: None, run_dir)).append)
        say_start(settings, run_dir, games, console)
        if printed is not None:
            game_output.follow(printed)
        elif not settings.schedule.cluster:
            game_output.take_streams()
        server, seconds = _server(settings, directories, spec, console)
        from ga3c.server.signals import Signals

        signals = Signals(server)
        if can_show() and settings.run.console != "plain":
            console.cover(live_screen.LiveScreen(run_dir))
        server.start()
        say_model(settings, server.system, console)
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
    say_totals(totals, settings, spec, [server.system, *seconds], console)
    say_saved(directories.runs, server.saved, console)
    return 1 if failed or not server.saved else signals.status


def _server(settings: Settings, directories: TakenDirectories, spec: EnvironmentSpec, console: Console):
    """Returns the server, and a list with the secondary learner's system if there is one. Raises ConfigError."""
    from ga3c.server.server import Server

    server = Server(systems.system_of(settings), settings, directories.runs[0], spec, console)
    if not directories.secondary:
        return server, []
    return server, [server.add(systems.secondary_of(server.system), directories.secondary, directories.runs[1])]
