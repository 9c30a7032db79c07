"""Figures and tables of Ape-X: their plans, and what they make of made-up runs."""

import json
from types import SimpleNamespace

import pytest

from ga3c.commands.train import parse_settings
from ga3c.experiments.runs import RunFailed, directory_of
from ga3c.papers import apex
from ga3c.papers.apex import fig4, fig11, table1
from tests import program
from tests.finished_runs import make_run

MORE = {"pods_bytes_per_second": 3000.0}


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_train_takes_every_run(scale, tmp_path):
    options = apex.Options(scale)
    for run in (*fig11.plan(options), *fig4.plan(options)[:3], *table1.plan(options)[:2]):
        words = [word for word in run.command(tmp_path) if word not in ("--console", "plain")]
        settings = parse_settings(words[words.index("train") + 1 :])[0]
        assert (settings.learning.preset, settings.replay.steps_per_update) == ("apex-dqn", 0)
        if run in fig11.plan(options):
            assert (settings.schedule.cluster, settings.schedule.agents) == ("local", run.agents)
            assert (settings.replay.replay_minimum_transitions > 100_000) == (not run.learns)
    if scale == "full":
        assert {run.agents for run in fig11.plan(options)} == {32, 64, 128, 256}
        assert len(fig4.plan(options)) == 6 * 6
        assert len(table1.plan(options)) == 57


def test_figure_11_is_beside_the_papers(tmp_path):
    options = apex.Options(actors=(1, 3))
    for run in fig11.plan(options):
        games = run.agents * run.envs_per_agent
        make_run(run, tmp_path, tps=100.0 * run.agents * (1 + run.learns), games=games, rows=12, **MORE)
        content = {"pods": [{"messages_per_second": 1.5}] * run.agents}
        (directory_of(run, tmp_path) / "cluster.json").write_text(json.dumps(content))
    words = fig11.reproduce(options, tmp_path)
    assert "| 3 | learns | 3,000 | 12,000 | 4,000 | 1.00 | 3 | 4.5 |" in words
    assert "| 1 | stores alone | 500 | 2,000 | 2,000 | 1.00 | 3 | 1.5 |" in words
    assert "| 360 | paper | 12,500 | 50,000 | 139 | - | - | - |" in words
    assert "3 actors play 3.00 times as fast as 1" in words
    assert len(program.rows(tmp_path / "fig11.csv")) == 4
    assert (tmp_path / "fig11.png").stat().st_size > 1000


def test_what_began_to_play_too_late_is_not_measured(tmp_path):
    run = fig11.plan(apex.Options(actors=(2,)))[0]
    make_run(run, tmp_path, games=run.envs_per_agent, **MORE)  # one pod of two
    with pytest.raises(RunFailed, match="too late"):
        fig11.rate(run, tmp_path)


def test_table_1_is_a_median_over_games():
    def outcome(game, score):
        ways = {"ways": {"sampled": {"human_normalized": score}}}
        return SimpleNamespace(run=SimpleNamespace(game=game), frames=4e6, minutes=90.0, evaluation=ways)

    made = [outcome("Pong", 0.5), outcome("Pong", 1.5), outcome("Boxing", 3.0), outcome("Qbert", 0.2)]
    words = table1.markdown(made)
    assert "| ours | 1.5 hours | 4.0 | this machine | 3 | 100 % |" in words
    assert "| Ape-X DQN | 5 days | 22,800 | 376 cores, 1 GPU | 57 | 434 % |" in words
