"""The paper's rule, and the controller's loop, on a clock that its waits advance."""

import csv
import random

import pytest

from ga3c.controller.controller import Controller
from ga3c.controller.counts import Counts, Signals
from ga3c.controller.paper_rule import PaperRule, propose
from ga3c.records.columns import DECISION_COLUMNS as COLUMNS
from ga3c.records.csv_log import CsvLog
from ga3c.records.csv_reading import read_csv
from ga3c.records.disk import Disk
from tests import program


def test_a_proposal_changes_one_count_by_one():
    rng = random.Random(0)
    counts = Counts(agents=4, predictors=2, trainers=3)
    seen = {propose(counts, rng) for _ in range(500)}
    assert seen == {
        Counts(3, 2, 3), Counts(5, 2, 3), Counts(4, 1, 3), Counts(4, 3, 3), Counts(4, 2, 2), Counts(4, 2, 4),
    }  # fmt: skip


def test_no_count_falls_below_one():
    rng = random.Random(0)
    assert {propose(Counts(1, 1, 1), rng) for _ in range(200)} == {
        Counts(2, 1, 1),
        Counts(1, 2, 1),
        Counts(1, 1, 2),
    }


class Plant:
    """A machine whose TPS is a function of the counts, measured on a clock that the controller's waits advance."""

    def __init__(self, tps, decisions):
        self.tps, self.decisions_left = tps, decisions
        self.counts, self.seconds, self.rollouts = Counts(1, 1, 1), 0.0, 0.0
        self.applied, self.said = [], []

    def apply(self, counts):
        self.counts = counts
        self.applied.append(counts)

    def signals(self):
        lag = self.counts.agents * self.seconds
        return Signals(self.seconds, 7, self.rollouts, lag_sum=lag, lag_rows=int(self.seconds))

    def wait(self, seconds):
        self.seconds += seconds
        self.rollouts += seconds * self.tps(self.counts)
        self.decisions_left -= 1
        return self.decisions_left < 0


def run(plant, tmp_path, proposal=propose):
    rule = PaperRule(plant.counts, 60.0, seed=1, proposal=proposal)
    log = CsvLog(tmp_path / "controller.csv", COLUMNS, Disk(print))
    controller = Controller(rule, plant.apply, plant.signals, plant.said.append, log.append)
    controller._ended = type("Clock", (), {"wait": lambda _, s: plant.wait(s)})()
    controller.run()
    with (tmp_path / "controller.csv").open() as file:
        return controller, list(csv.DictReader(file))


def test_it_climbs_to_the_best_setting(tmp_path):
    best = Counts(6, 2, 3)
    plant = Plant(lambda c: 1000 - sum((a - b) ** 2 for a, b in zip(c, best, strict=True)), decisions=200)
    controller, rows = run(plant, tmp_path)
    assert controller.counts == best
    assert len(rows) == len(plant.said) == 199


def test_it_keeps_a_rise_and_goes_back_otherwise(tmp_path):
    proposals = iter([Counts(2, 1, 1), Counts(2, 2, 1), Counts(3, 1, 1), Counts(2, 1, 2)])
    asked = []

    def proposal(counts, _rng):
        asked.append(counts)
        return next(proposals, counts)

    tps = {Counts(1, 1, 1): 100, Counts(2, 1, 1): 150, Counts(2, 2, 1): 150, Counts(2, 1, 2): 120}
    plant = Plant(lambda c: tps.get(c, 90), decisions=6)
    controller, rows = run(plant, tmp_path, proposal)
    assert controller.counts == Counts(2, 1, 1)
    assert asked == [Counts(1, 1, 1)] + [Counts(2, 1, 1)] * 5
    assert plant.applied == [Counts(2, 1, 1), Counts(2, 2, 1), Counts(3, 1, 1), Counts(2, 1, 2), Counts(2, 1, 1)]
    # Equal is not a rise, and 120 after 90 is none either: the 90 were of a setting that was refused.
    assert [row["kept"] for row in rows[:4]] == ["1", "0", "0", "0"]
    assert [row["tps_before"] for row in rows[:4]] == ["100", "150", "150", "150"]
    first = {name: rows[0][name] for name in ("agents", "agents_before", "tps", "tps_before", "effect_percent")}
    assert first == {"agents": "2", "agents_before": "1", "tps": "150", "tps_before": "100", "effect_percent": "50"}
    assert list(rows[0]) == COLUMNS
    assert plant.said[0] == "Controller: NA 1 -> 2, drawn at random: TPS 150 after 100: kept."
    assert "NP 1 -> 2" in plant.said[1]
    assert "went back" in plant.said[1]


def test_the_log_is_numbers_and_a_reason(tmp_path):
    run(Plant(lambda c: 100, decisions=3), tmp_path)
    with (tmp_path / "controller.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][-1] == "reason"
    numbers = read_csv(tmp_path / "controller.csv")
    assert list(numbers["seconds"]) == [120, 180]
    assert list(numbers["kept"]) == [0, 0]
    assert numbers["policy_lag_updates"][0] == pytest.approx(2, abs=1)


def test_it_ends_when_told_to():
    applied = []
    rule = PaperRule(Counts(1, 1, 1), 1000.0, seed=0)
    controller = Controller(rule, applied.append, Signals, print, print)
    controller.start()
    controller.finish()
    controller.join(program.HANG_SECONDS)
    assert not controller.is_alive()
    assert applied == []
