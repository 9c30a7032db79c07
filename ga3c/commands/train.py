"""Trains an agent: python -m ga3c [train] --game Boxing."""

import contextlib
import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ga3c import environments, networks
from ga3c.commands.command_line import parse, value_of, whole_number
from ga3c.environments import own_games
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.processes import agents_start
from ga3c.records import run_directory
from ga3c.records.columns import MESSAGE_COLUMNS
from ga3c.records.console import Console
from ga3c.records.description import read_settings
from ga3c.records.disk import CsvLog, Disk
from ga3c.settings import ranges
from ga3c.settings.presets import of_secondary, with_presets
from ga3c.settings.run import Settings
from ga3c.text import place
from ga3c.views import live_screen
from ga3c.views.plot import draw
from ga3c.views.terminal import can_show

DESCRIPTION = """Trains an agent with GA3C. ./run.sh help lists the other commands."""

SAME_WISH_SECONDS = 1.0  # between two signals that mean one stop


@dataclass(frozen=True)
class TrainOptions(Settings):
    """The settings, and what is said of a start alone."""

    trust: bool = False
    """With --resume: run the code of a game that the run names (package.module:EnvId), though you have not trained
    on it here."""


def _parse(arguments: list[str], default: Settings) -> tuple[Settings, bool]:
    """Settings, and whether --trust is given."""
    options = parse(TrainOptions, arguments, TrainOptions(**vars(default)), DESCRIPTION, "train")
    return Settings(**{name: getattr(options, name) for name in vars(default)}), options.trust


def parse_settings(arguments: list[str]) -> tuple[Settings, Path | None]:
    """Settings from the command line, and the run to go on with, if any. Raises ConfigError."""
    arguments = _resume_with_value(arguments)
    resume = value_of("--resume", arguments)
    if resume is None:
        preset = value_of("--preset", arguments) or value_of("--algorithm", arguments)  # their constants' name, too
        protocol = value_of("--protocol", arguments)
        default = with_presets(Settings(), preset, protocol, whole_number(value_of("--batch", arguments)))
        settings, _ = _parse(arguments, default)
        run_dir = None
    else:
        for flag in ("--preset", "--protocol", "--name", "--from", "--secondary-batch"):
            if value_of(flag, arguments) is not None:
                raise ConfigError(f"{flag} belongs to the start of a run: with --resume, leave it out.")
        wanted, _ = _parse(arguments, Settings())
        run_dir = run_directory.find(wanted)
        if run_directory.is_exported(run_dir):
            raise ConfigError(
                f"{run_dir} is an exported agent, not a run: --from {run_dir} begins a new run with its weights."
            )
        if run_directory.is_secondary(run_dir):
            raise ConfigError(f"{run_dir} goes on with the run that it is in: --resume {run_dir.parent}")
        saved = read_settings(run_dir)
        fresh = replace(saved.run, steps=None, minutes=None, episodes=None)
        settings, trusted = _parse(arguments, replace(saved, run=fresh))
        if environments.resolve(settings.environment.game) != environments.resolve(saved.environment.game):
            games = f"{saved.environment.game}, not of {settings.environment.game}"
            raise ConfigError(f"The run in {run_dir} is of {games}: leave --game out.")
    ranges.check(settings)
    asked, schedule = value_of("--controller", arguments) or "off", settings.schedule
    if asked != "off" and (schedule.serial or schedule.sampling != "asynchronous"):
        mode = "--serial" if schedule.serial else f"--sampling {schedule.sampling}"
        raise ConfigError(f"--controller {asked} does not go with {mode}, where the counts stay: leave it out.")
    if run_dir is None:
        own_games.import_named(settings.environment.game)
    else:
        named = value_of("--game", arguments) is not None
        own_games.import_of_run(settings.environment.game, run_dir, trusted or named)
    return settings, run_dir


def _resume_with_value(arguments: list[str]) -> list[str]:
    """--resume without a value means the newest run."""
    if "--resume" in arguments:
        after = arguments.index("--resume") + 1
        if after == len(arguments) or arguments[after].startswith("--"):
            return [*arguments[:after], "newest", *arguments[after:]]
    return arguments


