"""The paper's figures: their plans, pictures of made-up runs, and one from real runs."""

import csv
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from PIL import Image, ImageColor

from ga3c.commands.train import parse_settings
from ga3c.experiments.runs import directory_of
from ga3c.experiments.throughput import SpeedRun
from ga3c.papers import Options
from ga3c.papers.ga3c import fig2, fig3, fig4, table2
from ga3c.settings.learning import Network
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.views.drawing import COLOURS
from tests import program
from tests.finished_runs import UNKNOWN, make_run
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
    train = (None, None, "default")  # what it does without a flag
    assert {(run.envs_per_agent, run.t_max, run.preset) for run in runs.values()} == {train}
    full = table2.plan(Options("full"))
    assert [run.network for run in full] == list(table2.PAPER["I"])
    assert {(run.agents, run.predictors, run.trainers) for run in full} == {(128, 2, 2)}


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_train_takes_every_run(scale, tmp_path):
    options = Options(scale)
    fig3_and_table_2 = [fig3.grid(options)[-1], *table2.plan(options)]
    for run in [*fig3_and_table_2, *fig2.plan(options).values()]:
        words = replace(run, controller="on").command(tmp_path)
        settings, _ = parse_settings(words[words.index("train") + 1 :])
        expected = with_presets(Settings(), {"cpu": "default", "full": "paper"}[scale], None)
        schedule = {"agents": run.agents, "predictors": run.predictors, "trainers": run.trainers, "controller": "on"}
        learning = {"network": run.network, "seed": 1}
        if run in fig3_and_table_2 and scale == "cpu":
            schedule |= {"envs_per_agent": 16}
            learning |= {"t_max": 5}
        assert settings.schedule == replace(expected.schedule, **schedule)
        assert settings.learning == replace(expected.learning, **learning)
        assert settings.run.minutes * 60 == pytest.approx(run.seconds)
        assert settings.run.run_dir == str(tmp_path)


def test_the_networks_exist():
    assert set(fig3.NETWORKS) == set(table2.NETWORKS) == set(get_args(Network)) - {"auto", "mlp", "pqn", "pqn-mlp"}


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
        fast = run.network == "small"
        make_run(run, tmp_path, tps=300 if fast else 100, core_ms=(0.5, 0.5) if fast else UNKNOWN)
    words = table2.reproduce(options, tmp_path)
    lines = (tmp_path / "table2.md").read_text().splitlines()
    assert lines[2] == ("| small | 1,500 | 1,500 to 1,500 | 75 | - | 1361 / 32 / 56 | 728 / 62 / 33 | 1248 / 31 / 60 |")
    assert lines[3] == "| large-stride-4 | 500 | 500 to 500 | - | - | 1271 / 27 / 68 | - | - |"
    assert lines[2] in words
    assert "small is 3.0 times as fast as large-stride-1 (paper: 2.8 on System I, 2.2 on System II, 4.9 on" in words
    rows = program.rows(tmp_path / "table2.csv")
    assert [row["paper_I_pps"] for row in rows] == ["1361", "1271", "490"]
    assert rows[0]["cpu_percent_median"] == "75"


# The real thing


def test_a_figure_from_real_runs_stopped_and_gone_on_with(tmp_path):
    out = tmp_path / "figure"
    arguments = ["reproduce", "fig3", "--game", "tests.tiny_environment:Match-v0", "--network", "mlp", "--out", out]
    arguments += ["--agents", "1", "2", "--predictors", "1", "--trainers", "1", "--seconds", "2"]
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
