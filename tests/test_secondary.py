"""A secondary learner beside a run of DQN."""

import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ga3c import environments, progress
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.papers import accelerated
from ga3c.papers.accelerated import fig6
from ga3c.processes import agents_start
from ga3c.records import checkpoint, run_directory
from ga3c.records.taken_directories import TakenDirectories
from ga3c.settings.batches import of_secondary
from ga3c.systems import secondary_of, system_of
from tests import program
from tests.program import Started

SMALL = [*program.TINY, "--preset", "dqn", "--agents", "2", "--envs-per-agent", "8", "--discount", "0.5", "--seed", "5"]
SMALL += ["--steps-per-update", "16", "--target-updates", "20", "--exploration-decay-steps", "3000"]
SMALL += ["--replay-minimum-transitions", "100", "--replay-transitions", "4000"]


@pytest.fixture
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")


def played(*flags, run_dir):
    """The run's system and that of its secondary learner, if it has one, both ended at so many steps."""
    settings = parse_settings([*SMALL, *flags])[0]
    agents_start.start()
    spec = environments.make(settings.environment, 1, 0).spec
    primary = system_of(settings)(settings, spec, progress.beginning(settings), lambda _: None, lambda _: None)
    systems = [primary]
    if settings.replay.secondary_batch:
        other = of_secondary(settings, run_dir)
        make = secondary_of(primary)
        systems.insert(0, make(other, spec, progress.beginning(other), lambda _: None, lambda _: None))
    for system in systems:
        system.start(None)
    deadline = time.monotonic() + program.HANG_SECONDS
    while primary.stats.totals().steps < settings.run.steps or not systems[0].stats.totals().episodes:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for system in systems:
        system.stop()
    return primary, systems[0]


def network(system) -> dict[str, np.ndarray]:
    return {name: array for name, array in system.model.state().items() if name.startswith("network/")}


def same(first, second) -> bool:
    first, second = network(first), network(second)
    return all(np.array_equal(array, second[name]) for name, array in first.items())


def test_it_has_the_same_weights_at_first_and_learns_as_much_from_the_primarys_play_alone(tmp_path, device):
    flags = ["--secondary-batch", "8", "--learning-rate", "1e-30", "--steps", "800"]
    primary, secondary = played(*flags, run_dir=tmp_path)
    for name, array in network(primary).items():  # with next to no step size nothing has changed them
        np.testing.assert_allclose(network(secondary)[name], array, rtol=0, atol=1e-20)
    ours, theirs = secondary.stats.totals(), primary.stats.totals()
    assert ours.updates > 150
    assert ours.updates * 8 == pytest.approx(theirs.updates * 32, abs=2 * 32)
    # What its own agent played is counted, and is nowhere in the replay; it plays when nobody else wants the core.
    assert ours.steps == ours.trained_steps == theirs.steps == primary.experience.replay.stored
    assert 0 < ours.made_steps < theirs.made_steps
    assert 0 < ours.episodes < theirs.episodes


def test_the_primary_learns_as_it_does_alone_and_both_the_same_each_time(tmp_path, device):
    flags = ["--steps", "800", "--learning-rate-schedule", "linear"]  # at the end the step size is 0
    alone, _ = played(*flags, run_dir=tmp_path)
    first, second = (played(*flags, "--secondary-batch", "8", run_dir=tmp_path) for _ in range(2))
    assert same(first[0], alone)
    assert same(first[0], second[0])
    assert same(first[1], second[1])
    assert not same(*first)


def last_score(run) -> float:
    return float(program.rows(run / "throughput.csv")[-1]["mean_score"])


def updates(run) -> int:
    return checkpoint.load_newest(run / "checkpoints")[2]["totals"]["updates"]


def test_both_learn_and_go_on_after_they_are_killed(tmp_path, monkeypatch):
    place = tempfile.TemporaryDirectory()  # its path must be short
    monkeypatch.setenv("TMPDIR", place.name)
    run, log = tmp_path / "run", ["--log-seconds", 0.5, "--checkpoint-seconds", 1]
    runs = [run, run / "secondary"]
    started = Started(tmp_path / "log", *SMALL, "--secondary-batch", 64, *log, "--run-dir", run)
    started.wait_for(lambda: checkpoint.saved(run / "checkpoints") and updates(run) > 50)
    started.stop(signal.SIGKILL)
    assert not started.left_over()
    with place:
        assert not list(Path(place.name).glob("*.py"))  # such as TensorFlow makes of functions, where that is asked for
    monkeypatch.delenv("TMPDIR")
    before = [updates(one) for one in runs]
    played = checkpoint.load_newest(run / "checkpoints")[2]["totals"]["steps"]
    ended = program.run("--resume", run, "--steps", played + 5_000)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for one, then in zip(runs, before, strict=True):
        assert updates(one) > then + 50
        assert last_score(one) > 15  # of 20; who plays at random has 5
        steps = [int(row["steps"]) for row in program.rows(one / "episodes.csv")]
        assert steps == sorted(steps)
    refused = program.run("--resume", run / "secondary", "--steps", 1)
    assert (refused.returncode, "--resume" in refused.stderr) == (2, True)


