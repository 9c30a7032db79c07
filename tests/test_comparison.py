"""Comparisons: their plans, what made-up runs come to, and a real one, stopped and gone on with."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ga3c.__main__ import main
from ga3c.commands import compare
from ga3c.commands.command_line import parse
from ga3c.commands.compare import CompareOptions, plan
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments import comparison, comparison_report
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import RunFailed
from ga3c.papers import accelerated
from ga3c.papers.accelerated import fig3 as accelerated_fig3
from ga3c.papers.ga3c import Options, ablation, fig5, fig6, fig7, table3
from ga3c.records import checkpoint
from tests import program
from tests.finished_runs import PROTOCOL, learnt
from tests.program import SLOW, Started

RUN = LearningRun("Pong", "default", (), 1, 60.0)


def options(*arguments) -> CompareOptions:
    return parse(CompareOptions, list(map(str, arguments)), CompareOptions(), "", "compare")


def test_the_score_over_training_is_over_what_the_run_has(tmp_path):
    """One that ends by its steps was given more time than it took; its last score does not count for the rest."""
    found = learnt(RUN, tmp_path, mean=20)
    given_more = comparison._outcome(replace(RUN, seconds=3600.0, steps=100), found.directory, 3, comparison.NEWEST)
    assert given_more.mean_over_time == pytest.approx(found.mean_over_time, abs=3)


def test_a_plan_is_settings_times_games_times_seeds():
    runs = plan(options("--setting", "a", "--setting", "b: --t-max 20 --learning-rate 1e-4",
                        "--game", "Pong", "Boxing", "--seeds", 2, "--minutes", 3))  # fmt: skip
    assert len(runs) == len({run.name for run in runs}) == 8
    assert {run.seconds for run in runs} == {180}
    assert {run.flags for run in runs} == {(), ("--t-max", "20", "--learning-rate", "1e-4")}
    assert {run.seed for run in runs} == {1, 2}
    assert runs[0].name == "Pong-a-seed1"
    assert len(plan(options("--game", "Pong", "pong", "ALE/Pong-v5", "--seeds", 2))) == 2  # a game counts once


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--setting", "a", "--setting", "a: --t-max 20"], "the same name"),
        (["--setting", "a: --t-max nothing"], "--t-max"),
        (["--setting", "a: --t-max 0"], "--t-max 0 is out of range"),
        (["--setting", "../a"], "letters, digits"),
        (["--game", "Pongg"], "Unknown game"),
        (["--seeds", "0"], "--seeds 0"),
        (["--minutes", "0"], "--minutes 0"),
        (["--setting", "x: --game Boxing"], "--game is not for a setting"),
        (["--setting", "x: --seed 3"], "--seed is not for a setting"),
        (["--minutes", "nan"], "--minutes nan"),
        (["--steps", "-1"], "--steps -1"),
        (["--episodes", "0"], "--episodes 0"),
        (["--setting", "a: --t-max '20"], "'a': No closing quotation"),
        (["--game", "Pong", "CartPole-v1"], "do not compare, different protocols: gymnasium, paper-"),
        (["--setting", "a", "--setting", "b: --protocol machado"], "do not compare, different protocols: machado-"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, said):
    games = [] if "--game" in arguments else ["--game", "Pong"]
    with pytest.raises(ConfigError, match=said):
        plan(options(*arguments, *games))


def test_without_a_game_it_asks_for_one_and_says_how_long_that_would_take(capsys):
    assert main(["compare", "--setting", "a", "--setting", "b: --t-max 20"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "ga3c: compare needs a game, as in --game Pong. It would make 6 runs for each game (2 settings, 3 seeds) of "
        "60.0 minutes of training, one after the other: about 6.0 hours.\n"
    )


def test_before_it_starts_it_says_what_it_will_do_and_how_long(monkeypatch, capsys):
    monkeypatch.setattr(compare, "made", lambda *_: 0)
    assert main(["compare", "--game", "Pong", "--seeds", "1", "--minutes", "5", "--steps", "1000"]) == 0
    assert capsys.readouterr().out == (
        "On Pong: 1 run (1 setting, 1 seed) of 5.0 minutes of training at most, or 1,000 steps, one after the other: "
        "about 5.2 minutes. Then each agent plays 30 games in each way.\n"
    )


def test_an_outcome_says_how_far_and_how_early_a_run_came(tmp_path):
    steady = learnt(RUN, tmp_path, mean=20.0)
    late = learnt(replace(RUN, seed=2), tmp_path, 20.0, scores=np.repeat([-20.0, 20.0], [190, 10]))
    assert steady.mean_over_time == pytest.approx(-7.5, abs=0.1)  # of the mean of 100 games: -20 to -10, then -10 to 10
    assert late.mean_over_time < -19
    assert late.mean_of_last_games == pytest.approx(-16)
    assert (steady.games, steady.collapses) == (200, 0)
    row = steady.row()
    assert (row["setting"], row["seed"], row["sampled_mean"], row["greedy_mean"]) == ("default", 1, "20", "21")
    assert row["protocol"] == PROTOCOL
    fell = np.concatenate([np.full(100, -20.0), np.linspace(-20, 20, 300), np.full(200, -20.0)])
    fallen = learnt(replace(RUN, seed=3), tmp_path, -20.0, scores=fell)
    assert fallen.collapses == 1
    back = learnt(replace(RUN, seed=4), tmp_path, 20.0, scores=np.concatenate([fell, np.full(200, 20.0)]))
    assert back.collapses == 0
    other = learnt(replace(RUN, setting="other"), tmp_path, 20.0)
    assert [a.collapses for a in comparison.aggregate([steady, fallen, other])] == [1, 0]


def test_the_median_is_not_the_mean(tmp_path):
    outcomes = [learnt(replace(RUN, seed=seed), tmp_path, mean) for seed, mean in enumerate((0.0, 1.0, 1.0, 8.0), 1)]
    (found,) = comparison.aggregate(outcomes)
    assert (found.median, found.score) == (1.0, 1.0)
    assert found.low < 1 < found.high


def test_what_was_evaluated_is_played_again_only_for_another_number_of_games(tmp_path):
    learnt(RUN, tmp_path, 5.0)
    assert comparison.make([RUN], tmp_path, 3)[0].evaluation["ways"]["sampled"]["mean"] == 5
    with pytest.raises(RunFailed, match=r"could not be evaluated.*No checkpoint"):  # this run is only made up
        comparison.make([RUN], tmp_path, 4)


def test_the_best_of_several_evaluations_counts(tmp_path):
    directory = learnt(RUN, tmp_path, 5.0).directory
    newest = json.loads((directory / comparison.EVALUATION).read_text())
    (directory / "checkpoints").mkdir()
    for steps, mean in ((100, 7.0), (200, 9.0), (300, 8.0)):
        name = f"network-{steps:012d}"
        checkpoint.keep_network(directory / "checkpoints", steps, {}, {})
        there = newest | {"exploration": 0.05, "ways": {"sampled": newest["ways"]["sampled"] | {"mean": mean}}}
        (directory / f"evaluation-{name}.json").write_text(json.dumps(there))
    best = comparison.Evaluation("dqn", best=True)
    (outcome,) = comparison.make([RUN], tmp_path, 3, best)
    assert outcome.evaluation["ways"]["sampled"]["mean"] == 9
    assert "5 % of all actions are random" in comparison_report.report([outcome], tmp_path, "best")
    assert comparison.make([RUN], tmp_path, 3)[0].evaluation["ways"]["sampled"]["mean"] == 5


def test_a_run_that_goes_on_gets_the_time_that_is_left(tmp_path):
    assert "--minutes 1.000" in " ".join(RUN.command(tmp_path))
    checkpoint.save(tmp_path / "checkpoints", 100, {}, {"totals": {"seconds": 45.0}}, keep=1)
    command = " ".join(RUN.command(tmp_path))
    assert f"--resume {tmp_path} --game Pong --minutes 0.250" in command  # named: or a game of one's own is refused


def test_aggregates(tmp_path):
    outcomes = [
        learnt(LearningRun(game, setting, (), seed, 60.0), tmp_path, mean + seed, normalized)
        for game, setting, mean, normalized in (
            ("Pong", "a", 0, 0.0), ("Pong", "b", 10, 1.0), ("Boxing", "a", 50, 0.5), ("Boxing", "b", 50, 0.5),
        )
        for seed in (1, 2, 3)
    ]  # fmt: skip
    outcomes = [o._replace(mean_over_time=10.0 * o.run.seed**2) for o in outcomes]
    found = {(a.game, a.setting): a for a in comparison.aggregate(outcomes)}
    assert set(found) == {(game, setting) for game in ("Pong", "Boxing", "") for setting in "ab"}
    pong = found["Pong", "b"]
    assert (pong.runs, pong.score, pong.median, pong.better_than_first) == (3, 12, 12, 1)
    assert (pong.low, pong.high) == pytest.approx((12 - 4.30 / 3**0.5, 12 + 4.30 / 3**0.5), abs=0.1)  # Student's
    assert found["", "b"].high - found["", "b"].low < pong.high - pong.low
    assert pong.over_time == pytest.approx(140 / 3)
    assert found["Boxing", "b"].better_than_first == 0.5
    assert found["", "b"].score == pytest.approx(0.75)
    assert found["", "b"].better_than_first == 0.75
    table = comparison_report.markdown(comparison.aggregate(outcomes)).splitlines()
    assert "| Pong | b | 3 | 12.00 |" in table[3]
    assert "| 46.67 |" in table[3]
    assert "| all, human-normalised | b | 6 | 0.75 |" in table[7]
    assert "|  |" in table[7]  # points of two games have no common mean


def test_a_report(tmp_path):
    outcomes = [learnt(replace(RUN, seed=seed), tmp_path, 5.0) for seed in (1, 2)]
    table = comparison_report.report(outcomes, tmp_path, "x")
    assert "| Pong | default | 2 | 5.00 | too few: 5, 5 |" in table
    assert "actions sampled from the policy" in table
    assert (tmp_path / "x.md").read_text() == table
    assert [row["seed"] for row in program.rows(tmp_path / "x-runs.csv")] == ["1", "2"]
    assert (tmp_path / "x.png").stat().st_size > 5000
    assert (tmp_path / "x-steps.png").stat().st_size > 5000


def test_runs_under_different_protocols_are_not_compared(tmp_path):
    outcomes = [learnt(RUN, tmp_path, 5.0), learnt(replace(RUN, seed=2), tmp_path, 5.0, fingerprint="own-1")]
    with pytest.raises(ConfigError, match=f"do not compare, different protocols: own-1, {PROTOCOL}"):
        comparison_report.report(outcomes, tmp_path, "x")
    assert not (tmp_path / "x.md").exists()


def test_the_figures_are_those_of_the_paper():
    settings = {run.setting: run.flags for run in fig5.plan(Options("full", game=("Pong",)))}
    assert " ".join(settings["controller"]) == "--preset paper --agents 1 --predictors 1 --trainers 1"
    assert " ".join(settings["NT2-NP2-NA128"][2:]) == "--agents 128 --predictors 2 --trainers 2 --controller off"
    assert {run.game for run in fig5.plan(Options())} == {"Boxing", "Pong"}
    full = fig6.plan(Options("full"))
    assert {run.setting for run in full} == {"rate-0.0003", "rate-0.0001"}
    assert {run.seed for run in full} == {1, 2, 3}
    sizes = [run.flags[-1] for run in fig7.plan(Options(seeds=1, seconds=5.0))]
    assert sizes == ["1", "20", "40", "80"]
    assert len(table3.plan(Options())) == len(table3.PAPER) == 9
    for figure in (fig5, fig6, fig7, table3, ablation):
        for scale in ("cpu", "full"):
            for run in figure.plan(Options(scale)):
                command = run.command(Path("nowhere"))
                parse_settings(command[4:])  # train takes it


def test_the_ablation_puts_everything_back_that_the_preset_changes():
    """But for the number of threads, which the controller finds."""
    flags = " ".join(ablation.SETTINGS.values())
    default, paper = (parse_settings(["--preset", name])[0] for name in ("ga3c", "paper"))
    for group in ("learning", "schedule"):
        for name, value in vars(getattr(paper, group)).items():
            if value != getattr(getattr(default, group), name) and name not in ("preset", "predictors", "trainers"):
                assert name.replace("_", "-") in flags, name


def test_table_3_has_the_best_seed_beside_the_papers_scores(tmp_path):
    options = Options(game=("Boxing", "Breakout"), seconds=3600.0, seeds=2, episodes=3)
    for run in table3.plan(options):
        learnt(run, tmp_path, 10.0 * run.seed)
    words = table3.reproduce(options, tmp_path)
    assert "| Boxing | 10 | -2 | 60 | 92 | 20.0 | 21.0 | 10.0, 20.0 | 66 | 2.0 |" in words
    assert "| Breakout | - | - | - | - | 20.0 |" in words
    assert (tmp_path / "table3.md").read_text() in words


def test_figures_5_and_7_say_what_the_settings_did(tmp_path):
    for figure, said in ((fig5, "TPS 100, 4.0 million frames, score"), (fig7, "batch-20: policy lag 1.0 updates")):
        options = Options(game=("Pong",), seconds=1800.0, seeds=2, episodes=3)
        out = tmp_path / figure.RUNS
        for run in figure.plan(options):
            learnt(run, out, 3.0)
        assert said in figure.reproduce(options, out)
        assert (out / f"{figure.RUNS}.png").exists()


def test_accelerated_figure_3_has_the_batches_of_the_paper():
    plan = accelerated_fig3.plan(accelerated.Options("full", game=("Pong",), seeds=1))
    for run, exchange in zip(plan.pop("appo"), (1, 2, 4), strict=True):
        settings = parse_settings(run.command(Path("nowhere"))[4:])[0]
        assert run.setting == f"appo-exchange-{exchange}"
        assert (settings.run.device_exchange_minibatches, settings.run.device_pull_steps) == (exchange, 64)
        assert settings.schedule.agents * settings.schedule.envs_per_agent == 8 * 8
        assert settings.learning.t_max == 256
    for algorithm, runs in plan.items():
        for run in runs:
            settings = parse_settings(run.command(Path("nowhere"))[4:])[0]
            schedule, learning = settings.schedule, settings.learning
            count = schedule.agents * schedule.envs_per_agent
            assert run.setting == f"{algorithm}-{count}"
            assert schedule.sampling == ("asynchronous" if algorithm == "a3c" else "synchronised")
            batch = {"a2c": 5 * count, "a3c": 80, "ppo": 2048}[algorithm]
            games = {"a3c": 16}.get(algorithm, count)  # of one update
            assert learning.minimum_batch_steps == games * learning.t_max == batch


def test_accelerated_figure_3_is_a_report_for_each_algorithm(tmp_path):
    options = accelerated.Options(games=(16, 32), episodes=3)
    for runs in accelerated_fig3.plan(options).values():
        for run in runs:
            learnt(run, tmp_path, float(run.setting.rpartition("-")[2]))
    words = accelerated_fig3.reproduce(options, tmp_path)
    for algorithm, first, second in (("a2c", 16, 32), ("a3c", 16, 32), ("ppo", 16, 32), ("appo-exchange", 1, 4)):
        file = f"fig3-{algorithm.partition('-')[0]}"
        rows = program.rows(tmp_path / f"{file}-runs.csv")
        assert [(row["setting"], row["sampled_mean"]) for row in rows] == [
            (f"{algorithm}-{first}", f"{first}"), (f"{algorithm}-{second}", f"{second}"),
        ]  # fmt: skip
        assert f"| Pong | {algorithm}-{second} | 1 | {second}.00 |" in words
        assert (tmp_path / f"{file}-steps.png").exists()


# The real thing


def test_a_comparison_stopped_and_gone_on_with(tmp_path):
    out = tmp_path / "compared"
    arguments = ["compare", "--game", "tests.tiny_environment:Match-v0", "--seeds", 1, "--minutes", 0.1]
    arguments += ["--episodes", 4, "--out", out]
    common = "--agents 1 --envs-per-agent 4 --checkpoint-seconds 1 --log-seconds 1 --controller off"
    common = " ".join([common, *SLOW])
    arguments += ["--setting", f"quick: {common} --learning-rate 0.002 --rmsprop-epsilon 1e-5"]
    arguments += ["--setting", f"still: {common} --learning-rate 1e-30"]
    started = Started(tmp_path / "log", *arguments)
    started.wait_for(lambda: list(out.glob("runs/*/checkpoints/*.npz")))
    (unfinished,) = [path.parent.name for path in out.glob("runs/*/checkpoints")]
    assert started.stop() == 130, started.log.read_text()
    assert started.left_over() == []
    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    rows = program.rows(out / "comparison-runs.csv")
    assert [row["setting"] for row in rows] == ["quick", "still"]
    (began,) = [path.parent for path in out.glob("runs/*/messages.csv") if "Going on from" in path.read_text()]
    assert began.name == unfinished, "it was made again, and did not go on"
    assert all(float(row["minutes"]) >= 0.1 and float(row["games"]) > 0 for row in rows)
    evaluations = [json.loads(file.read_text()) for file in out.glob(f"runs/*/{comparison.EVALUATION}")]
    assert [found["seed"] for found in evaluations] == [1_001_000] * 2
    assert "| tests.tiny_environment:Match-v0 | quick | 1 |" in ended.stdout
    assert f"2 of 2 runs are finished in {out}" in program.run(*arguments).stdout
