"""The screen of a run: drawn from files that this test writes, and at a real terminal with a real run."""

import csv
import io
import json
import math
import os
import shutil
import signal
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from rich.console import Console

from ga3c.play.displays.window import fitting
from ga3c.records import lock, run_directory
from ga3c.records.columns import EPISODE_COLUMNS, THROUGHPUT_COLUMNS
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.run import RunSettings, Settings
from ga3c.views import run_view
from ga3c.views.figures import clock
from ga3c.views.run_view import RunView
from ga3c.views.text_charts import chart, curve
from ga3c.views.training_screen import screen
from tests import program
from tests.program import SLOW, TINY
from tests.terminal import SHELL, Terminal


@pytest.mark.parametrize(
    ("values", "width", "height", "lines"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8], 8, 1, ["▁▂▃▄▅▆▇█"]),
        ([0, 15], 2, 2, [" █", "▁█"]),
        ([5, 5, 5], 3, 1, ["▄▄▄"]),
        ([1, 1, 8, 8], 2, 1, ["▁█"]),
        ([1, math.nan, 8], 10, 1, ["▁█"]),
        ([], 5, 2, ["", ""]),
    ],
)
def test_chart(values, width, height, lines):
    assert chart(values, width, height) == lines


def append(path, columns, rows):
    new = not path.exists()
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns] * new + rows)


def throughput(seconds, **cells):
    row = dict.fromkeys(THROUGHPUT_COLUMNS, 1) | {"seconds": seconds, "steps": 100 * seconds, "pps": 2743} | cells
    return [row[name] for name in THROUGHPUT_COLUMNS]


