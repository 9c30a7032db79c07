"""The report of a study: tables, a picture of the curves, and the command line of the best trial."""

import shlex
from pathlib import Path

import optuna
from optuna.trial import FrozenTrial, TrialState

from ga3c import environments
from ga3c.environments.human_scores import human_normalized
from ga3c.experiments import tables
from ga3c.experiments.search.study import QUARTERS, STUDY, Plan, flags_of, read, said
from ga3c.experiments.search.trial import curve
from ga3c.text import count
from ga3c.views.drawing import FAINT, INK
from ga3c.views.panels import SCORE_LABEL, panels

SHOWN = 10  # trials in the table
COLOURED = 5  # curves of the best trials
SCORE = """Score: the mean of the last 100 games, averaged over the core-seconds of the budget. 0 is a random player and
1 a human, where that is known."""


def report(out: Path) -> str:
    """Writes tune.csv, tune.md and tune.png into the directory of a study. Returns the text. Raises ConfigError."""
    study, plan = read(out)
    trials = [trial for trial in study.trials if trial.intermediate_values]
    # Who fell behind stands below, and who failed at the end.
    trials.sort(key=lambda trial: (trial.state != TrialState.FAIL, trial.last_step, _score(trial)), reverse=True)
    found = [trial.state for trial in study.trials]
    states = [f"{found.count(state)} {state.name.lower()}" for state in TrialState if state in found]
    text = f"{count(len(found), 'trial')}: {', '.join(states)}.\n"
    if trials:
        rows = [_row(trial, study, plan, out) for trial in trials]
        cells = [[f"{v:.4g}" if isinstance(v, float) else v for v in row.values()] for row in rows[:SHOWN]]
        command = shlex.join(["./run.sh", "--game", plan.games[0], *flags_of(plan, trials[0].params)])
        text += f"\n{tables.markdown(list(rows[0]), cells)}\n{SCORE}\n\n{_importances(trials)}\n"
        text += f"\nThis trains with the settings of the best trial:\n\n    {command}\n"
        tables.write(out, STUDY, [tables.rounded(row) for row in rows], text)
        _draw(trials, study, plan, out)
    return text


def _score(trial: FrozenTrial) -> float:
    return trial.intermediate_values[trial.last_step]


def _row(trial: FrozenTrial, study: optuna.Study, plan: Plan, out: Path) -> dict[str, object]:
    budget = plan.budget(study) * trial.last_step / QUARTERS[-1]
    games = {run.game: run.mean_score(budget) for run in plan.runs(trial, out)} if len(plan.games) > 1 else {}
    settings = {flag: said(value) for flag, value in trial.params.items()}
    share = f"{100 * trial.last_step // QUARTERS[-1]} %"
    return {"trial": trial.number, "score": _score(trial), "of its budget": share} | games | settings


def _importances(trials: list[FrozenTrial]) -> str:
    """Says how much each setting matters for the score after a quarter of the budget, which all trials have come to."""
    if len(trials) < SHOWN:
        return f"Which settings matter is said from {SHOWN} trials on."
    early = optuna.create_study(direction="maximize")
    for trial in trials:
        value = trial.intermediate_values[min(trial.intermediate_values)]
        early.add_trial(optuna.create_trial(value=value, params=trial.params, distributions=trial.distributions))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator()
    found = optuna.importance.get_param_importances(early, evaluator=evaluator)
    shares = ", ".join(f"{flag} {100 * share:.0f} %" for flag, share in found.items())
    return f"What matters for the score after a quarter of the budget (PED-ANOVA): {shares}."


def _draw(trials: list[FrozenTrial], study: optuna.Study, plan: Plan, out: Path) -> None:
    """Draws a panel for each game: the best trials in colour, all others behind them."""
    with panels(out / f"{STUDY}.png", 1, len(plan.games), size=(5.5 * len(plan.games), 4.4)) as axes:
        for rank, trial in enumerate(trials):
            look = {"color": INK, "alpha": FAINT, "linewidth": 0.8, "zorder": 1}
            if rank < COLOURED:
                name = f"trial {trial.number}: {_score(trial):.3g}"
                look = {"color": f"C{rank}", "label": name, "zorder": 9 - rank}
            for axis, run in zip(axes[0], plan.runs(trial, out), strict=True):
                spent, score = curve(run.directory, run.game)
                axis.plot(spent / 60, score, **look)
        for axis, game in zip(axes[0], plan.games, strict=True):
            normalized = human_normalized(environments.resolve(game)[1], 0.0) is not None
            axis.set(title=game, xlabel="core-minutes", ylabel="human-normalised " * normalized + SCORE_LABEL)
            axis.set_xlim(0, plan.budget(study) / 60)
