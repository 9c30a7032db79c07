"""The best checkpoint, weights to begin with, and runs that were ended before their first checkpoint."""

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.controller.counts import Counts
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.records import checkpoint, chosen_runs, lock, run_directory
from ga3c.records.disk import Disk
from ga3c.records.initial_weights import initial_weights
from ga3c.records.recovery import Recovery
from ga3c.rollout import EnvironmentSpec, continuous, discrete
from ga3c.server.recorded_run import RecordedRun
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Totals


class Model:
    version = 0

    def state(self):
        return {"network/0": np.full(3, self.version, np.float32), "optimizer/0": np.ones(3), "version": self.version}


def system(model, stats):
    return SimpleNamespace(model=model, stats=stats, chosen_counts=Counts(1, 1, 1), next_agent=0, under_way=None)


def save(recovery, model, version, steps, scores):
    model.version = version
    stats = Stats(Totals(steps=steps), scores)
    assert recovery.save(system(model, stats), lambda: True)


def best(directory):
    return float(checkpoint.load(directory / "checkpoints" / checkpoint.BEST)[0]["network/0"][0])


def test_the_best_checkpoint_is_kept_beside_the_newest(tmp_path):
    recovery, model = Recovery(tmp_path, Settings(), Disk(print), print), Model()
    save(recovery, model, 1, 10, [99.0] * 99)  # too few games to tell
    assert not (tmp_path / "checkpoints" / checkpoint.BEST).exists()
    save(recovery, model, 2, 20, [5.0] * 100)
    for version in range(3, 8):
        save(recovery, model, version, 10 * version, [4.0] * 100)
    assert best(tmp_path) == 2
    assert len(checkpoint.saved(tmp_path / "checkpoints")) == 3
    again = Recovery(tmp_path, Settings(), Disk(print), print)  # after a resume
    save(again, model, 9, 90, [4.5] * 100)
    assert best(tmp_path) == 2
    save(again, model, 10, 100, [5.5] * 100)
    assert best(tmp_path) == 10


def test_networks_are_kept_after_every_so_many_steps(tmp_path):
    settings = replace(Settings(), run=replace(Settings().run, checkpoint_steps=100, checkpoints_kept=1))
    recovery, model = Recovery(tmp_path, settings, Disk(print), print), Model()
    for version, steps in enumerate((40, 103, 150, 199, 420), start=1):
        assert recovery.is_due(steps) == (steps in (103, 420))
        assert not recovery.is_due(steps)
        save(recovery, model, version, steps, [])
    kept = checkpoint.kept_networks(tmp_path / "checkpoints")
    assert [file.name for file in kept] == ["network-000000000100.npz", "network-000000000400.npz"]
    found = [checkpoint.load(file) for file in kept]
    assert [(arrays["network/0"][0], meta["totals"]["steps"]) for arrays, meta in found] == [(2, 103), (5, 420)]
    assert all(set(arrays) == {"network/0", "version"} for arrays, _ in found)
    assert len(checkpoint.saved(tmp_path / "checkpoints")) == 1


@pytest.mark.parametrize(
    ("algorithm", "advice"),
    [("a3c", "--learning-rate, or --gradient-clip-norm 40"), ("ppo", "--kl-target, or --gradient-clip-norm 0.125")],
)
def test_what_is_advised_after_three_times_is_what_this_run_goes_by(tmp_path, algorithm, advice):
    recovery, stats = Recovery(tmp_path, with_presets(Settings(), algorithm, None), Disk(print), print), Stats(Totals())
    save(recovery, Model(), 1, 10, [])
    model = SimpleNamespace(version=1, restore=lambda arrays: None)
    for _ in range(3):
        stats.skipped_in_a_row = 10
        recovery.mend_updates(model, stats)
    stats.skipped_in_a_row = 10
    with pytest.raises(TrainingFailed, match=f"try a lower {advice}"):
        recovery.mend_updates(model, stats)


