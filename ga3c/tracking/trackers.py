"""The trackers of a run: which there are, their start, and their end."""

import os
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.installation import how_to_install
from ga3c.records import checkpoint, run_directory
from ga3c.records.files import reason
from ga3c.settings.run import Settings
from ga3c.tracking.tracked_run import FOLDER, TrackedRun, group_of
from ga3c.tracking.tracker_process import TrackerProcess

TITLES = {"wandb": "W&B", "mlflow": "MLflow", "tensorboard": "TensorBoard"}
END_SECONDS = 10.0  # for what is left at the end of a run
FILM_SECONDS = 20.0  # of play


def check_installed(names: Sequence[str]) -> None:
    """Raises ConfigError where the package of a tracker is missing. Loads none."""
    for name in names:
        found = find_spec(name)
        if found is None or found.origin is None:  # a folder of this name has no origin
            how = how_to_install("track").replace("./run.sh", f"./run.sh --track {name}")
            raise ConfigError(f"--track {name} needs the package {name}, which is not installed: {how}.")


class Trackers:
    """The trackers of one run. What fails there is said, and never raised."""

    def __init__(self, settings: Settings, run_dir: Path, say: Callable[[str], None]):
        self._path, self._say = run_dir, say
        self._processes: list[TrackerProcess] = []
        game = run_directory.game_directory(settings.environment.game).name
        run = TrackedRun(
            directory=str(run_dir),
            game=game,
            name=f"{game}-{run_directory.name(run_dir)}",
            group=group_of(settings, game),
            store=str(run_directory.RESULTS / "mlruns"),
            process=os.getpid(),
        )
        self._takes_files = bool({"wandb", "mlflow"} & set(settings.run.track))
        for name in dict.fromkeys(settings.run.track):
            try:
                self._processes.append(TrackerProcess(name, TITLES[name], run, say))
            except OSError as error:
                say(f"{TITLES[name]} cannot be started: {reason(error)}. Training goes on.")

    def end(self, failed: bool, with_game: bool, interrupted: Callable[[], bool]) -> None:
        """Lets them send what is left, for END_SECONDS at the longest, and ends them.

        `with_game`: a game of the best checkpoint is recorded for them first. `interrupted()` is asked whether the user
        wants to wait no longer.
        """
        if not self._processes:
            return
        files = self._best() if with_game and self._takes_files else []
        for process in self._processes:
            process.end(files, failed)
        deadline = time.monotonic() + END_SECONDS
        while any(one.is_alive for one in self._processes) and time.monotonic() < deadline and not interrupted():
            time.sleep(0.05)
        for process in self._processes:
            process.finish()

    def _best(self) -> list[str]:
        """Returns the best checkpoint, else the newest, and a film of a game that it plays."""
        checkpoints = self._path / "checkpoints"
        best = checkpoints / checkpoint.BEST
        found = [best] if best.exists() else checkpoint.saved(checkpoints)[-1:]
        game = self._path / FOLDER / "game.mp4"
        try:
            from ga3c.play import recording, trained_agent

            self._say("Recording a game for the trackers ...")
            agent = trained_agent.load(None, None, str(found[0]), seed=1)
            self._say(recording.film(agent, 1, game, FILM_SECONDS))
            found.append(game)
        except Exception as error:  # a game's own code, or what draws it, may raise whatever it likes
            self._say(f"No game was recorded: {reason(error)}")
        return [str(path) for path in found]
