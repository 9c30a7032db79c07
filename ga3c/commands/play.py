"""Shows a trained agent at play: in a window where there is a display, else in a video."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ga3c import environments, run_directory
from ga3c.commands import trained_agent
from ga3c.commands.command_line import parse
from ga3c.commands.trained_agent import AgentOptions, TrainedAgent
from ga3c.commands.window import Closed, Window
from ga3c.config import ConfigError
from ga3c.environments import atari
from ga3c.environments.gymnasium import GymnasiumEnvironments

DESCRIPTION = """Plays whole games with a trained agent and prints each score."""
EMULATOR_FRAMES_PER_SECOND = 60


@dataclass(frozen=True)
class PlayOptions(AgentOptions):
    record: str | None = None
    """Video file to write (.mp4 or .gif) instead of opening a window."""


class _Video:
    """Writes pictures to an MP4 or GIF file, twice their size."""

    def __init__(self, path: Path, frames_per_second: float):
        import imageio.v2 as imageio

        more = {"macro_block_size": 2, "quality": 8} if path.suffix == ".mp4" else {"loop": 0}
        speed = {"fps": frames_per_second} if path.suffix == ".mp4" else {"duration": 1000 / frames_per_second}
        self._writer = imageio.get_writer(path, **speed, **more)

    def show(self, picture: np.ndarray) -> None:
        self._writer.append_data(picture.repeat(2, axis=0).repeat(2, axis=1))

    def close(self) -> None:
        self._writer.close()


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _play(agent: TrainedAgent, options: PlayOptions, show: Callable[[np.ndarray], None]) -> None:
    """Plays the games and hands each picture, uint8 [height, width, 3], to `show`."""
    settings = agent.settings.environment
    kind, name = environments.resolve(settings.game)
    if kind == "atari":
        games, screen = (
            environments.make(settings, 1, options.seed),
            atari.AtariScreen(name, settings, options.seed),
        )
        first_picture, next_picture = screen.reset, screen.step
    else:
        games = GymnasiumEnvironments(name, 1, options.seed, render_mode="rgb_array")
        first_picture, next_picture = games.picture, lambda _: games.picture()
    observations = games.reset()
    show(first_picture())
    played, score, steps, restarting = 0, 0.0, 0, False
    while played < options.episodes:
        actions = agent.act(observations, options.greedy)
        observations, rewards, terminated, truncated, _ = games.step(actions)
        show(next_picture(int(actions[0])))
        if not restarting:
            score, steps = score + float(rewards[0]), steps + 1
        restarting = bool(terminated[0] or truncated[0])
        if restarting:
            played += 1
            print(f"Game {played}: score {score:g} in {steps:,} steps", flush=True)
            score, steps = 0.0, 0


def run(arguments: list[str]) -> int:
    options = parse(PlayOptions, arguments, PlayOptions(), DESCRIPTION, "play")
    video = Path(options.record) if options.record else None
    if video and video.suffix not in (".mp4", ".gif"):
        raise ConfigError(f"--record {video}: name a file that ends in .mp4 or .gif.")
    if video and not video.absolute().parent.is_dir():
        raise ConfigError(f"--record {video}: there is no directory {video.absolute().parent}.")
    agent = trained_agent.load(options)
    if video is None and not _has_display():
        directory = run_directory.RESULTS / agent.game
        directory.mkdir(parents=True, exist_ok=True)
        video = directory / "play.mp4"
    frames_per_second = EMULATOR_FRAMES_PER_SECOND / agent.settings.environment.frame_skip_frames
    output = _Video(video, frames_per_second) if video else Window(f"GA3C plays {agent.game}", frames_per_second)
    try:
        _play(agent, options, output.show)
    except (Closed, KeyboardInterrupt):
        pass
    finally:
        output.close()
    if video:
        print(f"Recorded in {video}")
    return 0