def test_a_new_run_begins_with_weights_alone(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 7, 70, [1.0])
    (tmp_path / "config.json").write_text("{}")
    (file,) = checkpoint.saved(tmp_path / "checkpoints")
    for agent in (tmp_path, file):
        arrays = initial_weights(str(agent), print, Settings())
        assert set(arrays) == {"network/0", "version"}
        assert (arrays["version"], arrays["network/0"][0]) == (0, 7)
    for wrong in (tmp_path / "checkpoints", tmp_path / "none.npz"):
        with pytest.raises(ConfigError):
            initial_weights(str(wrong), print, Settings())


def test_a_checkpoint_does_not_count_games_that_are_not_in_their_log(tmp_path):
    said = []
    disk = Disk(said.append)
    recovery, stats, log = Recovery(tmp_path, Settings(), disk, print), Stats(Totals(steps=10, episodes=1)), ["full"]
    for _ in range(2):
        assert not recovery.save(system(Model(), stats), lambda: not log)
    assert checkpoint.saved(tmp_path / "checkpoints") == []
    assert len(said) == 1
    log.clear()
    assert recovery.save(system(Model(), stats), lambda: not log)
    assert len(checkpoint.saved(tmp_path / "checkpoints")) == 1


def test_a_damaged_checkpoint_does_not_come_back_when_it_can_be_read_again(tmp_path):
    """The run goes on from the one before, into another future."""
    recovery, model = Recovery(tmp_path, Settings(), Disk(print), print), Model()
    for version in (1, 2):
        save(recovery, model, version, 10 * version, [])
    good, damaged = checkpoint.saved(tmp_path / "checkpoints")
    content = damaged.read_bytes()
    damaged.write_bytes(b"")
    assert recovery.load()[1]["version"] == 1
    assert checkpoint.saved(good.parent) == [good]
    assert damaged.with_suffix(".damaged").read_bytes() == b""
    damaged.with_suffix(".damaged").write_bytes(content)
    save(recovery, model, 1, 15, [])
    assert checkpoint.load_newest(good.parent)[1]["version"] == 1


def test_networks_of_a_future_that_is_given_up_are_set_aside(tmp_path):
    settings = replace(Settings(), run=replace(Settings().run, checkpoint_steps=100))
    recovery, model, folder = Recovery(tmp_path, settings, Disk(print), print), Model(), tmp_path / "checkpoints"
    for version, steps in ((1, 130), (2, 230)):
        save(recovery, model, version, steps, [])
    checkpoint.saved(folder)[-1].write_bytes(b"")
    recovery.load()
    assert [file.name for file in checkpoint.kept_networks(folder)] == ["network-000000000100.npz"]
    assert (folder / "network-000000000200.before").exists()
    save(recovery, model, 3, 240, [])
    assert checkpoint.load(checkpoint.kept_networks(folder)[-1])[0]["version"] == 3


def test_a_game_that_the_checkpoint_does_not_count_is_taken_out_of_the_log(tmp_path):
    """Those of a secondary learner have the steps of the primary: one that ends later may have the same."""
    recovery, model = Recovery(tmp_path, Settings(), Disk(print), print), Model()
    stats = Stats(Totals(steps=20, trained_steps=20, episodes=2))
    assert recovery.save(system(model, stats), lambda: True)
    rows = ["seconds,steps,score", "1,10,1", "2,20,2", "2,20,3"]
    (tmp_path / "episodes.csv").write_text("\n".join(rows) + "\n")
    recovery.load()
    assert (tmp_path / "episodes.csv").read_text().splitlines() == rows[:3]


class System:
    """Notes how the run begins; learns nothing."""

    replay = under_way = None

    def __init__(self, settings, spec, begun, say, log_decisions):
        self.begun = begun


