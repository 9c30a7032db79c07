"""The zoo: its lists, marks, estimate and table, what it refuses, and a real one, killed and gone on with."""

import json

import numpy as np
import pytest

from ga3c.__main__ import main
from ga3c.commands import zoo
from ga3c.commands.command_line import parse
from ga3c.commands.zoo import ZooOptions
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.errors import ConfigError
from ga3c.experiments import comparison, zoo_report
from ga3c.experiments.comparison import LearningRun
from ga3c.experiments.runs import FINISHED
from tests import program
from tests.finished_runs import learnt
from tests.program import SLOW, Started

RANDOM, HUMAN = ({rom: RANDOM_AND_HUMAN_SCORES[rom][which] for rom in zoo_report.LISTS["atari5"]} for which in (0, 1))


def plan(*words) -> list[LearningRun]:
    own, flags = zoo.divided(list(map(str, words)))
    return zoo.plan(parse(ZooOptions, own, ZooOptions(), "", "zoo"), flags)


def test_a_plan_has_each_game_once_in_one_spelling_with_each_seed():
    runs = plan("Atari5", "qbert", "ALE/Pong-v5", "pong", "CartPole-v1", "--seeds", 2, "--minutes", 3)
    games = ["BattleZone", "DoubleDunk", "NameThisGame", "Phoenix", "Qbert", "Pong", "CartPole-v1"]
    assert [(run.game, run.seed) for run in runs] == [(game, seed) for game in games for seed in (1, 2)]
    assert {(run.seconds, run.steps, run.flags) for run in runs} == {(180, 0, ())}
    assert [run.setting for run in runs] == ["ga3c-ppo"] * 12 + ["ga3c"] * 2
    assert [run.game for run in plan("SPEED", "--seeds", 1)] == ["Pong", "Breakout", "Boxing", "Qbert"]


def test_flags_of_train_are_handed_on_with_their_values():
    (run,) = plan("Pong", "--preset", "cule", "--seeds", 1, "--t-max=20", "--minutes", 1, "--games", 60)
    assert run.flags == ("--preset", "cule", "--t-max=20", "--games", "60")
    assert run.setting == "cule"
    assert (run.seconds, run.game, run.seed) == (60, "Pong", 1)


