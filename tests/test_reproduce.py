"""The paper's figures: their plans, pictures of made-up runs, and one from real runs."""

import csv
import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from PIL import Image, ImageColor

from ga3c.algorithms import exploration
from ga3c.commands import reproduce
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.experiments.throughput import SpeedRun
from ga3c.machine import usable_cores
from ga3c.papers import accelerated, fast_dqn, replayed
from ga3c.papers.accelerated import devices as accelerated_devices
from ga3c.papers.accelerated import fig2 as accelerated_fig2
from ga3c.papers.accelerated import fig4 as accelerated_fig4
from ga3c.papers.accelerated import fig5 as accelerated_fig5
from ga3c.papers.accelerated import sampling, table1, table3
from ga3c.papers.accelerated import table2 as accelerated_table2
from ga3c.papers.fast_dqn import table1 as fast_dqn_table1
from ga3c.papers.ga3c import Options, fig2, fig3, fig4, table2
from ga3c.settings import devices
from ga3c.settings.learning import Network
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.views import drawing
from ga3c.views.drawing import COLOURS
from tests import program
from tests.finished_runs import make_run
from tests.program import Started

RUN = SpeedRun("Pong", 4, 2, 1, seconds=50.0)


@pytest.mark.parametrize(("scale", "settings", "games"), [("cpu", 36, 16), ("full", 100, None)])
def test_figure_3_is_the_whole_grid_of_the_paper(scale, settings, games):
    runs = fig3.grid(Options(scale))
    assert len(runs) == len({run.name for run in runs}) == settings
    assert {run.envs_per_agent for run in runs} == {games}
    assert {(run.game, run.network, run.controller) for run in runs} == {("Pong", "small", "off")}
    if scale == "full":
        assert {run.seconds for run in runs} == {16 * 60}
        assert {run.agents for run in runs} == {16, 32, 64, 128}
        assert {run.predictors for run in runs} == {run.trainers for run in runs} == {1, 2, 4, 8, 16}


def test_the_larger_networks_run_with_the_best_setting():
    networks = [run.network for run in fig3.larger(RUN, Options())]
    assert networks == [f"large-stride-{stride}" for stride in (4, 3, 2, 1)]
    assert {replace(run, network="auto") for run in fig3.larger(RUN, Options())} == {RUN}


def test_a_figure_can_be_made_smaller():
    shrunk = {"agents": (1,), "predictors": (2, 3), "trainers": (1,), "seconds": 7.0}
    runs = fig3.grid(Options(**shrunk, game=("Boxing",), network=("large-stride-4",)))
    assert [(run.agents, run.predictors, run.trainers) for run in runs] == [(1, 2, 1), (1, 3, 1)]
    assert {(run.game, run.seconds, run.network) for run in runs} == {("Boxing", 7.0, "large-stride-4")}
    assert fig3.larger(runs[0], Options(network=("large-stride-4",))) == []


def test_figure_2_and_table_2():
    runs = fig2.plan(Options())
    assert set(runs) == {(game, rule) for game in ("Boxing", "Pong") for rule in ("on", "paper")}
    assert {(run.agents, run.predictors, run.trainers) for run in runs.values()} == {(1, 1, 1)}
    train = (None, None, "ga3c")  # what it does without a flag
    assert {(run.envs_per_agent, run.t_max, run.preset) for run in runs.values()} == {train}
    full = table2.plan(Options("full"))
    ga3c, a3c = full[:5], full[5:]
    assert [run.network for run in ga3c] == [run.network for run in a3c] == list(table2.PAPER["I"])
    assert {(run.agents, run.predictors, run.trainers) for run in ga3c} == {(128, 2, 2)}
    assert {(run.preset, run.agents, run.envs_per_agent) for run in a3c} == {("a3c-cores", usable_cores(), 1)}


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_train_takes_every_run(scale, tmp_path):
    options = Options(scale)
    fig3_and_table_2 = [fig3.grid(options)[-1], *table2.plan(options)[:5]]
    for run in [*fig3_and_table_2, *fig2.plan(options).values()]:
        words = replace(run, controller="on").command(tmp_path)
        settings = parse_settings(words[words.index("train") + 1 :])[0]
        expected = with_presets(Settings(), {"cpu": "ga3c", "full": "paper"}[scale], None)
        schedule = {"agents": run.agents, "predictors": run.predictors, "trainers": run.trainers, "controller": "on"}
        learning = {"network": run.network, "seed": 1}
        if run in fig3_and_table_2 and scale == "cpu":
            schedule |= {"envs_per_agent": 16}
            learning |= {"t_max": 5}
        assert settings.schedule == replace(expected.schedule, **schedule)
        assert settings.learning == replace(expected.learning, **learning)
        assert settings.run.minutes * 60 == pytest.approx(run.seconds)
        assert settings.run.run_dir == str(tmp_path)
    for run in table2.plan(options)[5:]:
        words = run.command(tmp_path)
        settings = parse_settings(words[words.index("train") + 1 :])[0]
        assert (settings.learning.network, settings.learning.t_max) == (run.network, 5)