def run(arguments: list[str]) -> int:
    settings, run_dir = parse_settings(arguments)
    if not settings.learning.seed:  # drawn once, written down, and kept over a resume
        settings = replace(settings, learning=replace(settings.learning, seed=random.randrange(1, 2**31)))
    if not settings.schedule.serial:
        agents_start.start()
    games = environments.make(settings.environment, 1, 0)
    spec = games.spec
    games.close()
    networks.resolve(settings.learning.network, spec, settings.learning.algorithm)
    console = Console()
    if run_dir is None:
        own_games.note(settings.environment.game)
    resumed = run_dir is not None
    if resumed:
        before = run_directory.go_on(run_dir, settings)
    else:
        run_dir = run_directory.create(settings)
    runs, secondary = _with_secondary(settings, run_dir, resumed)

    def refuse() -> None:
        """A start that fails changes nothing."""
        console.flush()
        if resumed:
            run_directory.take_back(run_dir, before)
        else:
            for one in reversed(runs):
                run_directory.discard(one)

    console.take_streams()
    console.keep(CsvLog(run_dir / "messages.csv", MESSAGE_COLUMNS, Disk(lambda _: None, run_dir)).append)
    console.say(f"Training {spec.name} in {place(run_dir)}  (Ctrl-C stops and saves)")
    console.say(
        f"Curves in a browser: {place(Path(sys.executable).with_name('tensorboard'))} --logdir {place(run_dir)}"
    )

    console.say("Loading TensorFlow.")

    from ga3c.server import Server

    try:
        server = Server(_system(settings), settings, run_dir, spec, console)
        if secondary:
            from ga3c.systems.secondary import Secondary

            second = server.add(partial(Secondary, server.system), secondary, runs[1])
    except ConfigError:
        refuse()
        raise
    failed = False
    stops: list[tuple[int, float]] = []  # signal, when

    def on_signal(number, _frame):
        # Asked twice: at once; agents end when their connections do. Some programs send one wish twice, though.
        if stops and time.monotonic() - stops[0][1] > SAME_WISH_SECONDS:
            os._exit(128 + number)
        stops.append((number, time.monotonic()))
        server.request_stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    signal.signal(signal.SIGQUIT, lambda *_: server.request_report())
    if can_show() and settings.run.console != "plain":
        console.cover(live_screen.LiveScreen(run_dir))
    try:
        server.start()
        model = server.system.model
        console.say(
            f"{model.network_name} network, {model.parameters:,} parameters, on the {server.system.device}; "
            f"seed {settings.learning.seed}."
        )
        end = settings.learning.learning_rate_decay_steps
        if settings.learning.learning_rate_schedule == "linear" and end and settings.run.steps is None:
            console.say(f"The learning rate falls to 0 at {end:,} steps: then learning ends. --steps moves that.")
        server.serve(_Plotter(runs, settings.run.plot_seconds).tick)
    except TrainingFailed as failure:
        failed = True
        console.say(f"ga3c: {failure}")
    except ConfigError:
        refuse()
        raise
    finally:
        if stops:
            console.say("Stopping: the agents hand over what they have played, then the run is saved ...")
        totals = server.stop()
        console.end()
    if totals:
        console.say(
            f"{totals.steps:,} steps ({totals.steps * spec.frames_per_step:,} frames), {totals.episodes:,} games, "
            f"{totals.updates:,} updates in {totals.seconds / 60:.1f} minutes"
            + _score(server.system.stats.mean_score())
        )
        if secondary:
            console.say(f"secondary: {second.stats.totals().updates:,} updates{_score(second.stats.mean_score())}")
        if not server.saved:
            failed = True
            console.say(f"The last checkpoint could not be written: --resume {place(run_dir)} takes the one before.")
        else:
            console.say(f"Saved in {place(run_dir)}")
            console.say(f"Go on: ./run.sh --resume {place(run_dir)}   Watch it play: ./play.sh {place(run_dir)}")
            try:
                draw(runs, run_dir / "plot.png")
            except OSError as error:
                console.say(f"Cannot draw {place(run_dir / 'plot.png')}: {error.strerror}.")
    return 1 if failed else 128 + stops[0][0] if stops else 0


def _with_secondary(settings: Settings, run_dir: Path, resumed: bool) -> tuple[list[Path], Settings | None]:
    """The directories of the run and of its secondary learner's, if it has one, whose settings come with them."""
    if not settings.replay.secondary_batch:
        return [run_dir], None
    directory = run_dir / run_directory.SECONDARY
    secondary = of_secondary(settings, directory)
    try:
        if resumed:
            run_directory.go_on(directory, secondary)
        else:
            run_directory.create(secondary)
    except ConfigError:
        if not resumed:
            run_directory.discard(run_dir)
        raise
    return [run_dir, directory], secondary


def _system(settings: Settings):
    """Which of `ga3c.systems` the settings want. Imported here alone: a replay needs Numba, which takes a second."""
    if settings.schedule.serial:
        from ga3c.systems.serial import Serial

        return Serial
    if settings.learning.algorithm in ("dqn", "c51"):
        from ga3c.systems.replayed import Replayed

        return Replayed
    if settings.schedule.sampling != "asynchronous":
        from ga3c.systems.synchronous import Synchronous

        return Synchronous
    from ga3c.systems.ga3c import GA3C

    return GA3C


def _score(mean: float) -> str:
    return "." if math.isnan(mean) else f"; mean score of the last 100 games {mean:.2f}."


class _Plotter:
    """Draws the run's plot now and then, in a process of its own: matplotlib must not slow the threads down."""

    def __init__(self, runs: list[Path], seconds: float):
        self._runs, self._seconds = runs, seconds
        self._last = time.monotonic()
        self._drawing: subprocess.Popen | None = None

    def tick(self) -> None:
        """Starts a drawing if it is time for one and the one before it has ended."""
        due = self._seconds and time.monotonic() - self._last >= self._seconds
        if not due or (self._drawing and self._drawing.poll() is None):
            return
        self._last = time.monotonic()
        command = [sys.executable, "-m", "ga3c", "plot", *map(str, self._runs)]
        command += ["--out", str(self._runs[0] / "plot.png")]
        nowhere = subprocess.DEVNULL
        with contextlib.suppress(OSError):  # too many processes or files: there is a next time
            self._drawing = subprocess.Popen(command, stdout=nowhere, stderr=nowhere, start_new_session=True)
            os.setpriority(os.PRIO_PROCESS, self._drawing.pid, 10)
