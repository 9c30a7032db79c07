"""Shows a trained agent at play: in a window, in the terminal, or in a video."""

import contextlib
import math
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ga3c.commands import agent_options
from ga3c.commands.agent_options import AgentOptions
from ga3c.commands.command_line import check_range, check_writable, parse
from ga3c.datasets import folders, making
from ga3c.datasets.about import About
from ga3c.datasets.making import Target
from ga3c.datasets.recorded_games import RecordedGames
from ga3c.errors import ConfigError
from ga3c.play import session
from ga3c.play.drawn_games import has_display
from ga3c.play.keyboard import HELP, Keyboard
from ga3c.play.playing import Stage
from ga3c.play.trained_agent import Policy, TrainedAgent
from ga3c.processes import stop_signals
from ga3c.records import checkpoint, chosen_runs, lock, run_directory
from ga3c.records.files import make_directory, reason
from ga3c.text import one_line
from ga3c.views import terminal_access as terminal

DESCRIPTION = f"""Plays whole games with a trained agent and prints each score. Keys in a window or terminal: {HELP}."""


@dataclass(frozen=True)
class PlayOptions(AgentOptions):
    episodes: int | None = None
    """Games to play (in each place of a grid). Default: 1; with --live as many as somebody watches."""
    greedy: bool = False
    """Take the most probable action instead of sampling from the policy; an agent of action values always takes the
    best."""
    record: str | None = None
    """Video file to write (.mp4 or .gif) instead of opening a window."""
    dataset: str | None = None
    """Record what is played, also by you, as a data set of this name: pong/me-v0. A name that ends in .npz is a file in
    the short form. ./run.sh dataset --help says what they are."""
    terminal: bool = False
    """Show it in the terminal, instead of in a window."""
    live: bool = False
    """Play with the newest weights of a run that is still training; take each new checkpoint."""
    speed: float = 1.0
    """Factor of the game's own speed; 0: as fast as it goes."""
    grid: int = 1
    """Games to play at once, in one picture."""
    overlay: bool = True
    """Show score, action probabilities (or values) and the value beside the game."""


def _check(options: PlayOptions) -> Path | None:
    """Returns the video to write, if that is named. Raises ConfigError."""
    video = Path(options.record) if options.record else None
    if video and video.suffix not in (".mp4", ".gif"):
        raise ConfigError(f"--record {video}: name a file that ends in .mp4 or .gif.")
    if video:
        check_writable("--record", video)
    if video and options.terminal:
        raise ConfigError("--record and --terminal: give one of them.")
    if options.terminal and not terminal.can_show():
        raise ConfigError("--terminal: standard output is no terminal. --record FILE.mp4 needs none.")
    if options.terminal and not options.overlay:
        raise ConfigError("--no-overlay is for a window or a video: with --terminal, leave it out.")
    check_range("speed", options.speed, 0, 1000)
    check_range("grid", options.grid, 1, 64)
    if options.live and (options.checkpoint or options.best):
        raise ConfigError("--live follows a run, not a checkpoint: leave --checkpoint and --best out.")
    return video


def _usual_video(agent: TrainedAgent) -> Path:
    """Returns the video to write where none is named, in the folder of the game. Raises ConfigError."""
    directory = run_directory.game_directory(agent.settings.environment.game)
    try:
        if not directory.is_dir():
            make_directory(directory)
    except OSError as error:
        raise ConfigError(f"Cannot write to {directory}: {reason(error)}.") from error
    check_writable("--record", directory / "play.mp4")
    return directory / "play.mp4"


def _wait_for_checkpoint(options: PlayOptions) -> PlayOptions:
    """Names the run, and waits until a run that has just begun has a checkpoint. Raises ConfigError."""
    directory = chosen_runs.chosen(options.run, options.game, with_checkpoint=False)
    if not checkpoint.saved(directory / "checkpoints"):
        print(f"Waiting for the first checkpoint of {one_line(directory)} ...", flush=True)
    while not checkpoint.saved(directory / "checkpoints") and lock.is_locked(directory):
        time.sleep(1.0)
    return replace(options, run=str(directory))


def _display(options: PlayOptions, video: Path | None, stage: Stage):
    title = stage.game
    if video is None and (options.terminal or not has_display()):
        from ga3c.play.displays.terminal import Terminal

        return Terminal(title, stage.action_names)
    from ga3c.play.displays.overlay import Overlay

    overlay = Overlay(title, stage.action_names, plain=not options.overlay)
    if video is not None:
        from ga3c.play.displays.video import Video

        return Video(video, stage.steps_per_second * (options.speed or 1.0), overlay)
    from ga3c.play.displays.window import Window

    return Window(f"GA3C plays {title}", overlay)


def _target(options: PlayOptions, agent: TrainedAgent) -> Target | None:
    """Returns the data set to make, if one is named. Raises ConfigError."""
    if not options.dataset:
        return None
    short = options.dataset.endswith(folders.SHORT)
    name, out = (None, options.dataset) if short else (options.dataset, None)
    return making.target(name, out, short, agent.settings)


@contextlib.contextmanager
def _recorded(target: Target | None, agent: TrainedAgent, seed: int) -> Iterator[Callable]:
    """Yields a function of games that returns the games to play: the same, or with a recorder if there is a target."""
    if target is None:
        yield lambda games: games
        return
    about = About(target.name, agent.settings, "a person, or an agent while the person let it play")
    with making.recording(target, about, agent.games) as recorder:
        yield lambda games: RecordedGames(games, recorder, seed)


def run(arguments: list[str]) -> int:
    options = parse(PlayOptions, arguments, PlayOptions(), DESCRIPTION, "play")
    video = _check(options)
    agent = agent_options.load(_wait_for_checkpoint(options) if options.live else options)
    if video is None and not has_display() and not terminal.can_show():
        video = _usual_video(agent)
        print(f"No display and no terminal: recording into {one_line(video)} ...", flush=True)
    target, scores = _target(options, agent), []
    with (
        _recorded(target, agent, options.seed) as around,
        contextlib.closing(Stage(agent.settings.environment, options.grid, options.seed, around)) as stage,
        contextlib.closing(_display(options, video, stage)) as display,
    ):
        _play(options, agent, stage, display, scores)
    if display.covers_output:
        print("".join(f"{line}\n" for line in scores), end="", flush=True)
    if video:
        print(f"Recorded in {one_line(video)}")
    if target:
        print(f"The games are in {one_line(target.path)}")
    return 0


def _play(options: PlayOptions, agent: TrainedAgent, stage: Stage, display, scores: list[str]) -> None:
    """Plays until the games are over, or somebody leaves. `scores` gets a line for each game."""
    endless = options.episodes is None and options.live and display.live
    games = math.inf if endless else options.episodes or 1
    stop_signals.handle(signal.default_int_handler)  # so that a terminal is given back as it was
    try:
        names = stage.action_names if stage.actions.kind == "discrete" else []
        keyboard = Keyboard(names, stage.steps_per_second, options.speed)
        session.play(stage, Policy(agent, options.live), display, keyboard, options.greedy, games, scores)
    except KeyboardInterrupt:
        pass