def settings_of(run_dir, *flags):
    return parse_settings([*SMALL, "--secondary-batch", "64", "--run-dir", str(run_dir), *flags])[0]


@pytest.fixture
def no_locks(monkeypatch):
    """They last as long as the process."""
    monkeypatch.setattr("ga3c.records.run_directory.hold", lambda path, limits: None)


def test_the_run_of_another_is_neither_overwritten_nor_removed(tmp_path, no_locks):
    run, other = tmp_path / "run", tmp_path / "other"
    for path, seed in ((run, "1"), (other, "2")):
        TakenDirectories(settings_of(path, "--seed", seed), None)
    (run / "secondary").rename(tmp_path / "own")
    (other / "secondary").rename(run / "secondary")
    (run / "secondary" / "episodes.csv").write_text("steps\n1\n")
    kept = {path: path.read_bytes() for path in run.rglob("*.*") if path.is_file()}
    resumed = replace(settings_of(run, "--seed", "1"), run=replace(settings_of(run).run, resume=str(run)))
    with pytest.raises(ConfigError, match=r"belongs to another run: its seed is 2, that of .* is 1"):
        TakenDirectories(resumed, run)
    (run / "config.json").rename(tmp_path / "config.json")  # and now a new run shall begin there
    with pytest.raises(ConfigError, match=r"There is a run in .*secondary already"):
        TakenDirectories(settings_of(run, "--seed", "1"), None)
    assert not (run / "config.json").exists()
    (tmp_path / "config.json").rename(run / "config.json")
    assert {path: path.read_bytes() for path in run.rglob("*.*") if path.is_file()} == kept


def test_a_start_that_fails_leaves_the_settings_of_both_as_they_were(tmp_path, no_locks):
    first = TakenDirectories(settings_of(tmp_path / "run", "--seed", "1"), None)
    before = [(path / "config.json").read_text() for path in first.runs]
    changed = settings_of(tmp_path / "run", "--seed", "2")
    again = TakenDirectories(replace(changed, run=replace(changed.run, resume="x")), tmp_path / "run")
    assert [(path / "config.json").read_text() for path in first.runs] != before
    again.take_back()
    assert [(path / "config.json").read_text() for path in first.runs] == before
    (tmp_path / "run" / "secondary" / "config.json").unlink()  # as if the start had been killed between the two
    again = TakenDirectories(replace(changed, run=replace(changed.run, resume="x")), tmp_path / "run")
    assert run_directory.is_secondary(again.runs[1])
    first.take_back()
    assert not list(tmp_path.iterdir())


def test_its_settings_keep_how_often_each_transition_is_learned_from(tmp_path):
    for preset in ("dqn", "c51", "rainbow"):
        for batch, other in ((64, 2048), (2048, 64), (256, 256)):
            settings = parse_settings(["--preset", preset, "--batch", f"{batch}", "--secondary-batch", f"{other}"])[0]
            ours = of_secondary(settings, tmp_path)
            alone = parse_settings(["--preset", preset, "--batch", f"{other}"])[0]
            assert ours.replay == replace(alone.replay, target_updates=ours.replay.target_updates)
            assert ours.replay.target_updates == pytest.approx(alone.replay.target_updates, rel=0.2)  # whole ones
            assert ours.learning.learning_rate == pytest.approx(alone.learning.learning_rate)
            assert ours.learning.adam_epsilon == pytest.approx(alone.learning.adam_epsilon)
    own = parse_settings(["--preset", "dqn", "--learning-rate", "0.123456789", "--secondary-batch", "32"])[0]
    assert of_secondary(own, tmp_path).learning == own.learning


@pytest.mark.parametrize(
    "flags",
    ["--preset a2c", "--preset dqn --serial", "--preset fast-dqn", "--preset c51", "--preset dqn --devices cpu:2"],
)
def test_what_it_does_not_go_with_is_said_in_a_line(flags):
    with pytest.raises(ConfigError, match="--secondary-batch"):
        parse_settings([*flags.split(), "--secondary-batch", "12"])


@pytest.mark.parametrize("scale", ["cpu", "full"])
def test_figure_6_has_each_batch_with_the_other_and_one_with_its_own(scale, tmp_path):
    pairs = fig6.plan(accelerated.Options(scale))
    assert {pair[::-1] for pair in pairs} == set(pairs)
    assert any(batch == other for batch, other in pairs)
    for (batch, other), runs in pairs.items():
        for run in runs:
            settings = parse_settings(["--game", run.game, *run.flags])[0]
            assert (settings.replay.batch, of_secondary(settings, tmp_path).replay.batch) == (batch, other)
