"""The order of the tests, and one short run on a real game that several files look at."""

import os
import signal

import pytest

from tests import program
from tests.own_code_games import OWN_CODE_GAMES

# A shell that starts this in the background has it ignored, and what the tests start and interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # under nohup: this goes on, and what it starts may be hung up
    signal.signal(signal.SIGHUP, lambda *_: None)

# Ray gives its processes, and so pods, a nice level of 15: beside other tests they would hardly run.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112

# The files that take longest begin, so that none of them is alone at the end. (`run.sh` leaves them in their order.)
# Most of their time goes into programs that they start: `--quick` leaves them out.
LONGEST = """hostile_runs cluster machines training chaos play memory emulator_modes emulator_cuda setup replicas tune
    turns agent_pool replayed games_file export exports datasets tracking serial benchmark units dashboard gaussian
    screen cule atari_ours fuzz apex secondary batched comparison zoo reproduce python replay_file emulator_games
    program records report own_games other_systems dashboard_server dpg machine emulator_starts package vector_env"""
PLACES = {f"test_{name}": place for place, name in enumerate(LONGEST.split())}


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="leave out the files that take longest (tests/conftest.py)")
    parser.addoption("--long", action="store_true", help="all variants of each test (tests/variants.py)")
    parser.addoption("--all-code", action="store_true", help="all games by the code made for them (own_code_games.py)")


def pytest_ignore_collect(collection_path, config):
    return True if config.getoption("quick") and collection_path.stem in PLACES else None


def pytest_configure(config):
    config.addinivalue_line("markers", "long: a test or a variant that runs with --long alone (tests/variants.py)")


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if item.get_closest_marker("long") and not config.getoption("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    items.sort(key=lambda item: PLACES.get(item.path.stem, len(PLACES)))


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


@pytest.fixture
def own_code_of_some_games(request, monkeypatch):
    """The others are played by the loop over their instructions, unless `--all-code` is given."""
    from ga3c.emulator import starts

    def code_for(game, *arguments):
        wanted = game in OWN_CODE_GAMES or request.config.getoption("all_code")
        return made(game, *arguments) if wanted else 0

    made = starts.code_for
    monkeypatch.setattr(starts, "code_for", code_for)


@pytest.fixture(scope="session")
def atari_run(tmp_path_factory):
    """(directory, exit status, output) of a run on Pong: some updates and a decision, then Ctrl-C."""
    run_dir = tmp_path_factory.mktemp("results") / "Pong" / "run"
    arguments = ["--game", "Pong", "--run-dir", run_dir, "--controller-seconds", 2]
    arguments += ["--log-seconds", 1, "--checkpoint-seconds", 2]
    run_dir.parent.mkdir()
    started = program.Started(run_dir.parent / "output.txt", *arguments)

    def enough() -> bool:
        rows = program.rows(run_dir / "throughput.csv")
        return bool(rows) and int(rows[-1]["steps"]) >= 9_000 and bool(program.rows(run_dir / "controller.csv"))

    started.wait_for(enough)
    status = started.stop()
    return run_dir, status, started.log.read_text()
