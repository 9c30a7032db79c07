"""The order of the tests, and one short run on a real game that several files look at."""

import os
import signal

import pytest

from tests import program

# A shell that starts this in the background has it ignored, and what the tests start and interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The files that take longest begin, so that none of them is alone at the end. (`run.sh` leaves them in their order.)
FIRST = ["training", "turns", "atari_ours", "play", "chaos", "replayed", "replicas", "hostile_runs", "cluster"]
FIRST += ["emulator_cuda", "units", "games_file", "export", "benchmark", "cule", "dashboard", "comparison", "reproduce"]


def pytest_collection_modifyitems(items):
    place = {f"test_{name}": number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(FIRST)))


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    """A test that fails does not get to stop what it has started."""
    yield
    while program.STARTED:
        process = program.STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture(scope="session", autouse=True)
def notes_of_our_own(tmp_path_factory):
    """What the tests train on is noted in no home."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def atari_run(tmp_path_factory):
    """(directory, exit status, output) of a run on Pong: a few hundred updates and a decision, then Ctrl-C."""
    run_dir = tmp_path_factory.mktemp("results") / "Pong" / "run"
    arguments = ["--game", "Pong", "--run-dir", run_dir, "--controller-seconds", 2]
    arguments += ["--log-seconds", 1, "--checkpoint-seconds", 2]
    run_dir.parent.mkdir()
    started = program.Started(run_dir.parent / "output.txt", *arguments)

    def enough() -> bool:
        rows = program.rows(run_dir / "throughput.csv")
        return bool(rows) and int(rows[-1]["steps"]) >= 24_000 and bool(program.rows(run_dir / "controller.csv"))

    started.wait_for(enough)
    status = started.stop()
    return run_dir, status, started.log.read_text()
