"""--track: what trackers get of a run that is killed and goes on, and what a run has to do with those that fail.

W&B writes offline here, and MLflow into a store of files. Where a tracker shall fail, a module of its name does.
"""

import json
import os
import signal
import struct
import textwrap
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from wandb.proto.wandb_internal_pb2 import Record

from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.python.words import words_of
from ga3c.records.csv_log import CsvLog
from ga3c.records.disk import Disk
from ga3c.settings.run import Settings
from ga3c.tracking import tracked_run, tracker_process, trackers
from ga3c.tracking.new_rows import GAMES_PER_ROW, Points
from ga3c.tracking.secrets_left_out import without_secrets
from ga3c.tracking.tracker_process import TrackerProcess
from tests import program
from tests.program import SLOW

BLOCK_BYTES = 32_768
PATIENT = f"from ga3c.tracking import trackers\ntrackers.END_SECONDS = {program.HANG_SECONDS}\n"
COLUMNS = {
    "episodes": ["seconds", "steps", "score", "length_steps", "agent"],
    "throughput": ["seconds", "steps", "pps"],
}
SLEEPS = "import time\ntime.sleep(3600)"


# What trackers hold.


def wandb_records(file: Path):
    """The records of W&B's offline file: parts in blocks, each after its checksum, length and kind."""
    content, at, record = file.read_bytes(), 7, b""
    while at + 7 <= len(content):
        if (left := BLOCK_BYTES - at % BLOCK_BYTES) < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, at)
        record += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # a whole one, or the last part of one
            yield Record.FromString(record)
            record = b""


def in_wandb(run: Path):
    """Of all starts: the runs there, rows by steps, and the kinds of all records."""
    runs, rows, kinds = set(), {}, set()
    for file in sorted((run / "tracking" / "wandb").glob("offline-run-*/*.wandb")):
        for record in wandb_records(file):
            kinds.add(record.WhichOneof("record_type"))
            if record.HasField("run"):
                runs.add((record.run.run_id, record.run.run_group))
            if record.HasField("history"):
                items = {(i.key or i.nested_key[0]): json.loads(i.value_json) for i in record.history.item}
                rows[record.history.step.num] = {name: v for name, v in items.items() if name[0] != "_"}
    return runs, rows, kinds


def in_mlflow(store: Path):
    """The only run there, its rows by steps, and the names of its files."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(store.as_uri())
    (experiment,) = client.search_experiments(filter_string="name = 'ga3c'")
    (found,) = client.search_runs([experiment.experiment_id])
    rows = {}
    for name in found.data.metrics:
        for metric in client.get_metric_history(found.info.run_id, name):
            assert name not in rows.setdefault(metric.step, {})  # each value was sent once
            rows[metric.step][name] = metric.value
    return found, rows, {file.path for file in client.list_artifacts(found.info.run_id)}


def in_csv(run: Path):
    """The rows by steps, without cells that hold nothing. Of rows with equal steps it is the first."""
    rows = program.rows(run / "throughput.csv")
    numbers = [{name: float(cell or "nan") for name, cell in row.items()} for row in rows]
    return {int(row.pop("steps")): {k: v for k, v in row.items() if v == v} for row in reversed(numbers)}


def of_log(rows: dict) -> dict:
    """The rows of throughput.csv alone, without games that ended at the same step."""
    logged = {steps: row for steps, row in rows.items() if "pps" in row}
    return {steps: {k: v for k, v in row.items() if not k.startswith("game_")} for steps, row in logged.items()}


def sent(run: Path, tracker: str) -> int:
    with suppress(OSError):
        return json.loads((run / "tracking" / f"{tracker}.json").read_text())["steps"]
    return -1


def test_a_run_that_is_killed_and_goes_on_is_one_run_there(tmp_path, monkeypatch):
    store, run = tmp_path / "mlruns", tmp_path / "run"
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.as_uri())
    monkeypatch.setenv("WANDB_API_KEY", "0123456789" * 4)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nobody answers there
    monkeypatch.setenv("WANDB_INIT_TIMEOUT", "2")
    small = ["--game", "CartPole-v1", "--agents", 1, "--envs-per-agent", 4, "--controller", "off", *SLOW]
    quick = ["--checkpoint-seconds", 1, "--log-seconds", 1, "--plot-seconds", 0]
    names = ("wandb", "mlflow", "tensorboard")
    started = program.Started(tmp_path / "log", *small, *quick, "--run-dir", run, "--track", *names)
    started.wait_for(lambda: (run / "checkpoints").exists() and all(sent(run, name) > 500 for name in names))
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait()
    assert not started.left_over()
    assert "W&B: offline, into" in started.log.read_text()
    before, last = in_csv(run), {name: sent(run, name) for name in names}

    monkeypatch.setenv("WANDB_MODE", "offline")
    ended = program.run("--resume", run, "--steps", max(last.values()) + 600, code=PATIENT)
    assert (ended.returncode, "not sent" in ended.stdout) == (0, False), ended.stdout
    after = in_csv(run)

    def expected(name):
        """The rows of the first start that were sent, and those of the second from there on."""
        return {s: r for s, r in before.items() if s <= last[name]} | {s: r for s, r in after.items() if s > last[name]}

    found, rows, files = in_mlflow(store)
    assert found.info.status == "FINISHED"
    assert found.data.params["run.track"] == str([*names])
    assert of_log(rows) == expected("mlflow")
    assert {"config.json", "messages.csv", "game.mp4"} < files
    assert any(name.endswith(".npz") for name in files)
    runs, rows, kinds = in_wandb(run)
    assert runs == {(json.loads((run / "tracking" / "wandb.json").read_text())["run_id"], found.data.tags["group"])}
    assert of_log(rows) == expected("wandb")
    assert {"artifact", "output_logger"} < kinds
    assert "wandb sync" in ended.stdout
    assert any("game_score" in row for row in rows.values())
    events = [event for file in (run / "tensorboard").glob("*.tracking") for event in EventFileLoader(str(file)).Load()]
    tags = {value.tag for event in events for value in event.summary.value}
    assert tags == {"ga3c/settings", "ga3c/messages", "ga3c/game_score", "ga3c/game_length_steps"}


# Trackers that fail.


def fake(folder: Path, name: str, code: str) -> str:
    """Returns what puts a module in a package's place."""
    (folder / f"{name}.py").write_text(code)
    return f"import sys\nsys.path.insert(0, {str(folder)!r})\n"


