"""The search for settings: how values are written, what a score is, who ends early, and a study that is stopped."""

import csv
import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from ga3c.__main__ import main
from ga3c.commands import tune
from ga3c.commands.command_line import parse
from ga3c.commands.train_options import parse_settings
from ga3c.commands.tune import TuneOptions, dimension, planned
from ga3c.errors import ConfigError
from ga3c.experiments.runs import RunFailed
from ga3c.experiments.search import study, study_report, trial
from ga3c.experiments.search.study import Plan
from ga3c.records.columns import THROUGHPUT_COLUMNS
from tests import program
from tests.program import Started

PLAN = Plan(["Pong"], ["t-max=2:40"], [], 5.0)
SEARCHED = {"t-max": IntDistribution(2, 40)}


@pytest.mark.parametrize(
    ("text", "flag", "values"),
    [
        ("learning-rate=log:1e-4:3e-3", "learning-rate", FloatDistribution(1e-4, 3e-3, log=True)),
        ("--entropy-weight=0:0.05", "entropy-weight", FloatDistribution(0.0, 0.05)),
        ("t-max=5:40", "t-max", IntDistribution(5, 40)),
        ("replay-transitions=log:1e4:1_000_000", "replay-transitions", IntDistribution(10_000, 1_000_000, log=True)),
        ("frame-size-pixels=42,64,84", "frame-size-pixels", CategoricalDistribution(["42", "64", "84"])),
        ("devices=cpu:1,cpu:2", "devices", CategoricalDistribution(["cpu:1", "cpu:2"])),
    ],
)
def test_a_setting_and_its_values(text, flag, values):
    assert dimension(text) == (flag, values)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["learning-rate"], "give a setting with a range, or with choices, as in learning-rate=log:1e-4:3e-3"),
        (["learning-rate=0.1"], "give a setting with a range"),
        (["=0:1"], "give a setting with a range"),
        (["learning-rate=3e-3:1e-4"], "a range of --learning-rate is two numbers, the lower one first"),
        (["learning-rate=a:b"], "two numbers, the lower one first"),
        (["learning-rate=nan:1"], "two numbers, the lower one first"),
        (["entropy-weight=log:0:1"], "two numbers above 0"),
        (["t-max=2.5:4"], "two whole numbers, the lower one first"),
        (["network=1:4"], "--network is no setting that is a number. Give choices: network=A,B"),
        (["learning-rat=1e-4:1e-3"], "--learning-rat is no setting that is a number. Nearest: --learning-rate."),
        (["t-max=5,5"], "give each choice once"),
        (["t-max=5,"], "give each choice once"),
        (["t-max=5:10", "t-max=5,7"], "two of them are for the same setting"),
        (["t-max=0:10"], "ga3c: --t-max 0 is out of range"),
        (["t-max=5:100000"], "ga3c: --t-max 100000 is out of range"),
        (["learning-rat=0.1,0.2"], "ga3c: Unrecognized options"),
        (
            ["algorithm=ppo,a2c", "ppo-clip=0.1:0.3"],
            "ga3c: --ppo-clip 0.1 does not go with",
        ),
        (["seed=1,2"], "--seed cannot be searched or given after --: each trial gets its own"),
        (["t-max=5:10", "--", "--minutes", "3"], "--minutes cannot be searched or given after --"),
        (["t-max=5:10", "--", "--learning-rate", "x"], "Error parsing --learning-rate"),
        (["t-max=5:10", "--trials", "0"], "--trials 0 is out of range"),
        (["t-max=5:10", "--minutes", "0"], "--minutes 0 is out of range"),
        (["t-max=5:10", "--at-once", "0"], "--at-once 0 is out of range"),
        (["t-max=5:10", "--game", "Pongg"], "Unknown game 'Pongg'"),
        ([], "tune needs games and settings"),
        (["t-max=5:10", "--report", "--name", "nowhere/at-all"], "There is no study in"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(arguments, said, capsys, monkeypatch):
    monkeypatch.setattr(study, "perform", lambda *_: pytest.fail("it trains"))
    searched = [word for text in arguments if "=" in text or text == "learning-rate" for word in ("--search", text)]
    others = [text for text in arguments if not ("=" in text or text == "learning-rate")]
    assert main(["tune", "--game", "Pong", *searched, *others]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)


def test_flags_of_a_trial_are_what_train_takes():
    options = TuneOptions(
        game=("CartPole-v1",), search=("adapt-spaces=true,false", "learning-rate=1e-4:1", "t-max=5:9")
    )
    plan, _ = planned(options, ["--preset", "a2c"])
    flags = study.flags_of(plan, {"adapt-spaces": "false", "learning-rate": 0.000123456789, "t-max": 7})
    assert flags == ["--preset", "a2c", "--no-adapt-spaces", "--learning-rate", "0.000123457", "--t-max", "7"]
    settings = parse_settings(["--game", "CartPole-v1", *flags]).settings
    assert (settings.learning.learning_rate, settings.learning.t_max) == (0.000123457, 7)


# The score of a trial


def write_log(directory: Path, rows: list[tuple]) -> None:
    """A throughput.csv. rows: seconds, cores used, mean score."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "throughput.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, THROUGHPUT_COLUMNS, restval=1, lineterminator="\n")
        writer.writeheader()
        for seconds, cores, score in rows:
            writer.writerow({"seconds": seconds, "cores_used": cores, "mean_score": score})


NAN = float("nan")
ROWS = [(0, NAN, NAN), (2, 2, NAN), (4, 1, -20.7), (5, 2, 14.6), (7, 1, 14.6)]


def test_a_curve_is_the_human_normalised_score_over_the_core_seconds_that_the_log_holds(tmp_path):
    write_log(tmp_path, ROWS)
    spent, score = trial.curve(tmp_path, "pong")
    assert spent.tolist() == [0, 4, 6, 8, 10]
    assert score[2:].tolist() == [0, 1, 1]
    assert trial.curve(tmp_path, "CartPole-v1")[1][2:].tolist() == [-20.7, 14.6, 14.6]  # no human score is known
    assert [len(values) for values in trial.curve(tmp_path / "none", "Pong")] == [0, 0]


@pytest.mark.parametrize(
    ("core_seconds", "area"),
    [
        (6, 0.0),  # the first score counts from the start
        (7, 0.25),  # a triangle from 6 to 7, half as high as one from 6 to 8
        (8, 1.0),
        (10, 3.0),  # and two core-seconds of 1
        (20, 13.0),  # the last score counts to the end
    ],
)
def test_a_score_is_the_area_under_the_curve_divided_by_the_core_seconds(tmp_path, core_seconds, area):
    write_log(tmp_path, ROWS)
    found = trial.mean_score(*trial.curve(tmp_path, "Pong"), core_seconds)
    assert found == pytest.approx(area / core_seconds)


def test_without_a_game_there_is_no_score(tmp_path):
    write_log(tmp_path, ROWS[:2])
    assert np.isnan(trial.mean_score(*trial.curve(tmp_path, "Pong"), 4))
    assert np.isnan(trial.mean_score(*trial.curve(tmp_path / "none", "Pong"), 4))


# Who ends early. Runs are made up: their score is what `scores` says of their trial.


@pytest.fixture
def made_up(monkeypatch, tmp_path):
    """Returns a function that makes a study of runs with these scores, and a list of what was done."""
    done = []

    def make(scores, plan=PLAN, at_once=1):
        class Run:
            def __init__(self, game, seed, flags, directory):
                self.game, self.trial, self.directory = game, seed - 1, directory

            def train(self, core_seconds):
                done.append((self.game, self.trial, core_seconds))
                if scores[self.trial] is None:
                    raise RunFailed("it broke")
                yield

            def mean_score(self, core_seconds):
                return scores[self.trial]

            def stop(self):
                done.append((self.game, self.trial, "stops"))

        monkeypatch.setattr(study, "TrialRun", Run)
        monkeypatch.setattr(study, "POLL_SECONDS", 0)
        monkeypatch.setattr(study, "usable_cores", lambda: 2)
        study.perform(plan, SEARCHED, tmp_path, len(scores), at_once)
        return study.read(tmp_path)[0].trials, done

    return make


def test_a_trial_that_falls_behind_ends_early(made_up):
    trials, _ = made_up([5.0, 1.0, 6.0, 2.0, 5.5, 4.0])
    quarters = [one.last_step for one in trials]
    assert quarters == [4, 1, 4, 1, 2, 1]  # trial 4: second of five, then third of three
    assert [one.state == TrialState.PRUNED for one in trials] == [last < 4 for last in quarters]
    assert [one.value for one in trials] == [5.0, 1.0, 6.0, 2.0, 5.5, 4.0]


def test_the_budget_is_minutes_of_all_cores_and_games_take_turns(made_up):
    plan = Plan(["Pong", "Boxing"], PLAN.search, [], 5.0)
    _, done = made_up([1.0], plan)
    shares = [(game, core_seconds) for game, _, core_seconds in done if core_seconds != "stops"]
    assert shares == [(game, core_seconds) for core_seconds in (150, 300, 600) for game in ("Pong", "Boxing")]
    assert done[1] == ("Pong", 0, "stops")  # before the other one trains


def test_a_run_that_fails_fails_its_trial_and_the_study_goes_on(made_up, capsys):
    trials, _ = made_up([None, NAN, 3.0], at_once=2)
    assert [one.state for one in trials] == [TrialState.FAIL, TrialState.FAIL, TrialState.COMPLETE]
    said = capsys.readouterr().out
    assert "Trial 0 has failed: it broke" in said
    assert "Trial 1 has failed: no game has ended within its budget" in said


def test_a_study_goes_on_as_it_was_begun_or_not_at_all(made_up, tmp_path):
    made_up([1.0])
    with pytest.raises(ConfigError, match="has other games and minutes: name another one"):
        made_up([1.0, 2.0], Plan(["Boxing"], PLAN.search, [], 6.0))
    trials, _ = made_up([1.0, 2.0])
    assert len(trials) == 2


def test_what_a_kill_leaves_in_the_journal_is_mended(made_up, tmp_path):
    made_up([1.0])
    journal = tmp_path / study.JOURNAL
    begun = study.read(tmp_path)[0].ask(SEARCHED)  # as a start leaves it that is killed
    with journal.open("ab") as file:
        file.write(b'{"op_code":5,"worker')
    os.symlink(journal, f"{journal}.lock")
    trials, _ = made_up([1.0, 2.0, 3.0])
    assert [one.state for one in trials] == [TrialState.COMPLETE] * 3
    assert trials[1].params == begun.params


# The report


def test_the_report_says_who_was_best_what_matters_and_what_to_type(made_up, tmp_path):
    scores = [float(score) for score in np.random.default_rng(1).permutation(16)]
    trials, _ = made_up(scores)
    for one in trials:
        write_log(tmp_path / "Pong" / f"trial-{one.number:03}", [(200 * i, 1, i + one.number) for i in range(6)])
    study_report.report(tmp_path)
    text = (tmp_path / "tune.md").read_text()
    best = trials[int(np.argmax(scores))]
    table = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert table[0] == ["| trial", "score", "of its budget", "t-max |"]
    assert table[1] == [f"| {best.number}", "15", "100 %", f"{best.params['t-max']} |"]
    assert len(table) == 1 + study_report.SHOWN
    assert "(PED-ANOVA): t-max 100 %." in text
    (line,) = [line for line in text.splitlines() if line.startswith("    ./run.sh ")]
    assert parse_settings(shlex.split(line)[1:]).settings.learning.t_max == best.params["t-max"]
    assert len(program.rows(tmp_path / "tune.csv")) == 16
    assert (tmp_path / "tune.png").stat().st_size > 5000


# The real thing


def test_a_study_is_stopped_and_goes_on(tmp_path):
    out = tmp_path / "study"
    arguments = ["tune", "--game", "CartPole-v1", "--search", "learning-rate=log:1e-4:1e-2", "--search", "t-max=5,20"]
    arguments += ["--trials", 2, "--at-once", 2, "--minutes", 0.05, "--name", out]
    arguments += ["--", "--agents", 1, "--envs-per-agent", 4, "--controller", "off", "--checkpoint-seconds", 1]
    runs = out / "CartPole-v1"

    started = Started(tmp_path / "log", *arguments)
    started.wait_for(lambda: list(runs.glob("*/checkpoints/*.npz")))
    assert started.stop() == 130, started.log.read_text()
    assert started.left_over() == []
    begun = {one.number: one.params for one in study.read(out)[0].trials}

    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert [one for one in runs.glob("*/messages.csv") if "Going on from" in one.read_text()]
    found = study.read(out)[0]
    assert all(found.trials[number].params == parameters for number, parameters in begun.items())
    assert len(found.trials) == 2
    assert all(one.state.is_finished() and one.state != TrialState.FAIL for one in found.trials)
    assert found.best_value > 9  # a game that ends at once has 8 or 9
    assert len(program.rows(out / "tune.csv")) == 2
    again = program.run("tune", "--name", out, "--report")
    assert again.stdout == ended.stdout[ended.stdout.index("2 trials:") :]


def test_the_example_of_its_help_is_understood():
    words = shlex.split(tune.DESCRIPTION.partition("./run.sh tune ")[2])
    own = words[: words.index("--")]
    plan, searched = planned(parse(TuneOptions, own, TuneOptions(), "", "tune"), words[len(own) + 1 :])
    assert (plan.games, list(searched)) == (["Pong", "Boxing"], ["kl-target", "frame-size-pixels"])


def test_after_three_failures_in_a_row_the_search_ends_and_goes_on_later(made_up, tmp_path):
    with pytest.raises(ConfigError, match=r"3 trials in a row have failed\. The last one: it broke"):
        made_up([None] * 5)
    assert len(study.read(tmp_path)[0].trials) == 3
