"""The contents of the papers: what `reproduce` lists, refuses, and makes of runs of the newer figures and tables."""

import importlib
import inspect
import re
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ga3c.algorithms import exploration
from ga3c.commands import reproduce
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.comparison import LearningRun
from ga3c.papers import accelerated, apex, cule, fast_dqn
from ga3c.papers.accelerated import fig12
from ga3c.papers.apex import fig3, fig5, fig6, fig7
from ga3c.papers.apex import fig12 as apex_fig12
from ga3c.papers.contents import PAPERS
from ga3c.papers.cule import fig8
from ga3c.papers.cule import table1 as cule_table1
from ga3c.papers.fast_dqn import table4
from ga3c.papers.fast_dqn.scores import PAPER
from ga3c.settings.learning import LearningSettings
from tests import program
from tests.finished_runs import learnt, make_run
from tests.variants import long

PAGE = Path(__file__).parent.parent / "ga3c" / "papers" / "README.md"
PLANS = {
    apex: (fig3, fig5, fig6, fig7, apex_fig12),
    accelerated: (fig12,),
    fast_dqn: (table4,),
    cule: (cule_table1,),
}


@pytest.mark.parametrize("name", PAPERS)
def test_each_figure_of_a_paper_has_a_command_or_says_what_there_is_instead(name, capsys):
    page = PAGE.read_text(encoding="utf-8").partition(f"## {PAPERS[name].title}")[2].partition("\n## ")[0]
    assert reproduce.run([name]) == 0
    listed = capsys.readouterr().out
    for item in PAPERS[name].items:
        assert f"  {item.name:9} {item.shows}" in listed
        assert f"| `{item.name}` |" in page
        if item.instead:
            with pytest.raises(ConfigError, match="has no command of its own"):
                reproduce.run([name, item.name])
        else:
            assert importlib.import_module(f"ga3c.papers.{name}.{item.name}").RUNS
    files = (PAGE.parent / name).glob("*.py")
    assert {file.stem for file in files if "def reproduce(" in file.read_text()} == set(PAPERS[name].figures)


@pytest.mark.parametrize("name", PAPERS)
def test_each_figure_has_the_options_that_it_reads(name):
    options = {field.name for field in fields(PAPERS[name].options)}
    for figure in PAPERS[name].figures:
        module = importlib.import_module(f"ga3c.papers.{name}.{figure}")
        said = {*module.READS, *getattr(module, "READS_AT_FULL_SCALE", ())}
        constants = {one for scale in getattr(module, "SCALES", {}).values() for one in scale}
        used = set(re.findall(r"\boptions\.(\w+)", inspect.getsource(module))) | constants & options
        assert said <= options, figure
        assert used <= {*said, "scale", "out"}, figure
        evaluates = re.search(r"\b(learnt|reports?)\(", inspect.getsource(module)) or figure == "fig10"
        assert bool(evaluates) == ("episodes" in said), figure


@pytest.mark.parametrize("words", ["fig5 --agents 4", "accelerated fig5 --episodes 3", "apex fig4 --cluster auto"])
def test_an_option_that_a_figure_does_not_read_is_refused(words):
    with pytest.raises(ConfigError, match=r"--\w+ does not go with fig\d+, which has .*Leave it out"):
        reproduce.run(words.split())


def test_what_there_is_and_what_is_meant(capsys):
    assert reproduce.run([]) == 0
    overview = capsys.readouterr().out
    assert all(f"\n  {name} " in overview for name in PAPERS)
    for words, meant in ((["cul"], "cule"), (["fig33"], "fig3"), (["apex", "tabel1"], "table1")):
        with pytest.raises(ConfigError, match=f"Is it {meant}[?]"):
            reproduce.run(words)


@pytest.mark.parametrize("scale", ["cpu", "full"])
@pytest.mark.parametrize("paper", PLANS)
def test_train_takes_every_run(paper, scale, tmp_path):
    for figure in PLANS[paper]:
        runs = runs_of(figure, paper.Options(scale))
        assert runs
        for run in {run.setting: run for run in runs}.values():
            words = run.command(tmp_path)
            parse_settings(words[words.index("train") + 1 :])


def runs_of(figure, options) -> list[LearningRun]:
    """The runs of a figure. They are a list, the keys of a mapping, or groups of runs by name."""
    runs = figure.plan(options)
    groups = isinstance(runs, dict) and all(isinstance(name, str) for name in runs)
    return list(chain.from_iterable(runs.values()) if groups else runs)


def test_replays_of_the_sizes_that_are_asked_for(tmp_path):
    runs = fig5.plan(apex.Options(capacities=(60_000, 30_000)))
    assert [run.setting for run in runs[::3]] == ["30000-transitions", "60000-transitions"]  # three seeds each
    words = runs[0].command(tmp_path)
    assert parse_settings(words[words.index("train") + 1 :])[0].replay.replay_transitions == 30_000


def test_games_whose_scores_would_not_compare_are_refused_at_the_start():
    with pytest.raises(ConfigError, match="do not compare, different protocols: gymnasium, paper-"):
        table4.plan(fast_dqn.Options(game=("Pong", "CartPole-v1")))


