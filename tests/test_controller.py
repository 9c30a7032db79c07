"""The controller: its rule alone, and its loop with a real clock of hundredths of a second."""

import csv
import random

from ga3c.controller import COLUMNS, Controller, Counts, propose


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

    def wait(self, seconds):
        self.seconds += seconds
        self.rollouts += seconds * self.tps(self.counts)
        self.decisions_left -= 1
        return self.decisions_left < 0


def run(plant, tmp_path, rule=propose):
    controller = Controller(
        plant.counts, 60.0, plant.apply, lambda: plant.rollouts, lambda: (plant.seconds, 7), plant.said.append,
        tmp_path / "controller.csv", seed=1, rule=rule,
    )  # fmt: skip
    controller._ended = type("Clock", (), {"wait": lambda _, s: plant.wait(s), "is_set": lambda _: False})()
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
    proposals = iter([Counts(2, 1, 1), Counts(2, 2, 1), Counts(3, 1, 1)])
    plant = Plant(lambda c: {Counts(1, 1, 1): 100, Counts(2, 1, 1): 150, Counts(2, 2, 1): 150}.get(c, 90), decisions=4)
    controller, rows = run(plant, tmp_path, rule=lambda counts, rng: next(proposals, counts))
    assert controller.counts == Counts(2, 1, 1)
    assert plant.applied[:5] == [
        Counts(2, 1, 1), Counts(2, 2, 1), Counts(2, 1, 1), Counts(3, 1, 1), Counts(2, 1, 1),
    ]  # fmt: skip
    assert [row["kept"] for row in rows] == ["True", "False", "False"]  # equal is not a rise
    assert (rows[0]["tps"], rows[0]["tps_before"], rows[0]["agents"]) == ("150.0", "100.0", "2")
    assert list(rows[0]) == COLUMNS
    assert "went back" in plant.said[1]


def test_it_ends_when_told_to(tmp_path):
    plant = Plant(lambda c: 1.0, 0)
    controller = Controller(
        Counts(1, 1, 1), 1000.0, plant.apply, lambda: 0, lambda: (0.0, 0), print, tmp_path / "c.csv", 0
    )
    controller.start()
    controller.finish()
    controller.join(10)
    assert not controller.is_alive()
    assert plant.applied == []
