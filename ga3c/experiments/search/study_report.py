"""The report of a study: tables, a picture of the curves, and the command line of the best trial."""

import shlex
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from ga3c.experiments import tables
from ga3c.experiments.search.study import QUARTERS, Plan, flags_of, read, said
from ga3c.experiments.search.trial import curve
from ga3c.text import count
from ga3c.views.drawing import FAINT, INK
from ga3c.views.panels import SCORE_LABEL, panels

NAME = "tune"  # of the files
SHOWN = 10  # trials in the table
COLOURED = 5  # curves of the best trials
SCORE = "Score: the mean, over the core-seconds of the budget, of the mean of the last 100 games{}."
NORMALIZED = "; 0 is a random player, 1 a human, where that is known"


def report(out: Path) -> str:
    """Writes tune.csv, tune.md and tune.png into the directory of a study. Returns the text. Raises ConfigError."""
    study, plan = read(out)
    trials = [trial for trial in study.trials if trial.intermediate_values]
    trials.sort(key=lambda trial: (trial.last_step, _score(trial)), reverse=True)  # who fell behind stands below
    text = _counts(study)
    if trials:
        rows = [_row(trial, study, plan, out) for trial in trials]
        cells = [[f"{v:.4g}" if isinstance(v, float) else v for v in row.values()] for row in rows[:SHOWN]]
        text += f"\n{tables.markdown(list(rows[0]), cells)}\n{SCORE.format(NORMALIZED)}\n\n{_importances(trials)}\n"
        text += f"\nThe best trial's settings:\n\n{command(trials[0], plan)}\n"
        tables.write(out, NAME, [tables.rounded(row) for row in rows], text)
        _draw(trials, study, plan, out)
    return text


def command(trial: FrozenTrial, plan: Plan) -> str:
    """Returns the command line that trains with the settings of a trial, on the first game."""
    return shlex.join(["./run.sh", "--game", plan.games[0], *flags_of(plan, trial.params)])


def _score(trial: FrozenTrial) -> float:
    return trial.intermediate_values[trial.last_step]


def _counts(study: optuna.Study) -> str:
    found = [trial.state for trial in study.trials]
    states = {state.name.lower(): found.count(state) for state in TrialState if state in found}
    return f"{count(len(found), 'trial')}: {', '.join(f'{number} {name}' for name, number in states.items())}.\n"


def _row(trial: FrozenTrial, study: optuna.Study, plan: Plan, out: Path) -> dict[str, object]:
    budget = plan.budget(study) * trial.last_step / QUARTERS[-1]
    games = {run.game: run.mean_score(budget) for run in plan.runs(trial, out)} if len(plan.games) > 1 else {}
    settings = {flag: said(value) for flag, value in trial.params.items()}
    share = f"{100 * trial.last_step // QUARTERS[-1]} %"
    return {"trial": trial.number, "score": _score(trial), "of its budget": share} | games | settings


def _importances(trials: list[FrozenTrial]) -> str:
    """Says how much each setting matters for the score after a quarter of the budget, which all trials have come to."""
    early = optuna.create_study(direction="maximize")
    for trial in trials:
        parts = {"params": trial.params, "distributions": trial.distributions}
        early.add_trial(optuna.create_trial(value=trial.intermediate_values[min(trial.intermediate_values)], **parts))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    try:
        found = optuna.importance.get_param_importances(early, evaluator=evaluator)
    except (ValueError, RuntimeError):  # too few trials, or all are alike
        return "There are too few trials to say which settings matter."
    shares = ", ".join(f"{flag} {100 * share:.0f} %" for flag, share in found.items())
    return (
        f"Importance for the score after a quarter of the budget (PED-ANOVA, {count(len(trials), 'trial')}): {shares}."
    )


def _draw(trials: list[FrozenTrial], study: optuna.Study, plan: Plan, out: Path) -> None:
    """Draws a panel for each game: the best trials in colour, all others behind them."""
    with panels(out / f"{NAME}.png", 1, len(plan.games), size=(5.5 * len(plan.games), 4.4)) as axes:
        for place, trial in enumerate(trials):
            look = {"color": INK, "alpha": FAINT, "linewidth": 0.8, "zorder": 1}
            if place < COLOURED:
                look = {
                    "color": f"C{place}",
                    "label": f"trial {trial.number}: {_score(trial):.3g}",
                    "zorder": 9 - place,
                }
            for axis, run in zip(axes[0], plan.runs(trial, out), strict=True):
                spent, score = curve(run.directory, run.game)
                axis.plot(spent / 60, score, **look)
                axis.set(title=run.game, xlabel="core-minutes", ylabel=SCORE_LABEL)
                axis.set_xlim(0, plan.budget(study) / 60)