def test_a_run_ends_though_one_tracker_sleeps_and_another_dies(tmp_path):
    run = tmp_path / "run"
    code = fake(tmp_path, "wandb", SLEEPS) + fake(tmp_path, "mlflow", "import os\nos._exit(3)")
    code += "from ga3c.tracking import trackers\ntrackers.END_SECONDS = 0.5\n"
    flags = ["--log-seconds", 0.5, "--plot-seconds", 0, "--run-dir", run, "--track", "wandb", "mlflow"]
    started = program.Started(tmp_path / "log", *program.TINY, *SLOW, *flags, code=code)
    started.wait_for(lambda: "MLflow fails" in started.log.read_text() and program.rows(run / "throughput.csv"))
    assert (started.stop(), started.left_over()) == (128 + signal.SIGINT, [])
    said, rows = started.log.read_text(), program.rows(run / "throughput.csv")
    assert said.count("MLflow fails: its process has ended with status 3. Training goes on") == 1
    for title in ("W&B", "MLflow"):
        assert f"\n{title}: {len(rows)} row{'s' * (len(rows) > 1)} of throughput.csv w" in said
    assert f"\n{int(rows[-1]['steps']):,} steps" in said


@pytest.fixture
def run(tmp_path):
    """A run with three rows and some games."""
    path = tmp_path / "run"
    path.mkdir()
    rows = CsvLog(path / "throughput.csv", COLUMNS["throughput"], Disk(print))
    rows.append([[1, 100, 5], [2, 200, 6], [3, 300, ""]])
    games = CsvLog(path / "episodes.csv", COLUMNS["episodes"], Disk(print))
    games.append([[1, steps, steps / 2, 9, 0] for steps in (90, 100, 150, 301)])
    CsvLog(path / "messages.csv", ["time", "message"], Disk(print)).append([[1, "begun"]])
    (path / "config.json").write_text(json.dumps({"settings": {"run": {"steps": None}}}))
    return path