@pytest.fixture
def run_dir(tmp_path):
    path = tmp_path / "Pong" / "run"
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(Settings())}))
    append(path / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(5 * i, mean_score=i - 21) for i in range(1, 21)])
    append(path / "episodes.csv", EPISODE_COLUMNS, [[i, i, -21 + i // 100, 100, 0] for i in range(300)])
    append(path / "controller.csv", ["seconds", "reason"], [[70, "NA 2 -> 4, because: kept."]])
    said = [
        [0, "Agent 3 died"],
        [60, "  Thread x"],
        [120, "Controller: NA 2 -> 4, because: kept."],
        [180, "Saved in "],
    ]
    append(path / "messages.csv", ["time", "message"], said)
    return path


def lines(view, width=80, height=24):
    console = Console(width=width, height=height, color_system=None, record=True, file=io.StringIO())
    console.print(screen(view, width, height, "the footer"))
    return console.export_text().splitlines()


def test_what_stands_on_the_screen(run_dir):
    found = lines(RunView(run_dir))
    text = "\n".join(found)
    for words in ("Pong", "ended", "0:01:40", "10,000 steps", "2,743", "Agent 3 died"):
        assert words in text
    assert "Thread x" not in text
    news = found[-7:]
    said = [next(line for line in news if words in line) for words in ("Agent 3 died", "NA 2 -> 4", "Saved")]
    assert said == sorted(said, key=news.index), "in their order"
    times = [time.strftime("%H:%M", time.localtime(second)) for second in (0, 120, 180)]
    assert [line.split()[1] for line in said] == times, "all of one kind"
    assert text.count("NA 2 -> 4") == 1
    for label, value in (("last game", "-19.0"), ("mean of 100", "-19.00"), ("best", "-19.0"), ("trend", "+1.00")):
        assert any(label in line and value in line for line in found), label


@pytest.mark.parametrize(
    "size", [(80, 24), (120, 40), (64, 24), (50, 24), (40, 10), (200, 12), (60, 15), (200, 50), (20, 60)]
)
def test_it_fits(run_dir, size):
    width, height = size
    found = lines(RunView(run_dir), width, height)
    assert len(found) <= height
    assert max(map(len, found)) <= width
    assert found[-1].startswith("the footer"[: width - 1])


@pytest.mark.parametrize("cells", [("1e308",), ("-1e308", "1e308"), ("-1e150",), ("1e49", "-1e49")])
def test_whatever_the_logs_hold_it_is_drawn(run_dir, cells):
    logs = {"throughput": THROUGHPUT_COLUMNS, "episodes": EPISODE_COLUMNS, "messages": ["time"]}
    for name, columns in logs.items():
        rows = [[cell] * (len(columns) + (name == "messages")) for cell in cells] * 20
        append(run_dir / f"{name}.csv", columns, rows)
    assert "What happened" in "\n".join(lines(RunView(run_dir), 200, 50))


def test_on_a_small_screen_the_score_stays_longer_than_the_speed(run_dir):
    text = "\n".join(lines(RunView(run_dir), 60, 15))
    assert "mean of 100" in text
    assert "PPS" not in text


def test_on_a_large_screen_the_score_has_a_curve(run_dir):
    found = lines(RunView(run_dir), 200, 50)
    drawn = [line for line in found if any(0x2801 <= ord(letter) <= 0x28FF for letter in line)]
    assert len(drawn) > 15
    assert max(map(len, drawn)) > 150
    assert "What happened" in "\n".join(found)


def test_a_curve_of_dots():
    text, low, high = curve((np.arange(4.0), np.arange(4.0)), (np.array([0.0]), np.array([3.0])), (2, 1), ("a", "b"))
    assert (text[0].plain, low, high) == ("⡠⠊", 0.0, 3.0)
    flat, _, _ = curve((np.arange(2.0), np.ones(2)), (np.array([]), np.array([])), (3, 1), ("a", "b"))
    assert set(flat[0].plain) == {"⠒"}


def test_a_mean_of_fewer_than_100_games_says_so(run_dir):
    (run_dir / "episodes.csv").unlink()
    append(run_dir / "episodes.csv", EPISODE_COLUMNS, [[i, i, -21, 100, 0] for i in range(37)])
    assert any("mean of 37 " in line and "-21.00" in line for line in lines(RunView(run_dir)))


def test_while_games_start_it_says_so(run_dir, monkeypatch):
    monkeypatch.setattr(lock, "is_locked", lambda _: True)
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(105, agents=3, games=37)])
    view = RunView(run_dir)
    assert lines(view)[0].endswith(" starting 37 of 96 games")
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(110, agents=3, games=96)])
    view.refresh()
    assert lines(view)[0].endswith(" running")
    view._start = {"time": time.time() + 10}  # no row since then
    assert lines(view)[0].endswith(" starting")


def test_a_run_that_has_written_nothing_yet(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(Settings())}))
    assert "none yet" in "\n".join(lines(RunView(tmp_path)))


def test_before_the_first_game_has_ended(run_dir):
    (run_dir / "episodes.csv").unlink()
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(105, agents=3, games=96)])
    text = "\n".join(lines(RunView(run_dir)))
    assert "none over yet" in text
    assert "96 under way" in text
    append(run_dir / "episodes.csv", EPISODE_COLUMNS, [[1, 1, -21, 100, 0]])
    assert "under way" not in "\n".join(lines(RunView(run_dir)))


def test_new_rows_are_read_and_half_a_row_waits(run_dir):
    view = RunView(run_dir)
    text = ",".join(map(str, throughput(105, pps=17)))
    with (run_dir / "throughput.csv").open("a") as file:
        file.write(text[:40])
        file.flush()
        view.refresh()
        assert view.throughput.last("seconds") == 100
        file.write(text[40:] + "\n")
    view.refresh()
    assert (len(view.throughput), view.throughput.last("seconds"), view.throughput.last("pps")) == (21, 105, 17)


def test_a_log_that_was_mended_is_read_anew(run_dir):
    view = RunView(run_dir)
    (run_dir / "throughput.csv").unlink()
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(5)])
    view.refresh()
    assert len(view.throughput) == 1


