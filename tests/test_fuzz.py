"""Settings, checkpoints, logs and config files of any content: read, or refused in one line, and never changed.

Always the same cases; others with derandomize=False below and --hypothesis-seed=N.
"""

import contextlib
import io
import json
import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from ga3c.algorithms.a3c import A3C
from ga3c.commands import train
from ga3c.controller.counts import Counts
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.progress import Progress
from ga3c.records import checkpoint, lock, run_directory
from ga3c.records.checkpoint_meta import from_meta, to_meta
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.records.csv_log import mend
from ga3c.records.csv_reading import read_csv
from ga3c.records.description import read_settings
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings import ranges
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from ga3c.stats import Totals
from ga3c.views.plot import draw
from ga3c.views.run_view import RunView
from ga3c.views.training_screen import screen

FUZZ = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
FLAGS = ["--" + field.name.replace("_", "-") for group in fields(Settings) for field in fields(group.default_factory)]
WORDS = ["0", "1", "-1", "nan", "inf", "-inf", "1e309", "1e-320", "9" * 30, "0x10", "1_000", "None", "true", "", " "]
WORDS += ["Pong", "paper", "..", "../..", "/", "/dev/null", "\0", "--", "-", "=", "é", "💥", "a" * 5000, "x:y", ":"]
WORDS += ["os:path", "ALE/", "[", "(", "%s", "{}", "~", "*"]
arguments = st.lists(st.one_of(st.sampled_from(FLAGS), st.sampled_from(WORDS), st.text(max_size=8)), max_size=6)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")


@settings(max_examples=100, **FUZZ)
@given(arguments)
def test_settings(words):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            train.parse_settings(words)
        except (ConfigError, SystemExit) as error:
            ended = error
        else:
            ended = None
    assert not (isinstance(ended, ConfigError) and "\n" in str(ended))
    assert not (isinstance(ended, SystemExit) and ended.code)  # --help ends with 0
    assert list(Path().iterdir()) == []