def test_the_networks_exist():
    assert set(fig3.NETWORKS) == set(table2.NETWORKS) == set(get_args(Network)) - {
        "auto", "compact", "mlp", "separate-mlp", "pqn", "pqn-mlp", "dqn", "dqn-mlp", "dpg-mlp",
    }  # fmt: skip


# Figures of made-up runs


def colours(file) -> set[int]:
    """Which of the first four colours the picture holds, as a bar or line would."""
    with Image.open(file) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB"))
    cycle = [ImageColor.getrgb(colour) for colour in COLOURS[:4]]
    return {i for i, colour in enumerate(cycle) if (pixels == colour).all(axis=2).sum() > 50}


def tps_of(run: SpeedRun) -> float:
    """1/1 is best for one agent, 4/1 for two; larger networks are slower."""
    best = {1: (1, 1), 2: (4, 1)}[run.agents]
    slower = {"small": 1, "large-stride-4": 0.5, "large-stride-1": 0.1}[run.network]
    far = abs(run.predictors - best[0]) + 2 * abs(run.trainers - best[1])
    return (100 * run.agents - 10 * far) * slower


@pytest.fixture
def figure_3(tmp_path):
    """Options and a directory that holds all runs for them."""
    options = Options(agents=(1, 2), network=("small", "large-stride-4", "large-stride-1"))
    runs = fig3.grid(options)
    for run in [*runs, *fig3.larger(max(runs, key=tps_of), options)]:
        make_run(run, tmp_path, tps=tps_of(run), training_queue=run.trainers, mean_prediction_batch=8 / run.predictors)
    return options, tmp_path


def test_top_three(figure_3):
    options, out = figure_3
    measured = fig3.measure_grid(options, out)
    shown = {n: [(run.predictors, run.trainers) for run in runs] for n, runs in fig3.top(measured).items()}
    assert shown == {1: [(1, 1), (2, 1), (1, 2)], 2: [(4, 1), (2, 1), (4, 2)]}


def test_figure_3(figure_3, capsys):
    options, out = figure_3
    words = fig3.reproduce(options, out)
    assert "N_A = 2, N_P = 4, N_T = 1 with 200 TPS, 2.00 times the best with N_A = 1 " in words
    assert "The lowest shown is 60 % below the best" in words
    assert "large-stride-4 -50 %, large-stride-1 -90 %" in words
    rows = program.rows(out / "fig3.csv")
    assert len(rows) == 2 * 9 + 2
    best = max(rows, key=lambda row: float(row["tps_median"]))
    assert (best["agents"], best["predictors"], best["trainers"]) == ("2", "4", "1")
    assert float(best["tps_normalised_median"]) == 1
    assert [float(row["tps_normalised_median"]) for row in rows[-2:]] == [0.5, 0.1]
    assert colours(out / "fig3.png") == {0, 1, 2}  # one agent, two agents, larger networks
    assert "18 of 18 runs are finished" in capsys.readouterr().out


@pytest.mark.parametrize(("figure", "nothing"), [(fig3, "tps"), (fig4, "tps"), (table2, "pps")])
def test_a_run_in_which_hardly_anything_happened_is_not_measured(figure, nothing, tmp_path):
    options = Options(agents=(1,), predictors=(1,), trainers=(1,), network=("small",))
    for run in figure.plan(options) if figure is table2 else fig3.grid(options):
        make_run(run, tmp_path, **{nothing: 0.0})
    with pytest.raises(RunFailed, match="too slow to be measured"):
        figure.reproduce(options, tmp_path)