def books(path, **run):
    settings = replace(Settings(), run=replace(Settings().run, resume=str(path), **run))
    console = type("Console", (), {"say": lambda self, text: said.append(text)})()
    said: list[str] = []
    return RecordedRun(System, settings, path, None, console), said


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(tmp_path):
    """What it had logged stays, in files of another name."""
    row = "seconds,steps,score,length_steps,agent\n1.00,40,3,40,0\n"
    (tmp_path / "episodes.csv").write_text(row)
    (tmp_path / "tracking").mkdir()
    (tmp_path / "tracking" / "wandb.json").write_text("{}")  # how far the rows before were sent
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / ".checkpoint-000000000040.npz.77.partial").write_bytes(b"half")
    found, said = books(tmp_path)
    assert (found.system.begun.totals, found._arrays) == (Totals(), None)
    assert not (tmp_path / "episodes.csv").exists()
    assert (tmp_path / "episodes.csv.before").read_text() == row
    assert [path.name for path in (tmp_path / "tracking").iterdir()] == ["wandb.json.before"]
    assert "begins anew" in said[0]


def test_one_that_began_with_the_weights_of_another_does_so_again(tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    run.mkdir()
    save(Recovery(other, Settings(), Disk(print), print), Model(), 7, 70, [1.0])
    found, _ = books(run, start_from=str(checkpoint.saved(other / "checkpoints")[0]))
    assert found._arrays["network/0"][0] == 7


@pytest.mark.parametrize("name", ["checkpoint-000000000040.npz", "checkpoint-000000000040.damaged", "best.npz"])
def test_one_with_a_damaged_checkpoint_does_not_begin_anew(tmp_path, name):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / name).write_bytes(b"")
    (tmp_path / "episodes.csv").write_text("steps\n1\n")
    with pytest.raises(ConfigError, match="checkpoint"):
        books(tmp_path)
    assert (tmp_path / "episodes.csv").exists()


def test_a_secondary_learner_begins_anew_with_its_primary(tmp_path):
    """Its checkpoint is written before that of the primary: between the two the program may be killed."""
    inner = tmp_path / run_directory.SECONDARY
    save(Recovery(inner, Settings(), Disk(print), print), Model(), 7, 70, [])
    (tmp_path / "config.json").write_text("{}")
    assert books(inner)[0].system.begun.totals.steps == 0
    assert checkpoint.saved(inner / "checkpoints") == []
    save(Recovery(inner, Settings(), Disk(print), print), Model(), 7, 0, [])
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 7, 0, [])
    assert books(inner)[0]._arrays["version"] == 7


def test_resume_without_a_name_takes_a_run_with_a_checkpoint_first(tmp_path, monkeypatch):
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path)
    limits = replace(Settings().run, resume="newest")
    for name in ("old", "new"):
        (tmp_path / "Pong" / name).mkdir(parents=True)
        (tmp_path / "Pong" / name / "config.json").write_text("{}")
    assert chosen_runs.find(limits, "Pong").parent == tmp_path / "Pong"
    save(Recovery(tmp_path / "Pong" / "old", Settings(), Disk(print), print), Model(), 7, 0, [])
    assert chosen_runs.find(limits, "Pong").name == chosen_runs.find(limits, None).name == "old"
    other = tmp_path / "Boxing" / "run"
    save(Recovery(other, Settings(), Disk(print), print), Model(), 7, 0, [])
    (other / "config.json").write_text("{}")
    os.utime(other / "config.json", (2e9, 2e9))
    assert chosen_runs.find(limits, "Pong").name == "old"
    assert chosen_runs.find(limits, None) == other  # without --game: of all


SPEC = EnvironmentSpec("Own-v0", (4,), "float32", discrete(3), 1)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (SPEC._replace(observation_shape=(5,)), r"observations of the game 'Own-v0' were .*\[4\]\] when .*\[5\]\] now"),
        (SPEC._replace(actions=discrete(4)), r"actions of the game 'Own-v0' were \['discrete', 3\] when "),
        (SPEC._replace(actions=continuous([0], [2])), "actions .* now: its weights are for the former"),
    ],
)
def test_a_game_whose_spaces_have_changed_does_not_go_on(tmp_path, spec, says):
    arguments = tmp_path, Settings(), Disk(print), print
    save(Recovery(*arguments, SPEC), Model(), 7, 70, [1.0])
    assert Recovery(*arguments, SPEC).load()[0].recent_scores == [1.0]
    with pytest.raises(ConfigError, match=says) as refused:
        Recovery(*arguments, spec).load()
    assert "\n" not in str(refused.value)
    with pytest.raises(ConfigError, match=says):
        initial_weights(str(next((tmp_path / "checkpoints").glob("*.npz"))), print, Settings(), spec)