SPEC = EnvironmentSpec("Test", (3,), "float32", discrete(2), 1)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A real checkpoint, and the model that it is of."""
    model = Model(SPEC, LearningSettings(), A3C(Settings()), 1, xla=False)
    meta = to_meta(Progress(Settings(), Totals(seconds=1.0, steps=10), Counts(2, 1, 1), 3, [1.0, -2.0]))
    path = checkpoint.save(tmp_path_factory.mktemp("checkpoints"), 10, model.state(), meta, 1)
    return model, meta, path.read_bytes()


# A few places changed, cut out, or put in.
kinds = st.sampled_from(["change", "cut", "insert", "truncate"])
damages = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), kinds, st.binary(max_size=9)), min_size=1, max_size=4)


def damaged(content: bytes, hits) -> bytes:
    for place, kind, new in hits:
        at = int(place * len(content))
        if kind == "truncate":
            content = content[:at]
        else:
            until = {"change": at + len(new), "cut": at + 4 * len(new), "insert": at}[kind]
            content = content[:at] + (b"" if kind == "cut" else new) + content[until:]
    return content


def read_or_refused(read, path: Path) -> None:
    """Calls `read`, which may raise a ConfigError of one line, and leaves the file as it is."""
    before, refusal = path.read_bytes(), ""
    try:
        read()
    except ConfigError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert path.read_bytes() == before


@settings(max_examples=200, **FUZZ)
@given(damages)
def test_checkpoints(saved, hits):
    model, _, content = saved
    path = Path("checkpoint-000000000010.npz")
    path.write_bytes(damaged(content, hits))

    def read():
        arrays, meta = checkpoint.load(path)
        from_meta(meta, path)
        model.restore(arrays)

    read_or_refused(read, path)


# What JSON can hold and no setting is.
WORST = [10**400, -(10**400), math.inf, math.nan, 1e308, True, "", "a" * 10**6, "\ud800", "\0", "a\nb", "x:y", "..:a"]
WORST += [[], {}, [[]] * 99, json.loads("[" * 900 + "]" * 900)]
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=4,
)


@settings(max_examples=100, **FUZZ)
@given(st.data())
def test_what_a_checkpoint_says_of_its_run(saved, data):
    """The file is whole, and one value in it is another."""
    _, meta, _ = saved
    meta = json.loads(json.dumps(meta))
    where, key = meta, data.draw(st.sampled_from(sorted(meta)))
    while isinstance(where[key], dict) and data.draw(st.booleans()):
        where = where[key]
        key = data.draw(st.sampled_from(sorted(where)))
    where[key] = data.draw(st.one_of(values, st.sampled_from(WORST)))
    refusal = ""
    try:
        read = from_meta(meta, "here")
        place = run_directory.game_directory(read.settings.environment.game)
    except ConfigError as error:
        refusal = str(error)
    else:
        assert isinstance(read.totals.steps, int)
        assert place.parent == run_directory.RESULTS
        assert f"{read.totals.seconds / 60:.1f} {np.mean([*read.recent_scores, 0.0])}"
        assert all(count >= 1 for count in read.counts)
        ranges.check(read.settings)
    assert refusal.isprintable()
    assert len(refusal) < 2_100


OTHERS = [np.zeros(3), np.zeros((3, 256), "f4"), np.array("text"), np.array(["a", "b"]), np.float32("nan"), np.zeros(0)]
OTHERS += [np.array(-1), np.zeros((3, 256), "c16"), np.full((3, 256), np.nan, "f4")]
names = st.sampled_from(["network/0", "network/1", "optimizer/0", "version"])


@settings(max_examples=70, **FUZZ)
@given(st.dictionaries(names, st.sampled_from(OTHERS), min_size=1))
def test_arrays_that_are_others(saved, others):
    model, _, _ = saved
    before = model.state()
    with contextlib.suppress(ConfigError):
        model.restore(before | others)
        assert all(np.isfinite(array).all() for array in model.state().values())
    model.restore(before)


@settings(max_examples=130, **FUZZ)
@given(damages)
def test_logs(hits):
    rows = "".join(",".join(str(n + 0.5) for _ in THROUGHPUT_COLUMNS) + "\n" for n in range(5))
    path = Path("run") / "throughput.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(damaged((",".join(THROUGHPUT_COLUMNS) + "\n" + rows).encode(), hits))
    read_or_refused(lambda: read_csv(path), path)
    mend(path, THROUGHPUT_COLUMNS, 3)
    if not path.exists():  # its header was hit
        path.with_name("throughput.csv.damaged").unlink()
        return
    mended = read_csv(path)
    assert list(mended) == THROUGHPUT_COLUMNS
    assert (mended["steps"] <= 3).all()


@settings(max_examples=4, **FUZZ)
@given(damages)
def test_logs_are_drawn(hits):
    run = Path("drawn")
    run.mkdir(exist_ok=True)
    for name, columns in (("throughput", THROUGHPUT_COLUMNS), ("episodes", ["seconds", "steps", "score"])):
        rows = "".join(",".join(str(n + 0.5) for _ in columns) + "\n" for n in range(5))
        (run / f"{name}.csv").write_bytes(damaged((",".join(columns) + "\n" + rows).encode(), hits))
    with contextlib.suppress(ConfigError):
        draw([run], run / "plot.png")


LOGS = {
    "throughput": ",".join(THROUGHPUT_COLUMNS),
    "episodes": ",".join(EPISODE_COLUMNS),
    "controller": "seconds,reason,kept,tps",
    "messages": "time,message",
}


@settings(max_examples=100, **FUZZ)
@given(st.sampled_from(sorted(LOGS)), damages, damages, st.integers(20, 130), st.integers(5, 50))
def test_runs_are_watched(name, hits, more_hits, width, height):
    """Whatever their files hold, and whatever is added to them while somebody looks."""
    run = Path("watched")
    run.mkdir(exist_ok=True)
    (run / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(Settings())}))
    for log, header in LOGS.items():
        rows = "".join(",".join(str(n + 0.5) for _ in header.split(",")) + "\n" for n in range(9))
        content = (header + "\n" + rows).encode()
        (run / f"{log}.csv").write_bytes(damaged(content, hits) if log == name else content)
    (run / ".lock").write_bytes(damaged(b'{"time": 1.5, "steps": 9, "minutes": 2.0, "episodes": null}', hits))
    view = RunView(run)
    for running in (False, True):
        view.running, view._start = running, lock.read_start(run)
        console = Console(width=width, height=height, file=io.StringIO())
        console.print(screen(view, width, height, "the footer"))
        with (run / f"{name}.csv").open("ab") as file:
            file.write(damaged(rows.encode(), more_hits))
        view.refresh()
    assert {len(column) for column in view.throughput.columns.values()} == {len(view.throughput)}


@settings(max_examples=100, **FUZZ)
@given(damages)
def test_config_files(hits):
    path = Path("config.json")
    path.write_bytes(damaged(json.dumps({"settings": saved_settings.to_dict(Settings())}, indent=2).encode(), hits))
    read_or_refused(lambda: read_settings(path.parent), path)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"settings":' * 100_000, "9" * 5000, "", "\0", '"\\ud800"', "null"]
)
def test_config_files_that_are_none(content):
    path = Path("config.json")
    path.write_text(content)
    read_or_refused(lambda: read_settings(path.parent), path)
    with pytest.raises(ConfigError):
        read_settings(path.parent)
