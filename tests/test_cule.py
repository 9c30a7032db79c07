"""Figures and tables of CuLE: their plans, what they say of made-up runs, and games on both emulators."""

import csv
import json
from itertools import product

import pytest

from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments import emulation
from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.papers.cule import Options, fig3, fig4, fig5, fig10, loads, table3, table4, table5
from ga3c.papers.cule.table3 import Strategy
from tests import program
from tests.finished_runs import make_run


@pytest.mark.parametrize(("scale", "games", "strategies"), [("cpu", 1, 4), ("full", 4, 8)])
def test_table_3_has_the_papers_strategies(scale, games, strategies, tmp_path):
    runs = table3.plan(Options(scale))
    assert len({run.name for run in runs}) == len(runs) == strategies * games
    for run, strategy in runs.items():
        words = run.command(tmp_path)
        settings = parse_settings(words[words.index("train") + 1 :])[0]
        schedule, learning = settings.schedule, settings.learning
        assert (learning.algorithm, schedule.sampling, schedule.controller) == ("a2c-vtrace", "batched", "off")
        assert (schedule.games, schedule.batches, learning.t_max, learning.return_lambda) == strategy[1:]
        assert settings.environment.emulator == strategy.engine
    (papers,) = {strategy for strategy in runs.values() if strategy.return_lambda == 1}
    assert papers._replace(return_lambda=0.95) in runs.values()
    assert {strategy.spu_steps for strategy in runs.values()} == {1, 5}
    for numbers in table3.PAPER.values():
        assert set(numbers) == set(table3.SCORES)
        for speed, updates, *_ in numbers.values():
            assert updates > 1
            assert speed > 2
    few = table3.plan(Options("full", games=(40,)))
    assert {strategy.games for strategy in few.values()} == {40}
    assert len(few) == 7 * 4  # of four games; the paper's two with 20 batches on ale-py differ in their games alone