def track(run: Path, monkeypatch, code: str, interrupted=lambda: False, failures=0) -> list[str]:
    """What is said while a module stands in W&B's place. The run ends after so many failures."""
    (run.parent / "wandb.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(run.parent)
    said, settings = [], Settings()
    followed = trackers.Trackers(replace(settings, run=replace(settings.run, track=("wandb",))), run, said.append)
    deadline = time.monotonic() + program.HANG_SECONDS
    while len(said) < failures:
        assert time.monotonic() < deadline, said
        time.sleep(0.05)
    followed.end(failed=False, with_game=False, interrupted=interrupted)
    return said


RAISES = """
    import os
    class Settings:
        def __init__(self, **_): pass
    def init(**_):
        raise OSError(f"no way to https://me:{os.environ['WANDB_API_KEY']}@there with {os.environ['WANDB_API_KEY']}")
"""


def test_a_tracker_that_raises_is_told_once_and_without_secrets(run, monkeypatch):
    monkeypatch.setattr(trackers, "END_SECONDS", program.HANG_SECONDS)
    monkeypatch.setenv("WANDB_API_KEY", "abcdefgh")
    monkeypatch.setenv("WANDB_MODE", "offline")
    said = track(run, monkeypatch, RAISES, failures=1)
    assert len(said) == 2, said
    assert said[0].startswith("W&B fails: OSError: no way to https://***@there with ***. Training goes on")
    assert said[1] == "W&B: 3 rows of throughput.csv were not sent. --resume sends them."
    written = (run / "tracking" / "wandb.log").read_text()
    assert ("OSError" in written, "abcdefgh" in written) == (True, False)


def test_a_store_that_does_not_answer_has_a_file_in_its_place_but_not_in_the_middle_of_a_run(run, monkeypatch):
    from ga3c.tracking import to_mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    followed = tracked_run.TrackedRun(str(run), "Pong", "Pong-run", "", str(run / "mlruns"), 0)
    sent = tracked_run.Sent()
    tracker = to_mlflow.begin(followed, sent)
    assert sent.is_local
    assert tracker.where.startswith(f"offline, into {run / 'mlruns'}, because MLflow said: ")
    with pytest.raises(Exception, match=r"127\.0\.0\.1"):
        to_mlflow.begin(followed, replace(sent, is_local=False))


def test_an_interrupt_ends_the_waiting(run, monkeypatch):
    monkeypatch.setattr(trackers, "END_SECONDS", 3.0)
    asked = []
    said = track(run, monkeypatch, SLEEPS, interrupted=lambda: not asked.append("now"))
    assert (said, asked) == (["W&B: 3 rows of throughput.csv were not sent. --resume sends them."], ["now"])


def test_a_tracker_that_sleeps_ends_when_the_run_was_killed(run, monkeypatch):
    (run.parent / "wandb.py").write_text(SLEEPS)
    monkeypatch.syspath_prepend(run.parent)
    soon = tracker_process.PROGRAM.replace("main()", "sending.GRACE_SECONDS = 1; main()")
    soon = soon.replace("; sending.", "; from ga3c.tracking import sending; sending.")
    monkeypatch.setattr(tracker_process, "PROGRAM", soon)
    followed = TrackerProcess("wandb", "W&B", tracked_run.TrackedRun(str(run), "", "", "", "", 0), print)
    followed._process.stdin.close()  # as the kernel does it then
    assert followed._process.wait(program.HANG_SECONDS) == -signal.SIGKILL


# What they are given.


def test_points_are_the_rows_and_some_of_the_games_before_each(run):
    points = Points(run, steps=100)  # up to here all was sent
    game = {"game_score": 75, "game_length_steps": 9}
    assert points.new() == [(150, game), (200, {"seconds": 2, "pps": 6}), (300, {"seconds": 3})]
    games, rows = (CsvLog(run / f"{name}.csv", columns, Disk(print)) for name, columns in COLUMNS.items())
    games.append([[4, steps, 1, 9, 0] for steps in range(302, 400)])
    assert points.new() == []  # games wait for their row
    rows.append([[4, 400, 7]])
    new = points.new()
    assert new[0] == (301, {"game_score": 150.5, "game_length_steps": 9})
    assert new[-1] == (400, {"seconds": 4, "pps": 7})
    assert GAMES_PER_ROW / 2 < len(new) - 1 <= GAMES_PER_ROW


def test_rows_that_a_resumed_run_makes_again_are_left_out(run):
    points = Points(run, steps=-1)
    assert [steps for steps, _ in points.new()] == [90, 100, 150, 200, 300]
    (run / "other").write_text("seconds,steps,pps,entropy\n1,100,5,\n9,25x,1,1\n9,250,1,1\n9,350,1,0.5\n")
    os.replace(run / "other", run / "throughput.csv")
    assert points.new()[-1] == (350, {"seconds": 9, "pps": 1, "entropy": 0.5})
    assert points.new() == []


def test_seeds_of_a_setting_are_a_group():
    plain, seed, other = (
        parse_settings(["--game", "CartPole-v1", *flags]).settings
        for flags in ([], ["--seed", "3", "--steps", "100"], ["--t-max", "7"])
    )
    groups = [tracked_run.group_of(settings, "CartPole-v1") for settings in (plain, seed, other)]
    assert groups[0] == groups[1] != groups[2]
    assert groups[0].startswith("CartPole-v1-ga3c-")


def test_secrets_are_left_out(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "pass word")
    assert without_secrets("postgresql://me:1@there: pass word") == "postgresql://***@there: ***"


# The flag.


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setattr(trackers, "find_spec", lambda name: None)
    with pytest.raises(
        ConfigError, match=r"^--track mlflow needs .* is not installed: ./run.sh --track mlflow installs it\.$"
    ):
        parse_settings(["--game", "CartPole-v1", "--track", "mlflow"])


def test_the_words_of_the_flag():
    with pytest.raises(ConfigError, match="invalid choice 'neptune' for argument '--track'"):
        parse_settings(["--track", "neptune"])
    words = words_of("CartPole-v1", None, None, {"track": ["wandb", "mlflow"]})
    assert parse_settings(words).settings.run.track == ("wandb", "mlflow")
    assert parse_settings(words_of("CartPole-v1", None, None, {"track": "wandb"})).settings.run.track == ("wandb",)


def test_a_resumed_run_is_tracked_unless_the_flag_says_no(tmp_path):
    small = [*program.TINY, "--serial", "--steps", 200]
    made = program.run(*small, "--run-dir", tmp_path / "run", "--track", "tensorboard")
    assert made.returncode == 0
    tracked = [
        parse_settings(["--resume", str(tmp_path / "run"), *more]).settings.run.track for more in ([], ["--track"])
    ]
    assert tracked == [("tensorboard",), ()]
