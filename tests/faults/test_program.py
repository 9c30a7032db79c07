"""The whole program, while its directory is moved, when links lie there, and when a write fails."""

import json
import shutil

from ga3c.records import checkpoint
from ga3c.settings import saved_settings
from ga3c.settings.run import Settings
from tests import program
from tests.faults import real_run
from tests.program import SLOW, TINY, Started


def test_a_real_run_goes_on(tmp_path):
    real_run.fail(tmp_path, 60, "error", lasting=4)


def test_a_directory_that_is_moved_or_removed_while_it_trains(tmp_path):
    run, elsewhere, log = tmp_path / "run", tmp_path / "elsewhere", tmp_path / "log"
    started = Started(log, *TINY, *SLOW, "--run-dir", run, *real_run.OFTEN)
    started.wait_for(lambda: checkpoint.saved(run / "checkpoints"))
    run.rename(elsewhere)
    started.wait_for(lambda: "was moved or removed" in log.read_text())
    for second in (["--resume", elsewhere], [*TINY, "--run-dir", run, "--steps", 500]):
        refused = program.run(*second)
        assert refused.returncode == 2
        assert "Another process trains in" in refused.stderr
        assert not run.exists()
    elsewhere.rename(run)
    started.wait_for(lambda: "The disk takes everything again" in log.read_text())
    newest = checkpoint.saved(run / "checkpoints")[-1]
    started.wait_for(lambda: checkpoint.saved(run / "checkpoints")[-1] != newest)
    while run.exists():  # a file may come while the others go
        shutil.rmtree(run, ignore_errors=True)
    started.wait_for(lambda: log.read_text().count("was moved or removed") == 2)
    run.mkdir()  # somebody else's
    assert started.stop() == 1
    assert list(run.iterdir()) == []
    said = log.read_text()
    assert "Traceback" not in said
    assert "Saved in" not in said
    assert said.count("was moved or removed") == 2


def test_resume_refuses_a_lock_that_leads_elsewhere(tmp_path):
    run, precious = tmp_path / "run", tmp_path / "precious"
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"settings": saved_settings.to_dict(Settings())}))
    precious.write_text("precious")
    (run / ".lock").symlink_to(precious)
    refused = program.run("--resume", run)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert f"{run / '.lock'} is a link, or no file" in refused.stderr
    assert precious.read_text() == "precious"
