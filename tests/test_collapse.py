"""Collapse: found where a score falls for good, and nowhere else; and its end where it is back."""

from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.records.collapse import GAMES, CollapseWatch, collapses, resumed
from ga3c.records.console import Console
from ga3c.records.disk import Disk
from ga3c.records.stats_writer import StatsWriter
from ga3c.stats import Stats, Timings, Totals


def games(*levels: float, deviation=3.0, count=400) -> np.ndarray:
    """So many games at each level."""
    random = np.random.default_rng(0)
    return np.concatenate([random.normal(level, deviation, count) for level in levels])


@pytest.mark.parametrize(
    "scores",
    [
        games(-20, -10, 0, 10, 18),
        games(-20, 18, 10, 18),  # it loses less than half
        games(-20, -20, -20, -20),
        games(5, -5),  # nothing was gained
        games(0, 1.8, 0),  # so much comes and goes by itself
        np.full(1000, 7.0),
        games(-20, 18)[:50],
    ],
)
def test_no_collapse(scores):
    assert collapses(scores) == []


def test_a_collapse_is_found_where_half_is_lost():
    scores = games(-20, 18, -20)
    (found,) = collapses(scores)
    assert 800 < found.game < 800 + GAMES
    assert found.first == pytest.approx(-20, abs=1.5)
    assert found.best == pytest.approx(18, abs=1.5)
    assert found.mean == pytest.approx(np.mean(scores[found.game - GAMES : found.game]))
    assert "from 18" in str(found).replace("from 19", "from 18")


def test_it_is_said_at_the_game_that_loses_more_than_half():
    scores = np.repeat([-20.0, 18.0, -20.0], 400)
    assert [found.game for found in collapses(scores)] == [851]  # 51 of the last 100 games


def test_after_it_has_come_back_there_may_be_another():
    assert len(collapses(games(-20, 18, -20, 18, -20))) == 2
    assert len(collapses(games(-20, 18, 3, -20, 3, -20))) == 1  # too little came back


def test_it_is_over_when_three_quarters_of_the_gain_are_back():
    back, lasting = collapses(np.repeat([-20.0, 18.0, -20.0, 18.0, -20.0], 400))
    assert (back.game, back.recovered_game) == (851, 1275)  # 75 of the last 100 games
    assert (lasting.game, lasting.recovered_game) == (1651, None)


def test_scores_that_are_not_known_change_nothing(tmp_path):
    """Neither what comes after them nor the numbers of the games."""
    scores = np.repeat([-20.0, 18.0, -20.0], 400)
    scores[[10, 450, 451]] = np.nan
    assert [found.game for found in collapses(scores)] == [851]
    file = tmp_path / "episodes.csv"
    rows = [f"{score}\n" for score in (*scores[:800], "1e308", "-1e308", "inf", "")]
    file.write_text("".join(["score\n", *rows]))
    watch = resumed(file)
    assert [event.game for event in map(watch.add, scores[800:].tolist()) if event] == [854]


def test_the_run_says_both(tmp_path):
    stats, said = Stats(Totals()), []
    console = Console()
    console.keep(said.extend)
    system = SimpleNamespace(
        stats=stats, counts=(1, 1, 1), games=lambda: (1, 1), waiting=lambda: (0, 0),
        agents_core_seconds=lambda: 0.0, watched=dict, model=SimpleNamespace(numbers=()),
    )  # fmt: skip
    writer = StatsWriter(system, tmp_path, 5.0, 4, console, Disk(console.say))
    for score in np.repeat([-20.0, 18.0, -20.0, 18.0], 200):
        games = [SimpleNamespace(score=score, length_steps=50)]
        rollout = SimpleNamespace(transitions=5, episodes=games, agent=SimpleNamespace(number=0))
        batch = SimpleNamespace(rollouts=[rollout], columns=1, versions=np.zeros(1))
        stats.trained(batch, SimpleNamespace(applied=False, version=0), Timings())
    writer.finish()
    collapse, recovery = (text for _, text in said)
    assert "the mean score of 100 games fell to -1.4, from 18.0 at best and -20.0 at first." in collapse
    assert recovery == "Recovered: the mean score of 100 games is back at 8.5."


def test_a_resumed_run_knows_what_came_before(tmp_path):
    file = tmp_path / "episodes.csv"
    rows = [f"{i},{i},{score},10,0" for i, score in enumerate(games(-20, 18))]
    file.write_text("\n".join(["seconds,steps,score,length_steps,agent", *rows, "1,2,broken,4,5", ""]))
    watch = resumed(file)
    assert any(watch.add(score) for score in games(-20))
    new = resumed(tmp_path / "none.csv")
    assert isinstance(new, CollapseWatch)
    assert not any(new.add(score) for score in games(-20))
