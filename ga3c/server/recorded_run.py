"""A system together with what it leaves on disk: checkpoints and logs."""

from collections.abc import Callable, Collection
from pathlib import Path

from ga3c import progress
from ga3c.records import run_state
from ga3c.records.cluster_file import ClusterFile
from ga3c.records.columns import DECISION_COLUMNS
from ga3c.records.console import Console
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.records.initial_weights import initial_weights
from ga3c.records.recovery import Recovery
from ga3c.records.run_state import RunState
from ga3c.records.stats_writer import StatsWriter
from ga3c.records.unchanged import UnchangedWatch
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.run import Settings


class RecordedRun:
    """One run: `start`, then `look` every second and `save` now and then; `finish` when its `system` has stopped."""

    def __init__(
        self,
        make_system: Callable,
        settings: Settings,
        run_dir: Path,
        spec: EnvironmentSpec,
        console: Console,
        given: Collection[str] = (),
    ):
        """`make_system`: one of `ga3c.systems`. `given`: the settings that this start of the run names. Raises
        ConfigError where there is nothing to go on from, or no room."""
        self._settings, self._run_dir, self._spec, self._console = settings, run_dir, spec, console
        self.disk = Disk(console.say, run_dir)
        self._cluster = ClusterFile(run_dir, settings.run.log_seconds, self.disk)
        self._recovery = Recovery(run_dir, settings, self.disk, console.say, spec, given)
        self._unchanged = UnchangedWatch()
        begun, self._arrays = progress.beginning(settings), None
        goes_on = settings.run.resume is not None and not self._recovery.begins_anew()
        if goes_on:
            begun, self._arrays = self._recovery.load()
        elif settings.run.start_from is not None:
            self._arrays = initial_weights(settings.run.start_from, console.say, settings, spec)
        decisions = CsvLog(run_dir / "controller.csv", DECISION_COLUMNS, self.disk)
        self.system = make_system(settings, spec, begun, console.say, decisions.append)
        if goes_on:
            self._recovery.load_replay(self.system.replay, begun.totals.steps)
            self._recovery.load_games(self.system.under_way, begun.totals.steps)

    def start(self) -> None:
        """Starts the system and the logs."""
        arrays, self._arrays = self._arrays, None  # they are large, and nobody needs them once the model has them
        self.system.start(arrays)
        interval, frames = self._settings.run.log_seconds, self._spec.frames_per_step
        self._writer = StatsWriter(self.system, self._run_dir, interval, frames, self._console, self.disk)
        self._writer.start()

    def look(self) -> None:
        """Looks after agents and updates. Raises TrainingFailed."""
        self.system.watch()
        self._recovery.mend_updates(self.system.model, self.system.stats)
        if said := self._unchanged.look(self.system.stats, self.system.model):
            self._console.say(said)
        if self._settings.schedule.cluster:
            self._cluster.look(self.system.cluster)

    def is_due(self, steps: int) -> bool:
        """Returns True, once, when a checkpoint is due after so many steps. Others are due by the clock."""
        return self._recovery.is_due(steps)

    def save(self, last: bool = False) -> bool:
        """Writes a checkpoint. Returns False if the disk does not take it."""
        saved = self._recovery.save(self.system, self._writer.write_episodes)
        if saved:
            self._recovery.save_replay(self.system.replay, self._recovery.saved_steps, last)
        return saved

    def finish(self) -> bool:
        """Writes the last rows and the last checkpoint. Returns False if the disk does not take that."""
        try:  # before it is saved: a resumed run takes out rows that are later than its checkpoint
            self._writer.finish()
        finally:
            saved = self.save(last=True)
        return saved

    def write_state(self, state: RunState) -> None:
        """Writes down that the run goes on, or how it ended."""
        self.disk.attempt(self._run_dir / run_state.NAME, lambda: run_state.write(self._run_dir, state))