def test_what_remains(run_dir, monkeypatch):
    """The nearest of the limits."""
    monkeypatch.setattr(lock, "is_locked", lambda _: True)
    view = RunView(run_dir)
    assert view.remaining_seconds is None
    now = time.time()
    monkeypatch.setattr(run_view, "time", SimpleNamespace(time=lambda: now))
    for limits, seconds in (
        ({"steps": 20_000}, 100),
        ({"steps": 20_000, "minutes": 1}, 60),
        ({"minutes": 1, "episodes": 50}, 60),  # no game has ended in these rows
    ):
        view._start = {"time": now} | limits
        os.utime(run_dir / "throughput.csv", (now, now))
        assert view.remaining_seconds == pytest.approx(seconds, abs=0.1)


def test_what_remains_of_minutes_after_a_resume(run_dir, monkeypatch):
    """Limits are of this start, and while its games started no training time went by."""
    monkeypatch.setattr(lock, "is_locked", lambda _: True)
    starting, training = [throughput(100.2)] * 8, [throughput(100.2 + 5 * i) for i in range(1, 6)]
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, [throughput(100.2), *starting])
    now = time.time()
    monkeypatch.setattr(run_view, "time", SimpleNamespace(time=lambda: now))
    os.utime(run_dir / "throughput.csv", (now, now))
    view = RunView(run_dir)
    view._start = {"time": now - 40, "minutes": 1}
    assert view.remaining_seconds == pytest.approx(60, abs=0.1)
    assert view.elapsed_seconds == 100.2
    append(run_dir / "throughput.csv", THROUGHPUT_COLUMNS, training)
    os.utime(run_dir / "throughput.csv", (now - 2, now - 2))
    view.refresh()
    view._start = {"time": now - 67, "minutes": 1}
    assert view.remaining_seconds == pytest.approx(60 - 25 - 2, abs=0.1)
    assert view.elapsed_seconds == pytest.approx(127.2, abs=0.1)


def test_a_window_fits_on_the_screen():
    grid_of_nine = (3 * 160, 3 * (210 + 18))
    width, height = fitting(grid_of_nine, (1440, 900))
    assert 700 < height < 850
    assert width / height == pytest.approx(grid_of_nine[0] / grid_of_nine[1], rel=0.01)
    assert fitting((320, 420), (1920, 1080)) == (480, 630)
    assert fitting((320, 420), (0, 0)) == (480, 630)  # of a display that does not say


def test_clock():
    assert [clock(s) for s in (0, 59.9, 3725)] == ["0:00:00", "0:00:59", "1:02:05"]


def test_who_trains_there_is_seen_and_not_disturbed(tmp_path):
    """A lock can be taken while somebody looks at it again and again."""
    assert not lock.is_locked(tmp_path)
    limits, before = replace(RunSettings(), minutes=3.0), time.time()
    run_directory.lock(tmp_path, limits)
    assert lock.is_locked(tmp_path)
    start = lock.read_start(tmp_path)
    assert start["minutes"] == 3.0
    assert "steps" not in start
    assert before <= start["time"] <= time.time()


LIMITS = ["--log-seconds", 0.5, "--controller-seconds", 1, "--minimum-batch-steps", 40, *SLOW]


@pytest.fixture
def live(tmp_path, request):
    """A training run in a terminal of 80 x 24, once its screen stands."""
    shell = getattr(request, "param", "")
    terminal = Terminal(*TINY, "--run-dir", tmp_path / "run", *LIMITS, shell=shell)
    whole = ("running", "Controller: ", "Ctrl-C stops and saves")  # its first, a middle and its last line
    terminal.wait_for(lambda: all(part in terminal.text() for part in whole))
    yield terminal
    terminal.kill()