def test_table_3_says_when_a_score_was_reached_and_which_was_not(tmp_path):
    """Of four runs, after 150 games of 3 s each: two stay at -21, one comes to 10, one to 20."""
    options = Options()
    for then, run in zip((-21, 10, 20, -21), table3.plan(options), strict=True):
        make_run(run, tmp_path, trained_steps_per_second=3000.0, updates_per_second=25.0)
        with (directory_of(run, tmp_path) / "episodes.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["seconds", "steps", "score", "length_steps", "agent"])
            writer.writerows([3 * i, 1000 * i, then if i > 150 else -1, 10, 0] for i in range(1, 301))
    words = table3.reproduce(options, tmp_path)
    start = "| Pong, 18 | ours | 120 |"
    assert f"{start} 1 | 5 | 0.95 | 5 | 3.00 (4.3) | 25.0 (7.2) | - (to 0) | - (21.2) | - (5.5) | -21.0 |" in words
    assert f"{start} 5 | 5 | 0.95 | 1 | 3.00 (3.4) | 25.0 (28.1) | 8.0 (to 0) | - (12.2) | - (2.5) | 10.0 |" in words
    # A mean of 100 games, 91 of them of 20, is 18.09; with 5 of 20 it is 0.05.
    start += " 20 | 20 |"
    assert f"{start} 0.95 | 1 | 3.00 (3.0) | 25.0 (24.9) | 7.8 (to 0) | 12.1 (8.4) | 0.2 (1.5) | 20.0 |" in words
    assert f"{start} 1 | 1 | 3.00 (3.0) | 25.0 (24.9) | - (to 0) | - (8.4) | - (1.5) | -21.0 |" in words
    assert "-: not reached in 4.5 minutes." in words
    rows = program.rows(tmp_path / "table3.csv")
    assert [row["paper_minutes"] for row in rows] == ["21.2", "12.2", "8.4", "8.4"]
    assert [row["minutes"] for row in rows] == ["nan", "nan", "12.05", "nan"]
    assert (tmp_path / "table3.png").stat().st_size > 5_000


def test_figure_10_is_of_both_emulators_and_says_how_many_games_are_the_same(tmp_path):
    assert {"Boxing", "Breakout", "Pong", "Qbert"} <= set(fig10.shipped())
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
    words = ["--emulator", "ours", "--protocol", "machado"]
    ended = program.run("evaluate", "results/pretrained/Pong", "--episodes", 1, *words)
    assert ended.returncode == 2
    assert ended.stderr.startswith("ga3c: ")
    assert len(ended.stderr.splitlines()) == 1


def test_strategies_by_name():
    assert str(Strategy("ours", 1200, 20, 20)) == "ours-1200games-20batches-20steps"


def test_figures_3_and_5_and_table_5_train_as_the_paper_says(tmp_path):
    plans = [fig3.plan(Options()), fig5.plan(Options()), table5.plan(Options("full"))]
    for runs in plans:
        assert len({run.name for run in runs}) == len(runs)
        for run, what in runs.items():
            words = run.command(tmp_path)
            settings = parse_settings(words[words.index("train") + 1 :])[0]
            assert settings.schedule.sampling == "batched"
            assert settings.schedule.games in what
            assert settings.environment.emulator in what
            assert settings.learning.algorithm in ("none", "a2c", "dqn", "ppo")
    inference, trained = (run for run, what in plans[1].items() if what[1:] == ("ours", 128))
    assert inference.flags[4:6] == ("--algorithm", "none")
    assert "none" not in trained.flags
    assert len(table5.plan(Options("full"))) == 3 * 2 * 2
    assert len(table5.PAPER) == 6


def test_figure_3_compares_in_rounds():
    """Of two games, with 8 at a time: ours is twice and four times as fast, in each round."""
    found = {}
    for load, (game, factor) in product(fig3.LOADS, (("Pong", 2), ("Boxing", 4))):
        found[load, game, "ale", 8] = [1000.0, 3000.0, 2000.0]
        found[load, game, "ours", 8] = [factor * rate for rate in found[load, game, "ale", 8]]
    assert fig3.over_games(found, "emulation", "ours") == {8: (4000.0, 6000.0, 8000.0)}
    said = fig3.words(found)
    assert "| emulation | 8 | 2.0K (2.0K to 2.0K) | 6.0K (4.0K to 8.0K) | - | 3.00 (2.00 to 4.00) |" in said
    assert "| 14.0K to 27.0K / 18.0K | 64.0K (41.0K to 155.0K) |" in said
    assert "| 18.0K (12.5K to 19.8K) / - | 56.0K (39.0K to 125.0K) |" in said


@pytest.mark.filterwarnings("ignore:Conversion of an array")  # matplotlib's own
@pytest.mark.parametrize(("figure", "load"), [(fig3, "emulation"), (fig5, "training")])
def test_figures_3_and_5_of_a_few_games(figure, load, tmp_path):
    options, name = Options(game=("Pong",), games=(2,), seconds=0.1), figure.__name__.rpartition(".")[2]
    for run in figure.plan(options):
        make_run(run, tmp_path, tps=400.0)
    assert f"| {load} | 2 | " in figure.reproduce(options, tmp_path)
    rows = program.rows(tmp_path / f"{name}.csv")
    assert {(row["load"], row["engine"]) for row in rows} >= {(load, "ale"), (load, "ours")}
    column = "frames_per_second_median" if figure is fig3 else "frames_per_second"
    assert {row[column] for row in rows if row["load"] != "emulation"} == {"8000"}
    assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    measured = next((tmp_path / "emulation").glob("Pong-2games.json"))
    known = json.loads(measured.read_text())
    known["found"]["ours"] = [1234.0]
    measured.write_text(json.dumps(known))
    assert "1.2K" in figure.reproduce(options, tmp_path)  # a second start goes on


def test_figure_3_of_all_games_is_of_emulation_alone_if_need_be():
    options = Options(all_games=True, games=(64,), loads=("emulation",))
    assert fig3.plan(options) == {}
    assert len(fig3.points(options)) == len(emulation.proven()) > 40
    assert ("Pong", 64) in fig3.points(options)


def test_a_speed_is_of_whole_updates_after_the_first_fifth_of_a_run(tmp_path):
    run = loads.inference("Pong", "ours", 8, 10.0)
    frames = [9000, 9000, 10_000, 10_000, 10_000, 13_000, 13_000, 13_000, 16_000, 16_000, 99_000]  # after each second
    directory_of(run, tmp_path).mkdir(parents=True)
    rows = "".join(f"{second},{count}\n" for second, count in enumerate(frames, 1))
    (directory_of(run, tmp_path) / "throughput.csv").write_text("seconds,frames\n" + rows)
    assert loads.frames_per_second(run, tmp_path) == 1000.0


def test_a_run_that_was_too_short_is_said(tmp_path):
    run = next(iter(table5.plan(Options())))
    make_run(run, tmp_path, tps=0.0)
    with pytest.raises(RunFailed, match="was too short to tell its speed"):
        loads.frames_per_second(run, tmp_path)


def test_table_5_lays_its_frames_beside_the_papers(tmp_path):
    options = Options()
    for run, (_, _, engine) in table5.plan(options).items():
        make_run(run, tmp_path, tps=1000.0 if engine == "ours" else 500.0)
    said = table5.reproduce(options, tmp_path)
    assert "| DQN | 256 | 10.0K (6.4K) | 20.0K (7.2K) | 2.00 | 1.12 | - | 14.4K |" in said
    assert {row["paper_frames_per_second"] for row in program.rows(tmp_path / "table5.csv")} >= {"6400", "10000"}


def test_table_4_lays_its_hours_beside_the_papers(tmp_path):
    options = Options()
    for run, (_, count) in table4.plan(options).items():
        make_run(run, tmp_path, tps=1000.0 * count)
    said = table4.reproduce(options, tmp_path)
    assert "| rainbow | 2.8 h (5,000 steps/s); paper 10.5 h | 1.4 h (10,000 steps/s); paper 5.1 h |" in said
    assert "parts of one CPU" in said
    assert [row["paper_hours"] for row in program.rows(tmp_path / "table4.csv")] == ["9.38", "4.45", "10.5", "5.1"]
    full = [run.flags for run in table4.plan(Options("full"))]
    assert len(full) == 8
    assert all(flags[-6:-4] == ("--games", "16384") and "gpu:0,1,2,3,4,5,6,7" in flags for flags in full[3::4])


@pytest.mark.long
def test_figure_4_equal_games_hold_nobody_up_until_they_part(tmp_path):
    steps = fig4.measure("Pong", 32, steps=5, every=4)
    first, later = steps
    assert 1.5 * later.by_frames < later.by_lines < first.by_lines <= 1
    assert 5000 < first.instructions_per_frame < 8000
    fig4.draw({"Pong": steps}, 32, tmp_path / "fig4.png")
    assert (tmp_path / "fig4.png").stat().st_size > 5_000
    assert "Pong: " in fig4.words({"Pong": steps})
    with pytest.raises(ConfigError, match="--games 33 is out of range"):
        fig4.reproduce(Options(games=(33,)), tmp_path)
