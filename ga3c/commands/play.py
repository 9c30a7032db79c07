"""Shows a trained agent at play: in a window, in the terminal, or in a video."""

import os
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ga3c import checkpoint, live_screen, run_directory
from ga3c.commands import trained_agent
from ga3c.commands.command_line import parse
from ga3c.commands.trained_agent import AgentOptions, TrainedAgent
from ga3c.config import ConfigError
from ga3c.controls import HELP, Controls
from ga3c.playing import Stage, moments

DESCRIPTION = f"""Plays whole games with a trained agent and prints each score. Keys in a window or terminal: {HELP}."""
LOOK_SECONDS = 2.0  # between two looks for a new checkpoint


@dataclass(frozen=True)
class PlayOptions(AgentOptions):
    episodes: int | None = None
    """Games to play (in each place of a grid). Default: 1; with --live as many as somebody watches."""
    record: str | None = None
    """Video file to write (.mp4 or .gif) instead of opening a window."""
    terminal: bool = False
    """Show it in the terminal, instead of in a window."""
    live: bool = False
    """Play with the newest weights of a run that is still training; take each new checkpoint."""
    speed: float = 1.0
    """Factor of the game's own speed; 0: as fast as it goes."""
    grid: int = 1
    """Games to play at once, in one picture."""
    overlay: bool = True
    """Show score, action probabilities and the value beside the game."""


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class _Policy:
    """The agent's policy; with `live` always that of the newest checkpoint."""

    def __init__(self, agent: TrainedAgent, live: bool):
        self._agent, self._live, self._file, self._looked = agent, live, agent.path, time.monotonic()
        self._steps = agent.steps

    def __str__(self) -> str:
        """Whose it is, where that changes."""
        return f", after {self._steps:,} steps" if self._live else ""

    def __call__(self, observations: np.ndarray) -> tuple:
        if self._live and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            self._take_newest()
        return self._agent.model.policy(observations)

    def _take_newest(self) -> None:
        newest = checkpoint.saved(self._file.parent)[-1:]
        if newest and newest[0] != self._file:
            try:
                arrays, meta = checkpoint.load(newest[0])
                self._agent.model.restore(arrays)
            except ConfigError:  # it is damaged, or gone already: there is a next one
                return
            self._file, self._steps = newest[0], meta["totals"]["steps"]


def _check(options: PlayOptions) -> Path | None:
    """Returns the video to write, if that is named. Raises ConfigError."""
    video = Path(options.record) if options.record else None
    if video and video.suffix not in (".mp4", ".gif"):
        raise ConfigError(f"--record {video}: name a file that ends in .mp4 or .gif.")
    if video and not video.absolute().parent.is_dir():
        raise ConfigError(f"--record {video}: there is no directory {video.absolute().parent}.")
    if video and options.terminal:
        raise ConfigError("--record and --terminal: give one of them.")
    if options.terminal and not live_screen.can_show():
        raise ConfigError("--terminal: standard output is no terminal. --record FILE.mp4 needs none.")
    if not 0 <= options.speed <= 1000:
        raise ConfigError(f"--speed {options.speed:g} is out of range: give a number from 0 to 1000.")
    if not 1 <= options.grid <= 64:
        raise ConfigError(f"--grid {options.grid} is out of range: give a number from 1 to 64.")
    if options.live and options.checkpoint:
        raise ConfigError("--live follows a run, not a checkpoint: leave --checkpoint out.")
    return video


def _wait_for_checkpoint(options: PlayOptions) -> PlayOptions:
    """Names the run; one that has just begun gets the time to write its first checkpoint. Raises ConfigError."""
    directory = run_directory.existing(options.run) if options.run else run_directory.newest(options.game, False)
    if not checkpoint.saved(directory / "checkpoints"):
        print(f"Waiting for the first checkpoint of {directory} ...", flush=True)
    while not checkpoint.saved(directory / "checkpoints") and run_directory.is_locked(directory):
        time.sleep(1.0)
    return replace(options, run=str(directory))


def _display(options: PlayOptions, video: Path | None, stage: Stage):
    title = stage.game
    if video is None and (options.terminal or not _has_display()):
        from ga3c.displays.terminal import Terminal

        return Terminal(title, stage.action_names)
    from ga3c.displays.overlay import Overlay

    overlay = Overlay(title, stage.action_names, plain=not options.overlay)
    if video is not None:
        from ga3c.displays.video import Video

        return Video(video, stage.steps_per_second * (options.speed or 1.0), overlay)
    from ga3c.displays.window import Window

    return Window(f"GA3C plays {title}", overlay)


def _play(stage: Stage, policy: _Policy, display, options: PlayOptions, scores: list[str]) -> None:
    """Until enough games have ended, or somebody leaves. `scores` gets a line for each game."""
    controls = Controls(stage.action_names, stage.steps_per_second, options.speed)
    endless = options.episodes is None and options.live and display.live
    left = np.full(stage.count, np.inf if endless else options.episodes or 1)
    for moment in moments(stage, policy, options.greedy, controls.action):
        display.show(moment, f"{controls}{policy}")
        for game in np.flatnonzero(moment.ended & (left > 0)):
            left[game] -= 1
            scores.append(f"Game {len(scores) + 1}: score {moment.scores[game]:g} in {moment.steps[game]:,} steps")
            if not display.covers_output:
                print(scores[-1], flush=True)
        if not (left > 0).any():
            return
        while display.live:
            seconds = controls.seconds_to_wait()
            pressed = display.keys(seconds)
            for key, down in pressed:
                controls.key(key, down)
            if controls.left:
                return
            if any(down for _, down in pressed):
                display.show(moment, f"{controls}{policy}")
            if not controls.seconds_to_wait():
                break
        controls.step_taken()


def run(arguments: list[str]) -> int:
    options = parse(PlayOptions, arguments, PlayOptions(), DESCRIPTION, "play")
    video = _check(options)
    agent = trained_agent.load(_wait_for_checkpoint(options) if options.live else options)
    if video is None and not _has_display() and not live_screen.can_show():
        directory = run_directory.RESULTS / agent.game
        directory.mkdir(parents=True, exist_ok=True)
        video = directory / "play.mp4"
    stage = Stage(agent.settings.environment, options.grid, options.seed)
    display, scores = _display(options, video, stage), []
    for number in (signal.SIGTERM, signal.SIGHUP):  # a terminal is given back as it was
        signal.signal(number, signal.default_int_handler)
    try:
        _play(stage, _Policy(agent, options.live), display, options, scores)
    except KeyboardInterrupt:
        pass
    finally:
        display.close()
        stage.close()
    if display.covers_output:
        print("".join(f"{line}\n" for line in scores), end="", flush=True)
    if video:
        print(f"Recorded in {video}")
    return 0
