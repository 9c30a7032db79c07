"""Recovery: how a run saves itself, and goes on after a stop, a crash or broken updates."""

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from ga3c import progress
from ga3c.environments import protocols
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.progress import Progress
from ga3c.records import checkpoint, run_directory
from ga3c.records.checkpoint_meta import from_meta, to_meta
from ga3c.records.csv_log import mend
from ga3c.records.disk import Disk
from ga3c.records.files import reason, rename
from ga3c.records.games_file import GamesFile
from ga3c.records.replay_file import ReplayFile
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings
from ga3c.stats import RECENT_GAMES, Stats
from ga3c.text import count

LOGS = ("throughput.csv", "controller.csv")  # their rows are cut at a time, those of episodes.csv at a step
ALL_LOGS = ("episodes.csv", *LOGS)
SKIPPED_LIMIT = 10  # updates in a row that are not finite, until the run goes back to its last checkpoint
ROLL_BACKS_LIMIT, ROLL_BACKS_SECONDS = 3, 3600.0  # after so many in so long a time the run ends


def _free(path: Path) -> Path:
    """Returns a name for what is put aside, which no earlier one has."""
    names = (path.with_name(f"{path.name}.before{number or ''}") for number in itertools.count())
    return next(name for name in names if not name.exists())


class Recovery:
    """The checkpoints and logs of one run."""

    def __init__(
        self,
        run_dir: Path,
        settings: Settings,
        disk: Disk,
        say: Callable[[str], None],
        spec: EnvironmentSpec | None = None,
        given: Collection[str] = (),
    ):
        """`spec`: the game as it is now. `given`: the settings that this start of the run names."""
        self._spec, self._given = spec, given
        self._run_dir, self._settings, self._disk, self._say = run_dir, settings, disk, say
        self._checkpoints = run_dir / "checkpoints"
        self._rolled_back: list[float] = []  # when
        self._best_mean = self._saved_best()
        self.saved_steps = 0  # of the newest checkpoint: play may have gone on since
        self._looked_steps = self._kept_steps = 0  # when it was last asked for a checkpoint, and wrote one
        self._replay_file = ReplayFile(run_dir, disk, say) if settings.replay.checkpoint_replay else None
        self._games_file = GamesFile(self._checkpoints, say) if settings.run.checkpoint_games else None

    def _saved_best(self) -> float:
        """Returns the mean score of the 100 games before the best checkpoint; -inf without one."""
        best = self._checkpoints / checkpoint.BEST
        if not best.exists():
            return -math.inf
        try:
            return float(np.mean(from_meta(checkpoint.load(best)[1], best).recent_scores))
        except ConfigError as error:
            with contextlib.suppress(OSError):  # else the next best one would replace it
                rename(best, best.with_suffix(".damaged"))
            self._say(f"{error} It is kept under a name that ends in .damaged.")
            return -math.inf

    def begins_anew(self) -> bool:
        """Returns True if there is no checkpoint yet, so that a resumed run begins anew. Then renames its logs.

        Raises ConfigError.
        """
        # A secondary learner goes on with its primary, whose checkpoint is written after its own.
        run_dir = self._run_dir.parent if run_directory.is_secondary(self._run_dir) else self._run_dir
        try:
            if checkpoint.was_written(run_dir / "checkpoints"):
                return False
            old = [*checkpoint.saved(self._checkpoints), *(self._run_dir / name for name in ALL_LOGS)]
            old += (self._run_dir / "tracking").glob("*.json")  # what trackers have of the rows that go
            aside = [path for path in old if path.exists()]
            for path in aside:
                rename(path, _free(path))
        except (OSError, MemoryError) as error:
            raise ConfigError(f"Cannot write to {self._run_dir}: {reason(error)}.") from error
        kept = " What it had written is in files that end in .before." if aside else ""
        self._say(f"There is no checkpoint: the run begins anew.{kept}")
        return True

    def _say_rules(self, before: Settings) -> None:
        """Says so where the rules of play are others than before."""
        old, new = (protocols.fingerprint(settings.environment) for settings in (before, self._settings))
        if old != new:
            self._say(f"The rules of play change, from {old} to {new}: scores do not compare with those before.")

    def load(self) -> tuple[Progress, dict[str, np.ndarray]]:
        """Returns the progress and the arrays of the newest checkpoint; takes out of the logs what came after it.

        If other counts are asked for than before, the progress has these. Raises ConfigError.
        """
        path, arrays, meta = checkpoint.load_newest(self._checkpoints, self._say)
        saved = from_meta(meta, path)
        if self._spec:
            saved.check_spaces(self._spec, path)
        totals = saved.totals
        # The weights have not learned from what was under way when the checkpoint was written: it does not count.
        totals.made_steps = totals.steps + totals.lost_steps
        self._looked_steps = self._kept_steps = totals.steps
        try:
            checkpoint.set_aside_newer(path)
            # Several games of a secondary learner may come at the same step.
            mend(self._run_dir / "episodes.csv", last_step=totals.steps, most_rows=totals.episodes)
            for name in LOGS:
                mend(self._run_dir / name, last_step=totals.steps, last_second=totals.seconds)
        except (OSError, MemoryError) as error:
            raise ConfigError(f"Cannot write to {self._run_dir}: {reason(error)}.") from error
        self._say(f"Going on from {path.name}: {count(totals.steps, 'step')}, {count(totals.episodes, 'game')}.")
        self._say_rules(saved.settings)
        asked, before = (progress.counts_of(settings) for settings in (self._settings, saved.settings))
        other = [name for name in asked._fields if name in self._given or getattr(asked, name) != getattr(before, name)]
        return replace(saved, counts=saved.counts._replace(**{name: getattr(asked, name) for name in other})), arrays

    def is_due(self, steps: int) -> bool:
        """Returns True, once, when the run has come to another multiple of --checkpoint-steps."""
        every, before = self._settings.run.checkpoint_steps, self._looked_steps
        self._looked_steps = steps
        return every > 0 and steps // every > before // every

    def save(self, system, write_episodes: Callable[[], bool]) -> bool:
        """Writes a checkpoint of a `systems.System`. Returns False if the disk does not take it.

        `write_episodes()` writes the games that the checkpoint counts to their log, and returns whether they are there.
        """
        stats, games_file = system.stats, self._games_file if system.under_way else None

        def write() -> None:
            with system.under_way.held() if games_file else contextlib.nullcontext() as games:
                with stats.updating:  # weights, counts and games are of one moment
                    totals, scores, state = stats.totals(), stats.recent_scores(), system.model.state()
                content = games and checkpoint.pack(games, {})
            spaces = self._spec and progress.spaces_of(self._spec)
            now = Progress(self._settings, totals, system.chosen_counts, system.next_agent, scores, spaces)
            meta = to_meta(now)
            if not write_episodes():
                raise OSError(None, "the games that it counts are not in their log yet")
            if content:
                games_file.save(totals.steps, content)
            try:
                self._write(totals.steps, state, meta)
            except OSError:  # the disk takes no checkpoint: games without one would fill it
                if games_file:
                    games_file.drop(totals.steps)
                raise
            if games_file:
                games_file.drop_others(totals.steps)
            self.saved_steps = totals.steps

        return self._disk.attempt(self._checkpoints, write)

    def load_replay(self, replay, steps: int) -> None:
        """Fills a `replay.replay_memory.Replay` with what is saved of it, if that is asked for. None: there is none."""
        if self._replay_file and replay:
            self._replay_file.load(replay, steps)

    def save_replay(self, replay, steps: int, last: bool) -> None:
        """Saves the replay after a checkpoint of so many steps. `last`: before this returns."""
        if self._replay_file and replay:
            self._replay_file.save(replay, steps, last)

    def load_games(self, under_way, steps: int) -> None:
        """Loads the games under way, if that is asked for. None: they are played elsewhere."""
        if self._games_file and under_way:
            under_way.loaded = self._games_file.load(steps)

    def _write(self, steps: int, state: dict[str, np.ndarray], meta: dict) -> None:
        run = self._settings.run
        path = checkpoint.save(self._checkpoints, steps, state, meta, run.checkpoints_kept)
        every = run.checkpoint_steps
        if every and steps // every > self._kept_steps // every:
            checkpoint.keep_network(self._checkpoints, steps - steps % every, state, meta)
        self._kept_steps = steps
        scores = meta["recent_scores"]
        mean = float(np.mean(scores)) if len(scores) == RECENT_GAMES else -math.inf  # the mean of fewer games is luck
        if mean > self._best_mean:
            checkpoint.keep_as_best(path)
            self._best_mean = mean

    def mend_updates(self, model, stats: Stats) -> None:
        """Goes back to the weights of the newest checkpoint if updates are not finite any more.

        Raises TrainingFailed if that has not helped before.
        """
        if stats.skipped_in_a_row < SKIPPED_LIMIT:
            return
        now = time.monotonic()
        self._rolled_back = [then for then in self._rolled_back if now - then < ROLL_BACKS_SECONDS]
        what = f"{stats.skipped_in_a_row} updates in a row had a loss or gradient that is not finite"
        learning = self._settings.learning
        rate = "--kl-target" if learning.learning_rate_schedule == "kl" else "--learning-rate"
        advice = f"try a lower {rate}, or --gradient-clip-norm {learning.gradient_clip_norm / 4 or 40:g}"
        if len(self._rolled_back) >= ROLL_BACKS_LIMIT:
            raise TrainingFailed(f"{what}, and going back to a checkpoint has not helped: {advice}.")
        try:
            path, arrays, _ = checkpoint.load_newest(self._checkpoints, self._say)
        except ConfigError as error:
            raise TrainingFailed(f"{what}, and there is nothing to go back to: {advice}.") from error
        with stats.updating:  # versions never go back: policy lag is counted in them
            model.restore(arrays | {"version": np.int64(model.version)})
            stats.skipped_in_a_row = 0
        self._rolled_back.append(now)
        self._say(f"{what}: going back to the weights of {path.name}.")