def test_figure_4_is_of_the_same_runs(figure_3):
    options, out = figure_3
    words = fig4.reproduce(options, out)
    assert "(N_A = 2, N_P = 4, N_T = 1) has prediction batches of 2.0 states, number 5 of 6" in words
    assert "The longest training queue is 32 rollouts" in words
    rows = program.rows(out / "fig4.csv")
    assert [row["agents"] for row in rows] == ["1"] * 3 + ["2"] * 3
    assert [float(row["prediction_batch_mean"]) for row in rows] == [8, 4, 8, 2, 4, 2]
    assert colours(out / "fig4.png") == {0, 1}


def test_figure_2(tmp_path):
    runs = fig2.plan(Options())
    for (_, rule), run in runs.items():
        make_run(run, tmp_path, tps=100 if rule == "on" else 50, rows=40, agents=1, predictors=1, trainers=1)
        if rule == "on":
            file = directory_of(run, tmp_path) / "throughput.csv"
            rows = program.rows(file)
            for i, row in enumerate(rows):
                row |= {"tps": min(10 * i + 10, 200) if i < 40 else 0, "agents": 1 + i // 6}
            with file.open("w", newline="") as opened:
                writer = csv.DictWriter(opened, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    words = fig2.reproduce(Options(), tmp_path)
    assert "Pong, our controller: TPS 35 at first, 200 in the last quarter, most of it at NT 1 NP 1 NA 6." in words
    assert "Boxing, the paper's rule: TPS 50 at first, 50 in the last quarter" in words
    rows = program.rows(tmp_path / "fig2.csv")
    assert [(row["game"], row["rule"], row["agents"]) for row in rows] == [
        ("Boxing", "on", "6"), ("Boxing", "paper", "1"), ("Pong", "on", "6"), ("Pong", "paper", "1"),
    ]  # fmt: skip
    assert float(rows[0]["tps_lowest"]) == 200, "the stop counts"
    assert colours(tmp_path / "fig2.png") >= {0, 1}


def test_table_2(tmp_path):
    options = Options(network=("small", "large-stride-4", "large-stride-1"))
    for run in table2.plan(options):
        fast, slower = run.network == "small", 10 if run.preset == "a3c-cores" else 1
        make_run(run, tmp_path, tps=(300 if fast else 100) / slower, cores_used=1.5 if fast else math.nan)
    words = table2.reproduce(options, tmp_path)
    lines = (tmp_path / "table2.md").read_text().splitlines()
    papers = "352 / 1361 / 32 / 56 | 116 / 728 / 62 / 33 | 300 / 1248 / 31 / 60"
    assert lines[2] == f"| small | 150 | 1,500 | 1,500 to 1,500 | 10.0 | 75 | - | {papers} |"
    assert lines[3] == "| large-stride-4 | 50 | 500 | 500 to 500 | 10.0 | - | - | 113 / 1271 / 27 / 68 | - | - |"
    assert lines[2] in words
    assert "small is 3.0 times as fast as large-stride-1 (paper: 2.8 on System I, 2.2 on System II, 4.9 on" in words
    rows = program.rows(tmp_path / "table2.csv")
    assert [row["paper_I_pps"] for row in rows] == 2 * ["1361", "1271", "490"]
    assert [row["paper_III_a3c_pps"] for row in rows] == 2 * ["300", "", "38"]
    assert rows[0]["cpu_percent_median"] == "75"


# Figures of accelerated methods


PONG = str(program.ROOT / "results" / "pretrained" / "Pong")


@pytest.mark.parametrize(("figure", "t_max", "trained"), [(accelerated_fig2, 50, None), (table1, 5, PONG)])
def test_runs_that_sample_learn_nothing_and_keep_to_their_cores(figure, t_max, trained, tmp_path):
    runs = figure.plan(accelerated.Options(cores=(1,), games=(2, 8), start_from=trained))
    assert len(runs) == len({run.name for run in runs}) == 2 * len({run.sampling for run in runs})
    for run in runs:
        words = run.command(tmp_path)
        assert words[:3] == ["taskset", "--cpu-list", str(sampling.usable()[0])]
        settings = parse_settings(words[words.index("train") + 1 :])[0]
        schedule, learning = settings.schedule, settings.learning
        assert (schedule.agents, 2 * schedule.envs_per_agent) == (2, run.games_per_core)
        assert (schedule.sampling, schedule.controller) == (run.sampling, "off")
        assert (learning.algorithm, learning.t_max) == ("none", t_max)
        assert settings.run.start_from == trained


def test_accelerated_figure_2(tmp_path, monkeypatch):
    options = accelerated.Options(cores=(1,), games=(2, 8))
    for run in accelerated_fig2.plan(options):
        make_run(run, tmp_path, tps=20 * run.games_per_core)  # a fifth of its samples per second
    monkeypatch.setattr(accelerated_fig2, "without_inference", lambda game, cores, seconds: 1000.0 * cores)
    words = accelerated_fig2.reproduce(options, tmp_path)
    assert "1 core: 1000 samples/s each without inference; 20 % with 2, 80 % with 8 games." in words
    rows = program.rows(tmp_path / "fig2.csv")
    names = ("cores", "games_per_core", "samples_per_second_per_core_median", "without_inference", "share_of_that")
    assert [[float(row[name]) for name in names] for row in rows] == [[1, 2, 200, 1000, 0.2], [1, 8, 800, 1000, 0.8]]
    assert colours(tmp_path / "fig2.png") == {0}


def test_accelerated_figure_2_is_of_one_core(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "usable", lambda: [3, 5])
    options = accelerated.Options(games=(8,))
    for run in accelerated_fig2.plan(options):
        make_run(run, tmp_path, tps=100.0)
    assert run.command(tmp_path)[2] == "3,5"
    monkeypatch.setattr(accelerated_fig2, "without_inference", lambda game, cores, seconds: 1000.0)
    accelerated_fig2.reproduce(options, tmp_path)
    rows = program.rows(tmp_path / "fig2.csv")
    assert [(row["cores"], row["samples_per_second_per_core_median"]) for row in rows] == [("1", "500"), ("2", "250")]


def test_table_1_is_beside_the_papers(tmp_path):
    options = accelerated.Options(cores=(1,), games=(2, 32))
    for run in table1.plan(options):
        make_run(run, tmp_path, tps={"synchronised": 100, "alternating": 200, "asynchronous": 300}[run.sampling])
    words = table1.reproduce(options, tmp_path)
    assert "| 2 (2) | 500 | 1,000 | 1,500 | 64 | 29,600 | 31,900 |" in words
    assert "| 32 (32) | 500 | 1,000 | 1,500 | - | - | - |" in words
    assert "2 games per core: asynchronous is 1.50 of alternating (paper: 1.08)." in words
    rows = program.rows(tmp_path / "table1.csv")
    assert [(row["sampling"], row["games"], row["pps_median"]) for row in rows[:3]] == [
        ("synchronised", "2", "500"), ("synchronised", "32", "500"), ("alternating", "2", "1000"),
    ]  # fmt: skip
    assert [row["paper_asynchronous_thousands"] for row in rows[:2]] == ["31.9", ""]
    assert colours(tmp_path / "table1.png") == {0, 1, 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fig2", "--games", "3"], "--games 3 is odd"),
        (["fig2", "--cores", "4096"], "--cores 4096 is out of range"),
        (["table1", "--cores", "1", "2"], "--cores takes one value"),
        (["fig3", "--games", "12"], "powers of 2"),
        (["fig3", "--games", "0"], "--games 0 is out of range"),
        (["fig4", "--batches", "0"], "--batches 0 is out of range"),
        (["table3", "--game", "Pong", "Boxing"], "--game takes one value"),
        (["table4"], "There is no table4"),
        (["table2", "--devices", "0"], "--devices 0 is out of range"),
    ],
)
def test_what_an_accelerated_figure_refuses(words, said):
    with pytest.raises(ConfigError, match=said) as refused:
        reproduce.run(["accelerated", *words])
    assert "\n" not in str(refused.value)


# Q-learning


def settings_of(run, directory):
    words = run.command(directory)
    return parse_settings(words[words.index("train") + 1 :])[0]


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_the_14_variants_of_fast_dqn(scale, tmp_path):
    cells = fast_dqn_table1.plan(fast_dqn.Options(scale))
    assert len(cells) == 14
    assert len({run.name for trials in cells.values() for run in trials}) == 14 * (5 if scale == "full" else 1)
    usual = with_presets(Settings(), "dqn", None).replay
    for (name, games), trials in cells.items():
        settings = settings_of(trials[-1], tmp_path)
        schedule, learning, replay = settings.schedule, settings.learning, settings.replay
        assert (schedule.agents, schedule.envs_per_agent, schedule.controller) == (games, 1, "off")
        assert (schedule.sampling == "synchronised") == (name in ("synchronised", "both"))
        assert replay.concurrent_training == (name in ("concurrent", "both"))
        assert learning.algorithm == "dqn"
        assert [exploration.epsilon(steps, learning, games) for steps in (0, 1)] == pytest.approx([1.0, 0.1])
        assert (learning.seed, settings.run.plot_seconds) == (len(trials), 0)
        assert (replay.batch, replay.steps_per_update) == (32, 4)
        assert (replace(replay, concurrent_training=False) == usual) == (scale == "full")


def test_fast_dqns_table_is_beside_the_papers(tmp_path):
    options = fast_dqn.Options(games=(8, 3), seeds=2)
    speed = {"standard": 10, "concurrent": 20, "synchronised": 15, "both": 40}  # with one game, TPS
    for (name, games), trials in fast_dqn_table1.plan(options).items():
        for run, factor in zip(trials, (1.25, 1), strict=True):
            make_run(run, tmp_path, tps=speed[name] * games * factor)
    words = fast_dqn_table1.reproduce(options, tmp_path)
    # 62.5 and 50 steps/s are 222.22 and 277.78 hours
    assert "| 1 | standard | 56 | 250.00 ± 39.28 | 100.0 % | 1.00 | 25.08 | 100.0 % | 1.00 |" in words
    assert "| 8 | both | 1,800 | 7.81 ± 1.23 | 3.1 % | 32.00 | 9.02 | 36.0 % | 2.78 |" in words
    assert "| 3 | concurrent | 338 | 41.67 ± 6.55 | 16.7 % | 6.00 | - | - | - |" in words
    assert "The fastest is both with 8 games: 32.00 times standard DQN with one game (paper: 2.78;" in words
    rows = program.rows(tmp_path / "table1.csv")
    assert len(rows) == 2 * (2 + 2 * 4)
    assert [rows[0][name] for name in ("variant", "games", "seed", "hours", "speed_up", "paper_speed_up")] == [
        "standard", "1", "1", "222.222", "1.0000", "1.0000",
    ]  # fmt: skip
    assert colours(tmp_path / "table1.png") == {0, 1, 2, 3}


def test_fast_dqns_picture_has_room_for_the_faster_of_both(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(drawing, "save", lambda figure, file: drawn.append(figure))
    cells = fast_dqn_table1.plan(fast_dqn.Options())
    for speed in (1.3, 9.0):
        fast_dqn_table1.draw(dict.fromkeys(cells, speed), "Pong", tmp_path / "table1.png")
        assert all(axis.get_ylim()[1] > max(speed, 2.78) for axis in drawn.pop().axes)
    of_one_game = dict.fromkeys(fast_dqn_table1.plan(fast_dqn.Options(games=(1,))), 2.0)
    fast_dqn_table1.draw(of_one_game, "Pong", tmp_path / "table1.png")
    assert all(isinstance(y, float) for line in drawn.pop().axes[0].lines for y in line.get_ydata())


def test_the_speed_is_without_the_filling_of_the_memory_and_where_a_block_is_cut(tmp_path):
    """Blocks of 100 steps in 10 seconds, all played in the first 2 of them."""
    run = fast_dqn_table1.plan(fast_dqn.Options(seconds=100.0))["both", 8][0]
    make_run(run, tmp_path, rows=100)
    file = directory_of(run, tmp_path) / "throughput.csv"
    rows = program.rows(file)
    for second, row in enumerate(rows, start=1):
        filled = second > 33
        row["steps"] = 100 * (second // 10 + min(1, second % 10 / 2)) + 15_000 if filled else 450 * second
        row["updates_per_second"] = 2.5 if filled else 0
    rows[-1]["steps"] = 1e6  # of the stop
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    assert replayed.steps_per_second(run, tmp_path) == pytest.approx(10, rel=0.05)


def test_what_learned_too_late_is_not_measured(tmp_path):
    run = fast_dqn_table1.plan(fast_dqn.Options())["standard", 1][0]
    make_run(run, tmp_path, updates_per_second=0.0)
    with pytest.raises(RunFailed, match="learned too late"):
        replayed.steps_per_second(run, tmp_path)
    stuck = fast_dqn_table1.plan(fast_dqn.Options())["standard", 2][0]
    make_run(stuck, tmp_path)
    path = directory_of(stuck, tmp_path) / "throughput.csv"
    header, *rows = csv.reader(path.open())
    at = header.index("steps")
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:at], "7", *row[at + 1 :]] for row in rows)])
    with pytest.raises(RunFailed, match="learned too late"):
        replayed.steps_per_second(stuck, tmp_path)


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_figure_4_of_accelerated_methods_is_of_batches(scale, tmp_path):
    runs = accelerated_fig4.plan(accelerated.Options(scale))
    assert list(runs) == ["dqn", "c51"]
    for algorithm, group in runs.items():
        assert {run.setting for run in group} >= {f"{algorithm}-32", f"{algorithm}-512"}
        for run in group:
            settings, batch = settings_of(run, tmp_path), int(run.setting.rpartition("-")[2])
            schedule, replay = settings.schedule, settings.replay
            assert (settings.learning.algorithm, replay.batch) == (algorithm, batch)
            assert settings.environment.start_steps_limit  # section 5.3: all experiments
            assert replay.steps_per_update == batch // 8  # each transition is learned from 8 times
            assert schedule.agents * schedule.envs_per_agent == max(8, replay.steps_per_update)
    (run,) = accelerated_fig4.plan(accelerated.Options(batches=(64,), seconds=60.0))["dqn"]
    assert (run.setting, run.seconds, run.steps) == ("dqn-64", 60.0, 0)


