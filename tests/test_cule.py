"""Figures and tables of CuLE: their plans, what they say of made-up runs, and games on both emulators."""

import csv
import json

import pytest

from ga3c.commands.train_options import parse_settings
from ga3c.experiments.runs import directory_of
from ga3c.papers.cule import Options, fig10, table3
from ga3c.papers.cule.table3 import Strategy
from tests import program
from tests.finished_runs import make_run


@pytest.mark.parametrize(("scale", "games"), [("cpu", 1), ("full", 4)])
def test_table_3_has_the_papers_strategies(scale, games, tmp_path):
    runs = table3.plan(Options(scale))
    assert len({run.name for run in runs}) == len(runs) == 7 * games
    for run, strategy in runs.items():
        words = run.command(tmp_path)
        settings, _ = parse_settings(words[words.index("train") + 1 :])
        schedule, learning = settings.schedule, settings.learning
        assert (learning.algorithm, schedule.sampling, schedule.controller) == ("a2c-vtrace", "batched", "off")
        assert (schedule.games, schedule.batches, learning.t_max) == strategy[1:]
        assert settings.environment.emulator == strategy.engine
    assert {strategy.spu_steps for strategy in runs.values()} == {1, 5}
    for numbers in table3.PAPER.values():
        assert set(numbers) == set(table3.SCORES)
        for speed, updates, *_ in numbers.values():
            assert updates > 1
            assert speed > 2
    few = table3.plan(Options(games=(40,)))
    assert {strategy.games for strategy in few.values()} == {40}
    assert len(few) == 6  # the paper's two with 20 batches on ale-py differ in their games alone


def test_table_3_says_when_the_score_was_reached(tmp_path):
    options = Options()
    for number, run in enumerate(table3.plan(options)):
        make_run(run, tmp_path, trained_steps_per_second=3000.0, updates_per_second=25.0)
        with (directory_of(run, tmp_path) / "episodes.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seconds", "steps", "score", "length_steps", "agent"])
            # After 150 games, of 3 s each, the score is 20 (in the first run never): 18 is the mean 90 games later.
            writer.writerows([3 * i, 1000 * i, 20 if i > 150 and number else 0, 10, 0] for i in range(1, 301))
    words = table3.reproduce(options, tmp_path)
    assert "| Pong, 18 | ale | 120 | 1 | 5 | 5 | 3.00 (4.3) | 25.0 (7.2) | - (21.2) | - (5.5) |" in words
    assert "| Pong, 18 | ours | 1,200 | 20 | 20 | 1 | 3.00 (10.6) | 25.0 (8.9) | 12.0 (3.1) | 0.2 (2.0) |" in words
    rows = program.rows(tmp_path / "table3.csv")
    assert [row["paper_minutes"] for row in rows] == ["21.2", "12.2", "8.4", "8.7", "", "5.9", "3.1"]
    assert {row["minutes"] for row in rows[1:]} == {"12"}


def test_figure_10_is_of_both_emulators_and_says_how_many_games_are_the_same(tmp_path):
    assert fig10.shipped() == ("Boxing", "Breakout", "Pong", "Qbert")
    for emulator, scores in (("ale", [20.0, 19.0, 21.0]), ("ours", [20.0, 18.0, 21.0])):
        way = {"scores": scores, "mean": sum(scores) / 3, "low": 18.0, "high": 21.0, "std": 1.0, "min": 18, "max": 21}
        content = {"episodes": 3, "ways": {"sampled": way}}
        (tmp_path / f"Pong-{emulator}.json").write_text(json.dumps(content))
    words = fig10.reproduce(Options(game=("Pong",), episodes=3), tmp_path)
    assert "Pong: 20.00 on ale-py (18.00 to 21.00), 19.67 on ours (18.00 to 21.00); 2 of 3 games" in words
    assert (tmp_path / "fig10.png").stat().st_size > 5_000
    assert [row["emulator"] for row in program.rows(tmp_path / "fig10.csv")] == ["ale", "ours"]


def test_an_agent_plays_the_same_games_on_either_emulator(tmp_path):
    out = tmp_path / "both.json"
    words = "--game", "Pong", "--episodes", 2, "--most-steps", 60, "--emulator", "ale", "ours", "--json", out
    ended = program.run("evaluate", "results/pretrained/Pong", *words)
    assert ended.returncode == 0, ended.stderr
    assert "ale, sampled" in ended.stdout
    assert "ours, most probable" in ended.stdout
    content = json.loads(out.read_text())
    ale, ours = (content["emulators"][name] for name in ("ale", "ours"))
    assert ale["protocol"]["emulator"] == content["protocol"]["emulator"] == "ale"
    assert ours["protocol"]["emulator"] == "ours"
    assert ale["ways"] == ours["ways"]
    assert len(ale["ways"]["sampled"]["scores"]) == 2


def test_an_emulator_that_cannot_be_had_is_said():
    for words in (["--emulator", "ours", "--protocol", "machado"],):
        ended = program.run("evaluate", "results/pretrained/Pong", "--episodes", 1, *words)
        assert ended.returncode == 2
        assert ended.stderr.startswith("ga3c: ")
        assert len(ended.stderr.splitlines()) == 1


def test_strategies_by_name():
    assert str(Strategy("ours", 1200, 20, 20)) == "ours-1200games-20batches-20steps"