def test_training_shows_its_screen_and_leaves_a_clean_terminal(live, tmp_path):
    assert live.screen.cursor.hidden
    for title in ("Speed", "Score", "Scheduling", "Learning", "What happened", "Ctrl-C stops and saves"):
        assert title in live.text()
    live.resize(30, 100)
    live.wait_for(lambda: any(line.rstrip().endswith("╮") and len(line.rstrip()) > 90 for line in live.screen.display))
    live.press("\x03")  # Ctrl-C
    assert live.end() == 130
    assert live.is_clean()
    assert f"Saved in {tmp_path / 'run'}" in live.output.rpartition(b"\x1b[?1049l")[2].decode()
    said = program.rows(tmp_path / "run" / "messages.csv")
    assert said[0]["message"].startswith("Training")
    assert any(row["message"].startswith("Saved") for row in said)
    assert all(psutil.Process().create_time() <= float(row["time"]) <= time.time() for row in said)


@pytest.mark.parametrize("live", [SHELL], indirect=True, ids=["in a shell"])
def test_the_terminal_is_given_back_when_the_training_is_killed(live):
    (training,) = psutil.Process(live.process.pid).children()
    training.kill()
    live.wait_for(live.is_clean)


def test_it_is_stopped_and_gone_on_with_and_goes_on_in_lines_when_its_screen_is_killed(live):
    """Ctrl-Z gives the terminal back; fg takes it again."""
    live.press("\x1a")
    live.wait_for(live.is_clean)
    os.killpg(live.process.pid, signal.SIGCONT)
    live.wait_for(lambda: not live.is_clean())
    children = psutil.Process(live.process.pid).children()
    (screen_process,) = [p for p in children if "ga3c.views.live_screen" in p.cmdline()]
    screen_process.kill()
    live.wait_for(lambda: "[PPS: " in live.text())
    assert live.is_clean()
    live.press("\x03")
    assert live.end() == 130


def test_plain_on_a_terminal(tmp_path):
    terminal = Terminal(*TINY, "--run-dir", tmp_path / "run", *LIMITS, "--console", "plain", "--minutes", 0.05)
    assert terminal.end() == 0
    assert b"?1049h" not in terminal.output
    assert b"[PPS: " in terminal.output


def test_watch_another_run_and_leave(tmp_path):
    run_dir = tmp_path / "run"
    training = program.Started(tmp_path / "log", *TINY, "--run-dir", run_dir, *LIMITS)
    training.wait_for(lambda: program.rows(run_dir / "throughput.csv"))
    watching = Terminal("watch", run_dir)
    watching.wait_for(lambda: "running" in watching.text())
    before = watching.text()
    watching.wait_for(lambda: watching.text() != before)
    assert not watching.is_clean()  # its own screen
    watching.press("q")
    assert watching.end() == 0
    assert watching.is_clean()
    assert training.process.poll() is None
    training.stop()
    again = Terminal("watch", run_dir)
    assert again.end() == 0
    assert "stopped" in again.text()
    assert b"?1049h" not in again.output  # it stays in the terminal


def test_an_exported_agent(tmp_path):
    """It has no logs: its evaluation says what it is."""
    agent = tmp_path / "Pong"
    shutil.copytree(run_directory.PRETRAINED / "Pong", agent)
    found = json.loads((agent / "evaluation.json").read_text())
    steps, frames, mean = found["steps_trained"], found["frames"], found["ways"]["sampled"]["mean"]
    text = "\n".join(lines(RunView(agent)))
    for words in ("exported", f"{steps:,} steps", f"{frames:,} frames", clock(60 * found["minutes"]), f"{mean:.2f}"):
        assert words in text, words
    ended = program.run("watch", agent)
    assert ended.returncode == 0, ended.stderr
    assert f"{steps:,} steps ({frames:,} frames) in {found['minutes']:.1f} minutes" in ended.stdout
    for content in ("", "[]", '{"ways": 3}', '{"ways": {"sampled": {"mean": "x"}}, "minutes": null}'):
        (agent / "evaluation.json").write_text(content)
        assert "exported" in "\n".join(lines(RunView(agent)))
    assert program.run("watch", agent).returncode == 0


def test_watch_into_a_pipe(run_dir):
    ended = program.run("watch", run_dir)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("[PPS: 2743 TPS: 1] [NT: 1 NP: 1 NA: 1]") == 1