def test_copies_are_of_the_fewest_actors(tmp_path):
    runs = fig6.plan(apex.Options(actors=(16, 4), copies=(3, 1)))
    assert [run.setting for run in runs[::3]] == [
        "4-actors-1-fold",
        "4-actors-3-fold",
        "16-actors-1-fold",
    ]  # three seeds
    words = runs[3].command(tmp_path)
    settings = parse_settings(words[words.index("train") + 1 :])[0]
    assert (settings.schedule.agents * settings.schedule.envs_per_agent, settings.replay.replay_copies) == (4, 3)
    with pytest.raises(ConfigError, match="--replay-copies 3 does not go with --steps-per-update 4"):
        parse_settings(["--preset", "dqn", "--replay-copies", "3"])


def test_six_rates_of_exploration_in_turns():
    settings = LearningSettings(exploration="per-game", exploration_levels=6)
    shares = exploration.epsilon(0, settings, 64)
    np.testing.assert_allclose(shares[:6], [0.4 ** (1 + 7 * i / 5) for i in range(6)], rtol=1e-6)
    np.testing.assert_array_equal(shares, shares[np.arange(64) % 6])
    assert len(set(exploration.epsilon(0, replace(settings, exploration_levels=0), 64))) == 64
    many = replace(settings, exploration_levels=10**15)  # which take no memory
    np.testing.assert_allclose(exploration.epsilon(0, many, 2), [0.4, 0.4], rtol=1e-6)


@pytest.mark.parametrize(
    ("figure", "options", "name"),
    [
        (fig3, apex.Options(seconds=60.0), "fig3"),
        (fig5, apex.Options(seconds=60.0), "fig5"),
        (fig6, apex.Options(seconds=60.0), "fig6"),
        (fig7, apex.Options(seconds=60.0), "fig7"),
        (apex_fig12, apex.Options(seconds=60.0), "fig12-64-actors"),
        (fig12, accelerated.Options(seconds=60.0), "fig12"),
    ],
)
def test_learning_runs_become_a_table_and_a_picture(figure, options, name, tmp_path):
    for place, run in enumerate(runs_of(figure, options)):
        learnt(run, tmp_path, mean=10.0 + place)
    words = figure.reproduce(replace(options, episodes=3), tmp_path)
    assert "Paper: " in words
    assert all(run.setting in words for run in runs_of(figure, options))
    assert any(file.stem.startswith(name) for file in tmp_path.glob("*.png"))


def test_fast_dqn_beside_dqn_and_the_paper(tmp_path):
    options = fast_dqn.Options(game=("Pong", "Adventure"), seconds=60.0, episodes=3)
    for run in table4.plan(options):
        learnt(run, tmp_path, mean={"fast": 18.0, "dqn": 9.3}[run.setting])
    words = table4.reproduce(options, tmp_path)
    (pong,) = [row for row in words.splitlines() if row.startswith("| Pong |")]
    assert pong.startswith("| Pong | -20.7 | 9.3 | 18.0 (129.0 %) | 9.3 (100.0 %) |")
    assert pong.endswith("| 18.9 (132.0 %) | 18.7 (131.3 %) |")
    assert "| Adventure | - | - | 18.0 | 9.3 |" in words  # the paper has no such game
    assert len(PAPER) == 49


def test_other_systems_beside_ours(tmp_path):
    options = cule.Options(seconds=60.0, games=(32,))
    for run in cule_table1.plan(options):
        assert isinstance(run, LearningRun)
        make_run(run, tmp_path, tps=100.0)
    words = cule_table1.reproduce(options, tmp_path)
    assert "| GA3C | 1 day |  | 8 | 16 cores, 1 GPU |" in words
    assert "| ours, training, Pong, 32 games |  |  | 2.0 | this machine |" in words
    assert len(program.rows(tmp_path / "table1.csv")) == len(cule_table1.PAPER) + len(cule_table1.plan(options))


def test_speed_over_steps_of_games_that_begin_alike(tmp_path):
    words = fig8.reproduce(replace(cule.Options(), game=("Pong",), games=(2,)), tmp_path)
    rows = program.rows(tmp_path / "fig8.csv")
    assert [int(row["step"]) for row in rows] == list(range(0, 600, 20))
    assert all(float(row["frames_per_second"]) > 0 for row in rows)
    assert {int(row["games"]) for row in rows} == {2}
    assert sum(int(row["restarted"]) for row in rows) == 0  # a game of Pong is longer
    assert "in the second half" in words
    with Image.open(tmp_path / "fig8.png") as image:
        assert image.format == "PNG"


@pytest.mark.parametrize(
    ("words", "table"),
    [
        long(["fast_dqn", "table4"], "table4.md"),
        (["apex", "fig6", "--actors", 2, "--copies", 3], "fig6.md"),
        long(["apex", "fig12", "--actors", 2], "fig12-2-actors.md"),
    ],
)
def test_a_command_makes_its_runs_and_lets_them_play(words, table, tmp_path):
    """Runs that are killed go on, whatever they are of: test_comparison and test_reproduce stop some."""
    tiny = ["--game", "tests.tiny_environment:Match-v0", "--seconds", 2, "--seeds", 1, "--episodes", 2]
    ended = program.run("reproduce", *words, *tiny, "--out", tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / table).read_text() in ended.stdout
    assert list(tmp_path.glob("*.png"))