def test_flags_go_with_the_steps_that_are_asked_for():
    words = "Pong", "--preset", "ppo-paper", "--learning-rate-decay-steps", "5e6"
    with pytest.raises(ConfigError, match="learning-rate-decay-steps"):
        plan(*words, "--steps", "1e6")
    (run,) = plan("Pong", "--preset", "appo", "--learning-rate-schedule", "linear", "--steps", "1e6", "--seeds", 1)
    assert run.steps == 1_000_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "zoo needs games, before the flags of train, as in ./run.sh zoo Pong Boxing, or a list of them: atari5"),
        (["--minutes", "1"], "zoo needs games"),
        (["Pung"], "Unknown game 'Pung'. Nearest: Pong. Lists of games: atari5"),
        (["atari6"], "Lists of games: atari5"),
        (["Pong", "--minutes", "0"], "--minutes 0 is out of range"),
        (["Pong", "--minutes", "nan"], "--minutes nan is out of range"),
        (["Pong", "--seeds", "0"], "--seeds 0 is out of range"),
        (["Pong", "--episodes", "0"], "--episodes 0 is out of range"),
        (["Pong", "--steps", "-1"], "--steps -1 is out of range"),
        (["Pong", "--t-max", "0"], "--t-max 0 is out of range"),
        (["Pong", "--minuts", "3"], "Nearest: --minutes"),
        (["Pong", "CartPole-v1", "--frame-stack", "8"], "does not go with the game CartPole-v1"),
        (["Pong", "--seed", "3"], "--seed is not for zoo, which names games, seeds and directories itself"),
        (["Pong", "--resume"], "--resume is not for zoo"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_trained(arguments, said, tmp_path, capfd):
    assert main(["zoo", *arguments, "--out", str(tmp_path / "zoo")]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_estimate_is_that_of_aitchison():
    assert zoo_report.estimate(RANDOM) == ("atari5", 0)
    assert zoo_report.estimate({rom: score - 1 for rom, score in RANDOM.items()}) == ("atari5", 0)
    # 100 % in each game: 101 to the power of the sum of the weights, 0.9653005, and less 1
    assert zoo_report.estimate(HUMAN)[1] == pytest.approx(85.055, abs=0.01)
    # Battle Zone at 9 %, Q*bert at 99 %: 10 ** (0.3819751 + 2 * 0.0804852) - 1
    some = RANDOM | {"battle_zone": 2360 + 0.09 * 34827.5, "qbert": 163.88 + 0.99 * 13291.12, "pong": 3}
    assert zoo_report.estimate(some) == ("atari5", pytest.approx(2.4910, abs=0.0005))
    # Double Dunk half way: 10 ** (0.0679099 * log10(51)) - 1
    half = zoo_report.estimate(RANDOM | {"double_dunk": -17.475})
    assert half == ("atari5", pytest.approx(0.30607, abs=0.0001))


def test_three_games_have_an_estimate_of_their_own_and_fewer_none():
    three = {rom: HUMAN[rom] for rom in zoo_report.LISTS["atari3"]}
    # 101 to the power of 0.3705645 + 0.5132683 + 0.1015169, and less 1
    assert zoo_report.estimate(three) == ("atari3", pytest.approx(93.40, abs=0.01))
    assert zoo_report.estimate(three | {"qbert": 13455.0})[0] == "atari3"
    del three["phoenix"]
    assert zoo_report.estimate(three | {"pong": 20.0}) is None


def test_marks():
    marks = {game: zoo_report.marks(game) for game in ("ALE/Pong-v5", "breakout", "Boxing", "Qbert")}
    assert list(marks.values()) == [(18,), (300, 400), (90,), (10_000,)]
    assert [zoo_report.marks(game) for game in ("Phoenix", "CartPole-v1", "Adventure")] == [(7242.6,), (475,), ()]


def test_the_table_has_seeds_marks_and_the_estimate(tmp_path):
    outcomes = []
    means = {"Breakout": 350.0, "BattleZone": 10_000.0, "NameThisGame": 10_000.0, "Phoenix": 10_000.0}
    for game, mean in means.items():
        for seed in (1, 2):
            # 100 games of nothing, and then 100 of the score: one in 100 of it with each game
            run = LearningRun(game, "default", (), seed, 199 * 60.0)
            outcomes.append(learnt(run, tmp_path, mean + seed, 3.0, scores=np.repeat([0.0, mean + 150 * seed], 100)))
    words = zoo_report.report(outcomes, tmp_path)
    lines = words.splitlines()
    # Breakout: means of 500 and 650 after all games; 300 after 60 of the later ones, and after 47
    assert lines[3] == (
        "| Breakout | 351.5 | too few | 1214.6 % | 351.0, 352.0 | 6.57, 6.57 | 300 | 159.0, 146.0 | 0.95, 0.88 |"
    )
    assert lines[4] == "|  |  |  |  |  |  | 400 | 179.0, 161.0 | 1.07, 0.97 |"
    assert "| 37187.5 | -, - | -, - |" in lines[5]
    assert "Estimate of the median over 57 games (atari3): " in words
    assert (tmp_path / "zoo.md").read_text() == words.removeprefix("\n")
    rows = program.rows(tmp_path / "zoo.csv")
    assert [(row["game"], row["seed"], row["mark"]) for row in rows[:5]] == [
        ("Breakout", "1", "300"), ("Breakout", "1", "400"), ("Breakout", "2", "300"), ("Breakout", "2", "400"),
        ("BattleZone", "1", "37187.5"),
    ]  # fmt: skip
    assert [row["minutes_to_mark"] for row in rows[:5]] == ["159", "179", "146", "161", ""]
    assert rows[0]["sampled_human_normalized"] == "3"
    for name in ("zoo.png", "zoo-steps.png"):
        assert (tmp_path / name).stat().st_size > 5000


def test_intervals_are_over_seeds_or_where_they_are_few_over_games(tmp_path):
    outcomes = [learnt(LearningRun("Pong", "default", (), seed, 60.0), tmp_path, float(seed)) for seed in (1, 2, 3)]
    over_seeds = zoo_report.markdown(outcomes).splitlines()[2]
    assert "| Pong | 2.0 | -0.5 to 4.5 |" in over_seeds  # 2 +- 4.30 * 1 / 3 ** 0.5: Student's t
    for outcome in outcomes[:2]:
        seed = float(outcome.run.seed)
        outcome.evaluation["ways"]["sampled"]["scores"] = [seed - 1, seed, seed + 1]
    # A variance of 1 over 6 games is a standard error of 0.408, with 4 degrees of freedom: 1.5 +- 2.78 * 0.408
    assert "| Pong | 1.5 | 0.4 to 2.6 |" in zoo_report.markdown(outcomes[:2]).splitlines()[2]


# The real thing


@pytest.mark.long
def test_a_zoo_killed_twice_and_gone_on_with(tmp_path):
    out = tmp_path / "zoo"
    games = ["tests.tiny_environment:Match-v0", "CartPole-v1"]
    flags = ["--agents", 1, "--envs-per-agent", 4, "--checkpoint-seconds", 1, "--log-seconds", 1, "--controller", "off"]
    arguments = ["zoo", *games, "--seeds", 1, "--minutes", 0.1, "--episodes", 4, "--out", out, *flags, *SLOW]
    runs = out / "runs"

    started = Started(tmp_path / "first", *arguments)
    started.wait_for(lambda: list(runs.glob(f"*/{FINISHED}")))
    (finished,) = [file.parent.name for file in runs.glob(f"*/{FINISHED}")]
    started.wait_for(lambda: [f for f in runs.glob("*/checkpoints/*.npz") if f.parent.parent.name != finished])
    started.process.kill()

    other = program.run(*arguments, "--learning-rate", 1e-3)
    assert other.returncode == 2
    assert other.stderr.count("\n") == 1
    assert "was made with other settings: name another directory with --out." in other.stderr

    again = Started(tmp_path / "second", *arguments)
    again.wait_for(lambda: list(runs.glob(f"*/{comparison.EVALUATION}")))
    again.process.kill()
    assert started.left_over() == again.left_over() == []
    gone_on = [path.parent.name for path in runs.glob("*/messages.csv") if "Going on from" in path.read_text()]
    assert len(gone_on) == 1, "the unfinished run did not go on"
    assert gone_on != [finished], "the finished run was trained again"
    kept = {file: file.stat().st_mtime_ns for file in runs.glob(f"*/{comparison.EVALUATION}")}

    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert f"2 of 2 runs are finished in {out}" in ended.stdout
    assert {file: file.stat().st_mtime_ns for file in kept} == kept, "an evaluation was made again"
    rows = program.rows(out / "zoo.csv")
    assert [row["game"] for row in rows] == games
    assert all(float(row["minutes"]) >= 0.1 for row in rows)
    evaluations = [json.loads(file.read_text()) for file in runs.glob(f"*/{comparison.EVALUATION}")]
    assert [(found["episodes"], found["seed"]) for found in evaluations] == [(4, 1_001_000)] * 2
    assert (out / "zoo.md").read_text() in ended.stdout