def test_weights_of_another_protocol_are_said_to_be(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 7, 70, [1.0])
    file, said = str(next((tmp_path / "checkpoints").glob("*.npz"))), []
    initial_weights(file, said.append, Settings())
    assert len(said) == 1
    initial_weights(file, said.append, with_presets(Settings(), None, "machado"))
    assert "was trained under the protocol paper-5818c1c8, and this run's is machado-" in said[1]


def test_counts_that_a_start_names_are_taken_and_the_others_stay(tmp_path):
    settings = replace(Settings(), schedule=replace(Settings().schedule, agents=8))
    recovery = Recovery(tmp_path, settings, Disk(print), print)
    found = system(Model(), Stats(Totals(steps=70)))
    found.chosen_counts = Counts(3, 2, 2)  # what the controller came to
    assert recovery.save(found, lambda: True)
    assert Recovery(tmp_path, settings, Disk(print), print).load()[0].counts == (3, 2, 2)
    assert Recovery(tmp_path, settings, Disk(print), print, given=["agents"]).load()[0].counts == (8, 2, 2)
    other = replace(settings, schedule=replace(settings.schedule, agents=6))
    assert Recovery(tmp_path, other, Disk(print), print).load()[0].counts == (6, 2, 2)


def test_a_best_checkpoint_that_cannot_be_read_is_not_replaced(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 7, 70, [5.0] * 100)
    file, said = tmp_path / "checkpoints" / checkpoint.BEST, []
    file.write_bytes(b"damaged")
    recovery = Recovery(tmp_path, Settings(), Disk(print), said.append)
    save(recovery, Model(), 8, 80, [1.0] * 100)
    assert file.with_suffix(".damaged").read_bytes() == b"damaged"
    assert "ends in .damaged" in said[0]


def test_what_was_put_aside_before_stays(tmp_path):
    for text in ("first", "second"):
        (tmp_path / "episodes.csv").write_text(text)
        books(tmp_path)
    assert [(tmp_path / f"episodes.csv.before{end}").read_text() for end in ("", "1")] == ["first", "second"]


def test_a_network_is_kept_under_no_number_of_steps_that_it_was_not_at(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 1, 195, [])
    settings = replace(Settings(), run=replace(Settings().run, checkpoint_steps=100))
    recovery = Recovery(tmp_path, settings, Disk(print), print)
    recovery.load()
    save(recovery, Model(), 2, 199, [])
    assert checkpoint.kept_networks(tmp_path / "checkpoints") == []
    save(recovery, Model(), 3, 201, [])
    assert [one.name for one in checkpoint.kept_networks(tmp_path / "checkpoints")] == ["network-000000000200.npz"]


def test_other_rules_are_said_where_a_run_goes_on(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 1, 10, [])
    said = []
    Recovery(tmp_path, with_presets(Settings(), None, "machado"), Disk(print), said.append).load()
    assert any("The rules of play change, from paper-" in line and "to machado-" in line for line in said)


def test_a_log_without_its_header_is_put_aside_and_not_emptied(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 1, 10, [])
    damaged = "s\x00conds,st\x00ps,score\n1,10,1\n"
    (tmp_path / "episodes.csv").write_text(damaged)
    Recovery(tmp_path, Settings(), Disk(print), print).load()
    assert (tmp_path / "episodes.csv.damaged").read_text() == damaged


def test_what_a_killed_start_has_half_written_goes_with_the_next(tmp_path):
    kept = lock.held()
    path = run_directory.create(replace(Settings(), run=replace(Settings().run, run_dir=str(tmp_path / "run"))))
    lock.release(kept)
    (path / "tracking").mkdir()
    halves = [path / ".replay.bin.77.partial", path / "tracking" / ".wandb.json.77.partial"]
    for half in halves:
        half.write_bytes(b"half")
    run_directory.go_on(path, Settings())
    assert not any(half.exists() for half in halves)
