"""A study: trials with settings that Optuna chooses, in a file that outlives a kill.

A trial ends early (is pruned) if its score falls behind that of others at the same share of its budget, by asynchronous
successive halving (Li et al. 2020).
"""

import contextlib
import math
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from ga3c.errors import ConfigError
from ga3c.experiments.runs import RunFailed, alone
from ga3c.experiments.search.trial import TrialRun
from ga3c.machine import usable_cores
from ga3c.records import run_directory
from ga3c.records.files import write_whole

JOURNAL, STUDY = "study.journal", "tune"
QUARTERS = (1, 2, 4)  # of its budget, after which a trial is held against others; the better half goes on
FAILED_LIMIT = 3  # trials in a row that fail, until the search ends
POLL_SECONDS = 0.5  # between two looks at the logs

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)


@dataclass(frozen=True)
class Plan:
    """The settings that a study searches, and the runs of each trial."""

    games: list[str]
    search: list[str]  # settings with their values, as the user wrote them
    flags: list[str]  # further flags of `train`, the same for all trials
    minutes: float  # of all cores, that a run may use

    def budget(self, study: optuna.Study) -> float:
        """Returns the core-seconds that each run of a trial may use."""
        return 60 * self.minutes * study.user_attrs["cores"]

    def runs(self, trial: optuna.Trial | optuna.trial.FrozenTrial, out: Path) -> list[TrialRun]:
        """Returns the runs of a trial, one for each game, with a seed that is the trial's own."""
        flags = [*flags_of(self, trial.params), "--log-seconds", f"{min(max(5 * self.minutes, 0.1), 5.0):g}"]
        folders = {game: out / run_directory.game_directory(game).name for game in self.games}
        return [TrialRun(g, trial.number + 1, flags, f / f"trial-{trial.number:03}") for g, f in folders.items()]


def flags_of(plan: Plan, parameters: dict[str, str | float]) -> list[str]:
    """Returns the flags of `train` for a trial with these settings."""
    words = plan.flags.copy()
    for flag, value in parameters.items():
        words += {"true": [f"--{flag}"], "false": [f"--no-{flag}"]}.get(value, [f"--{flag}", said(value)])
    return words


def said(value: str | float) -> str:
    """Returns the value of a setting as its flag has it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def read(out: Path) -> tuple[optuna.Study, Plan]:
    """Returns the study in a directory, also while it goes on. Raises ConfigError if there is none."""
    try:
        os.stat(out / JOURNAL)  # Optuna would make one
        study = optuna.load_study(study_name=STUDY, storage=_storage(out))
        saved = study.user_attrs["plan"]
    except (KeyError, OSError):
        raise ConfigError(f"There is no study in {out}: --name names it, or its directory.") from None
    return study, Plan(**saved)


def perform(plan: Plan, searched: dict[str, BaseDistribution], out: Path, trials: int, at_once: int) -> None:
    """Makes trials until there are so many. What was under way when a start was killed or stopped goes on.

    `searched`: by the flag of a setting, the values that it may have. Raises ConfigError.
    """
    with alone(out):
        study = _begun(plan, out)
        waiting, active = [], []
        for one in study.get_trials(states=(TrialState.RUNNING,)):  # an earlier start left it
            if one.params.keys() == searched.keys():
                waiting.append(optuna.Trial(study, one._trial_id))
            else:  # it had not got all of its settings
                study.tell(one.number, state=TrialState.FAIL)
        try:
            while active or waiting or len(study.trials) < trials:
                if len(active) < at_once and (waiting or len(study.trials) < trials):
                    word, trial = ("goes on", waiting.pop(0)) if waiting else ("begins", study.ask(searched))
                    settings = ", ".join(f"{flag} {said(value)}" for flag, value in trial.params.items())
                    print(f"Trial {trial.number} {word}: {settings}.", flush=True)
                    active.append(_follow(study, trial, plan, out))
                active = [one for one in active if next(one, "ended") is None]
                time.sleep(POLL_SECONDS)
        finally:
            for one in active:
                one.close()


def _storage(out: Path) -> optuna.storages.JournalStorage:
    return optuna.storages.JournalStorage(JournalFileBackend(str(out / JOURNAL)))


def _begun(plan: Plan, out: Path) -> optuna.Study:
    """Returns the study in a directory, or a new one. Raises ConfigError if it is one of another plan."""
    _mend(out / JOURNAL)
    study = optuna.create_study(
        study_name=STUDY,
        load_if_exists=True,
        storage=_storage(out),
        sampler=optuna.samplers.TPESampler(constant_liar=True),  # it knows which trials are under way
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2),
        direction="maximize",
    )
    asked = asdict(plan)
    if saved := study.user_attrs.get("plan"):
        if different := [name for name, value in asked.items() if saved[name] != value]:
            raise ConfigError(f"The study in {out} has other {' and '.join(different)}: name another one with --name.")
    else:
        study.set_user_attr("cores", usable_cores())
        study.set_user_attr("plan", asked)
    return study


def _mend(journal: Path) -> None:
    """Takes away what a kill may have left: half a line at the end, and the lock of the one who wrote it."""
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        content = journal.read_bytes()
        write_whole(journal, content[: content.rfind(b"\n") + 1])


def _follow(study: optuna.Study, trial: optuna.Trial, plan: Plan, out: Path) -> Iterator[None]:
    """Yields until the trial has ended. With several games each is trained up to a share of its budget in turn."""
    runs, number, budget = plan.runs(trial, out), trial.number, plan.budget(study)
    reported = study.get_trials(deepcopy=False)[number].intermediate_values
    try:
        for quarter in QUARTERS:
            core_seconds = budget * quarter / 4
            for run in runs:
                yield from run.train(core_seconds)
                if len(runs) > 1:
                    run.stop()
            value = sum(run.mean_score(core_seconds) for run in runs) / len(runs)
            if quarter not in reported and math.isfinite(value):
                trial.report(value, quarter)
            if quarter < QUARTERS[-1] and trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                print(f"Trial {number}: {value:.4g} after {25 * quarter} % of its budget. It ends here.", flush=True)
                return
        if not math.isfinite(value):
            raise RunFailed("no game has ended within its budget: give more --minutes.")
        study.tell(trial, value)
        best = f"trial {study.best_trial.number}, {study.best_value:.4g}"
        print(f"Trial {number}: {value:.4g}. The best: {best}.", flush=True)
    except RunFailed as failure:
        study.tell(trial, state=TrialState.FAIL)
        print(f"Trial {number} has failed: {failure}", flush=True)
        last = [one.state for one in study.get_trials(deepcopy=False) if one.state.is_finished()][-FAILED_LIMIT:]
        if last == [TrialState.FAIL] * FAILED_LIMIT:  # the reason may be the machine's: a later start goes on
            raise ConfigError(f"{FAILED_LIMIT} trials in a row have failed. The last one: {failure}") from failure
    finally:
        for run in runs:
            run.stop()