def test_table_3_of_accelerated_methods(tmp_path):
    options = accelerated.Options()
    for run in table3.plan(options):
        make_run(run, tmp_path, tps=100.0)
        settings = settings_of(run, tmp_path)
        assert (settings.learning.preset, settings.replay.batch) == (run.preset, run.batch)
        assert settings.schedule.agents * settings.schedule.envs_per_agent == run.batch // 8
    words = table3.reproduce(options, tmp_path)
    assert "| dqn-512 | one | 500 | 27.8 | 8.3 | 4.8 | 3.1 | 2.6 |" in words
    assert "| c51-2048 | one | 500 | 27.8 | 10.7 | 6.0 | 2.8 | 1.8 |" in words
    assert [row["paper_hours_1_gpus"] for row in program.rows(tmp_path / "table3.csv")] == ["8.3", "14.1", "10.7"]


def test_table_3_on_parts_of_the_cores(tmp_path):
    runs = table3.plan(accelerated.Options(devices=(1, 2)))
    assert [run.devices for run in runs] == [*[None, "cpu:2"] * 3, "cpu:2"]
    assert len({run.name for run in runs}) == 7
    assert [run.preset for run in runs if run.device_updates] == ["dqn"]
    for run in runs:
        assert settings_of(run, tmp_path).run.devices == run.devices
        make_run(run, tmp_path, tps=100.0)
    words = table3.reproduce(accelerated.Options(devices=(1, 2)), tmp_path)
    assert "| dqn-512 | cpu:2, asynchronous | 500 | 27.8 | - | - | 3.9 | - |" in words


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_table_2_of_accelerated_methods(scale, tmp_path):
    options = accelerated.Options(scale)
    runs = accelerated_table2.plan(options)
    assert (
        len({run.name for run in runs})
        == len(runs)
        == sum(map(len, accelerated_table2.PAPER.values()))
        - (
            8 if scale == "cpu" else 0  # 4 and 8 devices
        )
    )
    for run in runs:
        make_run(run, tmp_path, tps=100.0)
        settings = settings_of(run, tmp_path)
        schedule, alone = settings.schedule, run.algorithm in ("a2c", "ppo")
        assert settings.learning.algorithm == {"a3c": "a2c", "appo": "ppo"}.get(run.algorithm, run.algorithm)
        assert settings.run.device_updates == ("synchronous" if alone else "asynchronous")
        count = len(devices.named(run.devices)[1]) if run.devices else 1
        games = accelerated_devices.GAMES[run.algorithm]
        assert schedule.agents * schedule.envs_per_agent == games * count
        assert schedule.agents % count == 0
    words = accelerated_table2.reproduce(options, tmp_path)
    assert "27.78 h (500 steps/s); paper 3.8 h" in words
    assert ("not a speed-up" in words) == (scale == "cpu")


