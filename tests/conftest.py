"""One short run on a real game that several files look at."""

import pytest

from tests import program


@pytest.fixture(scope="session")
def atari_run(tmp_path_factory):
    """(directory, how it ended) of a finished run of a few hundred updates on Pong."""
    run_dir = tmp_path_factory.mktemp("results") / "Pong" / "run"
    arguments = ["--game", "Pong", "--run-dir", run_dir, "--steps", 24_000, "--log-seconds", 1]
    ended = program.run(*arguments, "--controller-seconds", 2, "--checkpoint-seconds", 2, timeout=240)
    return run_dir, ended
