"""The best checkpoint, and weights to begin with."""

import numpy as np
import pytest

from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.records.disk import Disk
from ga3c.records.recovery import Recovery, initial_weights
from ga3c.scheduling.counts import Counts
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Totals


class Model:
    version = 0

    def state(self):
        return {"network/0": np.full(3, self.version, np.float32), "optimizer/0": np.ones(3), "version": self.version}


def save(recovery, model, version, steps, scores):
    model.version = version
    stats = Stats(Totals(steps=steps), scores)
    assert recovery.save(model, stats, Counts(1, 1, 1), 0, lambda: True)


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


def test_a_new_run_begins_with_weights_alone(tmp_path):
    save(Recovery(tmp_path, Settings(), Disk(print), print), Model(), 7, 70, [1.0])
    (tmp_path / "config.json").write_text("{}")
    (file,) = checkpoint.saved(tmp_path / "checkpoints")
    for agent in (tmp_path, file):
        arrays = initial_weights(str(agent), print)
        assert set(arrays) == {"network/0", "version"}
        assert (arrays["version"], arrays["network/0"][0]) == (0, 7)
    for wrong in (tmp_path / "checkpoints", tmp_path / "none.npz"):
        with pytest.raises(ConfigError):
            initial_weights(str(wrong), print)


def test_a_checkpoint_does_not_count_games_that_are_not_in_their_log(tmp_path):
    said = []
    disk = Disk(said.append)
    recovery, stats, log = Recovery(tmp_path, Settings(), disk, print), Stats(Totals(steps=10, episodes=1)), ["full"]
    for _ in range(2):
        assert not recovery.save(Model(), stats, Counts(1, 1, 1), 0, lambda: not log)
    assert checkpoint.saved(tmp_path / "checkpoints") == []
    assert len(said) == 1
    log.clear()
    assert recovery.save(Model(), stats, Counts(1, 1, 1), 0, lambda: not log)
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