def test_figure_5_of_accelerated_methods(tmp_path):
    runs = accelerated_fig5.plan(accelerated.Options())
    assert list(runs) == [("Pong", algorithm) for algorithm in ("a2c", "a3c", "ppo", "appo")]
    for (_, algorithm), group in runs.items():
        for run in group:
            settings = settings_of(run, tmp_path)
            assert settings.run.devices == "cpu:2"
            assert settings.environment.start_steps_limit
            assert settings.run.device_updates == ("synchronous" if algorithm in ("a2c", "ppo") else "asynchronous")
    appo = settings_of(runs["Pong", "appo"][0], tmp_path).learning
    assert (appo.learning_rate, appo.learning_rate_decay_steps, appo.t_max) == (6.25e-5, 0, 256)
    assert settings_of(runs["Pong", "ppo"][0], tmp_path).learning.t_max == 128  # 16 games: 2,048 steps


# The real thing


@pytest.mark.long
def test_a_figure_from_real_runs_stopped_and_gone_on_with(tmp_path):
    out = tmp_path / "figure"
    arguments = ["reproduce", "fig3", "--game", "tests.tiny_environment:Match-v0", "--network", "mlp", "--out", out]
    arguments += ["--agents", "1", "2", "--predictors", "1", "--trainers", "1", "--seconds", "5"]
    started = Started(tmp_path / "log", *arguments)
    one_finished = lambda: len(list(out.glob("runs/*/finished.json"))) == 1  # noqa: E731
    started.wait_for(lambda: one_finished() and len(list(out.glob("runs/*/throughput.csv"))) == 2)
    assert started.stop() == 130, started.log.read_text()
    assert started.left_over() == []
    assert "The same command goes on" in started.log.read_text()
    assert one_finished()
    ended = program.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert "1 of 2 runs are finished" in ended.stdout
    assert "1 unfinished" in ended.stdout
    rows = program.rows(out / "fig3.csv")
    assert [row["agents"] for row in rows] == ["1", "2"]
    assert all(float(row["tps_lowest"]) <= float(row["tps_median"]) <= float(row["tps_highest"]) for row in rows)
    assert all(float(row["pps_median"]) > 0 for row in rows)
    assert colours(out / "fig3.png") == {0, 1}
    assert not list(out.glob("runs/*/checkpoints"))
    assert not list(out.glob("runs/*/plot.png"))


def test_a_core_samples_and_learns_nothing(tmp_path):
    out = tmp_path / "figure"
    arguments = ["accelerated", "fig2", "--game", "tests.tiny_environment:Match-v0", "--out", out]
    ended = program.run("reproduce", *arguments, "--cores", 1, "--games", 2, "--seconds", 3)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    (row,) = program.rows(out / "fig2.csv")
    assert float(row["samples_per_second_per_core_median"]) > 0
    assert float(row["without_inference"]) > 0
    (log,) = out.glob("runs/*/throughput.csv")
    last = program.rows(log)[-1]
    assert "loss" not in last
    # Two agents with one game each alternate: each is predicted for alone, but for the last time, when both leave.
    assert float(last["mean_prediction_batch"]) < 1.5
