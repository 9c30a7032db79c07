"""What games print: a few lines are shown, the rest lies in a file of the run."""

import os
import subprocess
import sys
import threading

import pytest

from ga3c.records import game_output
from ga3c.records.game_output import FATAL_LINES, SHOWN_LINES, GameOutput
from tests import program
from tests.program import TINY, Started


@pytest.fixture
def output(tmp_path):
    said = []
    return GameOutput(tmp_path / "game-output.txt", said.append), said, tmp_path / "game-output.txt"


def test_a_few_lines_are_shown_and_the_rest_is_in_a_file(output):
    taking, said, file = output
    for number in range(100):
        taking.take(f"line {number}\nha")
        taking.take("lf\n")
    taking.take("the last has no end")
    taking.finish()
    assert said[:SHOWN_LINES] == [f"Game: {line}" for number in range(20) for line in (f"line {number}", "half")]
    (more,) = said[SHOWN_LINES:]
    assert more.startswith(f"The games print more than {SHOWN_LINES} lines: the rest is in ")
    lines = file.read_text().splitlines()
    assert lines[0] == "line 20"
    assert (len(lines), lines[-1]) == (161, "the last has no end")


PRINTING = """
import multiprocessing, multiprocessing.forkserver, os, signal, sys
from ga3c.processes import agents_start
from ga3c.records.files import has_something

printed, prints = os.pipe()
agents_start.start(prints)
for number in range(2):
    agents_start.ensure_running()
    process = multiprocessing.get_context("forkserver").Process(target=print, args=(number,))
    process.start()
    process.join()
    assert has_something(printed, 0), "it was printed elsewhere"
    assert os.read(printed, 100) == b"%d\\n" % number
    parent = multiprocessing.forkserver._forkserver._forkserver_pid
    os.kill(parent, signal.SIGKILL)
    os.waitid(os.P_PID, parent, os.WEXITED | os.WNOWAIT)
"""


def test_agents_print_there_too_once_the_process_that_they_are_forked_from_was_killed():
    ended = subprocess.run(
        [sys.executable, "-c", PRINTING], cwd=program.ROOT, capture_output=True, text=True, timeout=program.HANG_SECONDS
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def test_a_game_that_prints_little_leaves_no_file(output):
    taking, said, file = output
    taking.take("one\n")
    taking.finish()
    assert said == ["Game: one"]
    assert not file.exists()


def test_the_traceback_of_a_crash_is_always_shown(output):
    taking, said, _ = output
    taking.take("much\n" * 1000)
    where = '  File "game.py", line 7 in step'
    taking.take("Fatal Python error: Segmentation fault\n" + f"much\n{where}\n" * 100)
    shown = ["Game: Fatal Python error: Segmentation fault"] + [f"Game: {where}"] * (FATAL_LINES - 1)
    assert said[SHOWN_LINES + 1 :] == shown


def test_what_each_agent_says_of_its_games_is_shown_once(output):
    taking, said, _ = output
    taking.take("much\n" * 1000 + "ga3c: The game is odd.\n" * 3)
    assert said[SHOWN_LINES + 1 :] == ["The game is odd."]


def test_the_file_grows_no_larger_than_it_may(output, monkeypatch):
    taking, said, file = output
    monkeypatch.setattr(game_output, "MOST_BYTES", 1000)
    for _ in range(1000):
        taking.take("much of it\n")
    taking.take("x" * 10_000_000)  # no end of line, and nothing of it is kept
    assert 1000 < file.stat().st_size < 1100
    assert file.read_text().endswith("(The rest is left out: 0.001 MB are enough.)\n")
    again = GameOutput(file, said.append)  # after a resume
    again.take("more\n" * 100)
    assert file.stat().st_size < 1200


def test_what_comes_out_of_a_pipe_is_there_in_the_end(output):
    taking, _, file = output
    printed, prints = os.pipe()
    taking.follow(printed)
    for _ in range(100):
        os.write(prints, b"much\xff of it\n" * 100)
    taking.finish()
    assert len(file.read_text().splitlines()) == 10_000 - SHOWN_LINES
    os.close(prints)


def test_of_the_servers_own_threads_the_main_one_prints_as_before(output, monkeypatch, capsys):
    taking, said, _ = output
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # both are put back
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    taking.take_streams()
    print("the program's own")
    thread = threading.Thread(target=lambda: print("a game's"))
    thread.start()
    thread.join()
    assert said == ["Game: a game's"]
    assert capsys.readouterr().out == "the program's own\n"


def test_a_game_that_prints_at_each_step_does_not_flood_the_console(tmp_path):
    """Agents print, in each way, and die: that is seen."""
    run, log = tmp_path / "run", tmp_path / "log"
    started = Started(log, *TINY, "--game", "tests.tiny_environment:Printing-v0", "--run-dir", run)
    started.wait_for(lambda: "died (SIGSEGV)" in log.read_text())
    started.stop()
    lines = log.read_text().splitlines()
    assert sum(line.startswith(("Game: step", "Game: in another way")) for line in lines) <= SHOWN_LINES
    assert not any(line.startswith(("step", "in another way")) for line in lines)
    assert "Game: Fatal Python error: Segmentation fault" in lines
    kept = (run / "game-output.txt").read_text().splitlines()
    assert {word for line in kept for word in line.split()[:1]} >= {"step", "in"}


def test_in_one_thread_neither(tmp_path):
    words = *TINY, "--game", "tests.tiny_environment:Printing-v0", "--serial", "--steps", 100, "--plot-seconds", 0
    ended = program.run(*words, "--run-dir", tmp_path / "run")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert sum(line.startswith("Game: step") for line in lines) == SHOWN_LINES
    assert not any(line.startswith("step") for line in lines)
    assert len((tmp_path / "run" / "game-output.txt").read_text().splitlines()) >= 100 - SHOWN_LINES
