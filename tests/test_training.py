"""The whole program, with real processes, on a tiny environment and on a real Atari game."""

import contextlib
import fcntl
import json
import math
import os
import pty
import signal
import subprocess
import tempfile
import termios
import time

import numpy as np
import psutil
import pytest

from ga3c import text
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError, TrainingFailed
from ga3c.records import checkpoint, run_state
from ga3c.server.server import Server
from ga3c.views.run_view import RunView
from tests import program
from tests.program import HANG_SECONDS, SLOW, TINY, Started, fill
from tests.variants import long, variants


def test_it_solves_the_tiny_environment(tmp_path):
    run_dir = tmp_path / "run"
    quick = ["--learning-rate", 0.005, "--discount", 0.5, "--log-seconds", 1]
    ended = program.run(*TINY, *quick, "--run-dir", run_dir, "--episodes", 1_000)
    assert ended.returncode == 0, ended.stderr
    assert run_state.read(run_dir) == ("ended", "")
    scores = [float(row["score"]) for row in program.rows(run_dir / "episodes.csv")]
    assert np.mean(scores[:20]) < 10
    assert np.mean(scores[-200:]) > 15  # 20 is perfect, 5 is chance; 17 to 20 is usual
    said = [row["message"] for row in program.rows(run_dir / "messages.csv")]
    seen = "Observations: float32 [4] from 0 to 1, taken as a vector of 4; network: mlp (fully connected)."
    assert said.count(seen) == 1
    assert not (run_dir / "plot.png").exists()  # --plot-seconds 0


@pytest.mark.long
def test_the_learning_rate_falls_with_the_steps_of_the_run(tmp_path):
    norms = []
    for decay_steps in (0, 1):
        run_dir = tmp_path / str(decay_steps)
        flags = ["--learning-rate-decay-steps", decay_steps, "--controller", "off", "--log-seconds", 0.2]
        ended = program.run(*TINY, "--run-dir", run_dir, "--steps", 3_000, *flags)
        assert ended.returncode == 0, ended.stderr
        rows = [float(row["update_norm"]) for row in program.rows(run_dir / "throughput.csv")]
        norms.append([norm for norm in rows if not math.isnan(norm)][-1])  # the end alone: a quick run has few rows
    assert norms[1] < norms[0] / 100  # a ten-thousandth of the rate


def test_a_real_game_trains(atari_run):
    run_dir, status, output = atari_run
    assert status == 130, output  # Ctrl-C
    assert "Traceback" not in output
    assert {path.name for path in run_dir.iterdir()} >= {
        "config.json", "episodes.csv", "throughput.csv", "controller.csv", "checkpoints", "tensorboard", "plot.png",
    }  # fmt: skip
    rows = program.rows(run_dir / "throughput.csv")
    last = {name: float(value) for name, value in rows[-1].items()}
    assert last["steps"] >= 9_000
    assert last["frames"] == 4 * last["steps"]
    steps = [int(row["steps"]) for row in rows]
    assert steps == sorted(steps)
    assert all(math.isfinite(float(row["loss"])) for row in rows if row["loss"] != "nan")
    updates = json.loads(_meta(run_dir))["totals"]["updates"]
    assert updates >= 9_000 // 4096 - 1


def _meta(run_dir) -> str:
    return json.dumps(checkpoint.load_newest(run_dir / "checkpoints")[2])


def test_the_headers_of_the_logs(atari_run):
    run_dir = atari_run[0]
    assert (run_dir / "episodes.csv").read_text().splitlines()[0] == "seconds,steps,score,length_steps,agent"
    header = (run_dir / "throughput.csv").read_text().splitlines()[0]
    assert header.startswith(
        "seconds,steps,frames,pps,tps,updates_per_second,trained_steps_per_second,frames_per_second,agents,predictors,"
        "trainers,games,prediction_queue,training_queue,mean_prediction_batch,mean_training_batch,mean_policy_lag_updates,"
        "max_policy_lag_updates,"
    )
    # What the algorithm reports of an update, by its names.
    assert header.endswith(
        ",loss,policy_loss,value_loss,entropy,clip_fraction,approximate_kl,gradient_norm,clipped_share,value,value_error,"
        "explained_variance,update_norm,learning_rate"
    )


def test_every_transition_is_trained_on_once(atari_run):
    """The agents' own count of what they made, against what entered an update, across changes of the counts."""
    totals = json.loads(_meta(atari_run[0]))["totals"]
    assert totals["steps"] == totals["trained_steps"] > 0
    # Lost: what an agent had in its hands that was not done within the seconds of the stop.
    assert totals["made_steps"] == totals["steps"] + totals["lost_steps"]


def test_the_controller_decided_and_said_so(atari_run):
    run_dir, _, output = atari_run
    rows = program.rows(run_dir / "controller.csv")
    assert rows
    assert output.count("Controller: ") == len(rows)


def test_a_resumed_run_goes_on(atari_run):
    run_dir = atari_run[0]
    before = json.loads(_meta(run_dir))["totals"]
    ended = program.run("--resume", run_dir, "--steps", before["steps"] + 1_500, "--controller", "off")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    after = json.loads(_meta(run_dir))["totals"]
    for name in ("seconds", "steps", "updates", "predictions"):
        assert after[name] > before[name]
    assert after["trained_steps"] == after["steps"]
    # On a busy machine not all can be trained on within the seconds of the stop.
    assert after["made_steps"] == after["steps"] + after["lost_steps"] >= before["steps"] + 1_500
    rows = program.rows(run_dir / "throughput.csv")
    assert sum(row["steps"] == "steps" for row in rows) == 0, "a second header"
    seconds = [float(row["seconds"]) for row in rows]
    assert seconds == sorted(seconds)
    assert (run_dir / "config.json").read_text().count('"t_max"') == 1


NEW_NUMBER = """
from ga3c.devices import device
from ga3c.algorithms.a3c import A3C
update = A3C.update
def with_one_more(self, *arguments):
    weights, state, numbers = update(self, *arguments)
    return weights, state, numbers | {"made_up": device.tf.constant(7.5)}
A3C.update = with_one_more
"""


def test_a_resumed_run_has_the_weights_that_were_saved_what_is_asked_for_and_numbers_of_new_names(tmp_path):
    """With the smallest of learning rates weights stay as they are."""
    run_dir = tmp_path / "run"
    begun = program.run(*TINY, "--serial", "--run-dir", run_dir, "--steps", 400, "--log-seconds", 0.2)
    assert begun.returncode == 0, begun.stderr
    drawn = json.loads((run_dir / "config.json").read_text())["settings"]["learning"]["seed"]
    assert drawn > 0
    first, arrays, _ = checkpoint.load_newest(run_dir / "checkpoints")
    files, versions = [first], [0, int(arrays["version"])]
    weights = [name for name in arrays if name.startswith("network/")]
    assert len(weights) > 2
    for more, code in ((["--learning-rate", 1e-30], ""), ([], NEW_NUMBER)):
        played = checkpoint.load_newest(run_dir / "checkpoints")[2]["totals"]["steps"]
        ended = program.run("--resume", run_dir, "--steps", played + 800, *more, code=code)
        assert ended.returncode == 0, ended.stderr
        config = json.loads((run_dir / "config.json").read_text())
        assert config["settings"]["learning"]["learning_rate"] == 1e-30
        assert config["settings"]["learning"]["seed"] == drawn
        newest, went_on, meta = checkpoint.load_newest(run_dir / "checkpoints")
        assert meta["settings"]["learning"]["learning_rate"] == 1e-30
        for name in weights:
            np.testing.assert_allclose(went_on[name], arrays[name], rtol=0, atol=1e-20)
        files.append(newest)
        versions.append(int(went_on["version"]))
    assert len(set(files)) == 3
    assert versions == sorted(set(versions))  # each has learned
    first, second = config["history"]
    assert first["changed"] == {"learning_rate": [0.002, 1e-30]}
    assert "--learning-rate" in first["command"]
    assert second["changed"] == {}
    values = [row["made_up"] for row in program.rows(run_dir / "throughput.csv")]
    assert values[0] == ""  # it was not known then
    assert "7.5" in values
    assert RunView(run_dir).numbers[-1] == "made_up"
    assert len(list((run_dir / "tensorboard").iterdir())) == 3
    assert any(b"ga3c/made_up" in file.read_bytes() for file in (run_dir / "tensorboard").iterdir())


@pytest.mark.parametrize("flag", [["--preset", "paper"], ["--protocol", "machado"], ["--name", "x"], ["--from", "y"]])
def test_what_belongs_to_the_start_of_a_run_is_refused_at_a_resume(atari_run, flag):
    with pytest.raises(ConfigError) as refused:
        parse_settings(["--resume", str(atari_run[0]), *flag])
    assert str(refused.value) == f"{flag[0]} belongs to the start of a run: with --resume, leave it out."


def test_a_run_says_what_it_does_from_the_start_to_the_end(atari_run):
    run_dir, _, output = atari_run
    said = [
        "Starting ",
        " processes, and compiling the network",
        "Stopping: the agents hand over what they have played",
        "Saved in",
        f"Go on:\n./run.sh --resume {run_dir}\nWatch it play:\n./play.sh {run_dir}\n",
    ]
    places = [output.index(text) for text in said]
    assert places == sorted(places)
    rows = program.rows(run_dir / "throughput.csv")
    assert any(float(row["pps"]) > 0 for row in rows)
    assert {int(row["games"]) % 32 for row in rows} == {0}
    assert int(rows[-1]["games"]) > 0


def test_a_run_is_not_overwritten(atari_run):
    run_dir = atari_run[0]
    ended = program.run("--game", "Pong", "--run-dir", run_dir)
    assert ended.returncode == 2
    assert "--resume" in ended.stderr
    other = program.run("--game", "Boxing", "--resume", run_dir)
    assert other.returncode == 2
    assert "leave --game out" in other.stderr


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1]


@pytest.mark.parametrize("number", variants(SIGNALS, signal.SIGTERM))
def test_a_signal_stops_it_cleanly(tmp_path, number):
    """Also one that comes twice at once, as `timeout` sends it: to the process, and to its group."""
    run_dir = tmp_path / "run"
    plot = ["--plot-seconds", 300]  # as without the flag
    started = Started(tmp_path / "log", *TINY, *SLOW, *plot, "--run-dir", run_dir, "--log-seconds", 0.5)
    started.wait_for(lambda: any(float(row["tps"]) > 0 for row in program.rows(run_dir / "throughput.csv")))
    os.kill(started.process.pid, number)
    time.sleep(0.01)  # two that wait at the same time are one to the kernel, too
    assert started.stop(number) == 128 + number, started.log.read_text()
    assert started.left_over() == []
    for words in ("Traceback", "resource_tracker", "Agent "):  # no process of the run has died by it
        assert words not in started.log.read_text()
    assert run_state.read(run_dir) == ("stopped", "")
    totals = json.loads(_meta(run_dir))["totals"]
    assert totals["made_steps"] == totals["steps"] + totals["lost_steps"]
    assert totals["trained_steps"] == totals["steps"] > 0
    assert (run_dir / "plot.png").exists()


def test_it_goes_on_when_nobody_reads_its_output_any_more(tmp_path):
    arguments = program.command(*TINY, "--run-dir", tmp_path / "run", "--steps", 500, "--log-seconds", 0.2)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=program.ROOT) as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait(program.HANG_SECONDS) == 0, errors
    assert errors == ""
    assert json.loads(_meta(tmp_path / "run"))["totals"]["steps"] >= 500


LOUD = """
from ga3c.devices import device
from ga3c.model import Model
import sys
train = Model.train
def say_so(self, batch, steps=0):
    print("an update")
    print("a warning of it", file=sys.stderr)
    return train(self, batch, steps)
Model.train = say_so
"""


DQN = ["--preset", "dqn", "--replay-minimum-transitions", 500]


@pytest.mark.parametrize("flags", [[], long(DQN)], ids=["ga3c", "dqn"])
def test_a_run_makes_no_more_steps_than_it_was_asked_for_but_those_that_are_under_way(tmp_path, flags):
    """In each of its 8 games; it says why it is more. So it is when it goes on."""
    run, limit = tmp_path / "run", 1_000
    for more in (["--run-dir", run, *TINY, *flags], ["--resume", run]):
        ended = program.run(*more, "--steps", limit, code=program.PATIENT_STOP)
        assert ended.returncode == 0, ended.stderr
        made = checkpoint.load_newest(run / "checkpoints")[2]["totals"]["steps"]
        assert limit <= made < limit + 8 * 2, ended.stdout
        said = f"more than --steps {limit}: every game finishes the step that it is in."
        assert (f"These are {text.count(made - limit, 'step')} {said}" in ended.stdout) == (made > limit)
        limit = 2_000


@pytest.mark.parametrize("output", variants(["pipe", "terminal", "screen"], "screen"))
def test_output_that_nobody_takes_stops_nothing(tmp_path, output):
    """Agents are replaced, checkpoints are made, and a signal ends the run with its last one."""
    run_dir, console = tmp_path / "run", "plain" if output == "terminal" else "auto"
    reader, writer = os.pipe() if output == "pipe" else pty.openpty()
    fill(writer)
    flags = ["--run-dir", run_dir, "--log-seconds", 0.2, "--checkpoint-seconds", 1, "--console", console]
    process = subprocess.Popen(
        program.command(*TINY, *SLOW, *flags, code=LOUD), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer,
        cwd=program.ROOT, env=os.environ | {"TERM": "xterm"}, start_new_session=True,
        preexec_fn=None if output == "pipe" else lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    program.STARTED.append(process)
    os.close(writer)

    def wait_for(condition):
        deadline = time.monotonic() + HANG_SECONDS
        while not condition():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def said(text):
        return any(text in row["message"] for row in program.rows(run_dir / "messages.csv"))

    wait_for(lambda: any(float(row["tps"]) > 0 for row in program.rows(run_dir / "throughput.csv")))
    screens = [p for p in psutil.Process(process.pid).children() if "ga3c.views.live_screen" in p.cmdline()]
    assert len(screens) == (output == "screen")
    program.agents(process.pid)[0].kill()
    wait_for(lambda: said("died (SIGKILL)") and len(program.agents(process.pid)) == 2)
    before = checkpoint.saved(run_dir / "checkpoints")[-1:]
    wait_for(lambda: checkpoint.saved(run_dir / "checkpoints")[-1:] != before)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(HANG_SECONDS) == 130
    assert said("Saved in")
    _assert_logs_fit(run_dir)
    assert 0 <= json.loads(_meta(run_dir))["totals"]["lost_steps"] <= 2 * 4 * 20  # what agents had in their hands
    assert not any(screen.is_running() for screen in screens)
    os.close(reader)


@pytest.mark.parametrize("output", ["<&- >&- 2>&-", long("> /dev/full 2>&1")])
def test_without_output_it_trains_and_saves(tmp_path, output):
    run_dir = tmp_path / "run"
    arguments = program.command(*TINY, "--run-dir", run_dir, "--steps", 500, "--log-seconds", 0.2)
    shell = ["bash", "-c", f'exec "$@" {output}', "bash"]
    assert subprocess.run([*shell, *arguments], cwd=program.ROOT, timeout=HANG_SECONDS).returncode == 0
    assert any(row["message"].startswith("Saved in") for row in program.rows(run_dir / "messages.csv"))
    _assert_logs_fit(run_dir)


def test_a_second_signal_ends_it_at_once(tmp_path):
    code = "from ga3c.systems import stations\nstations.STOP_SECONDS = 1e6"  # what agents get after the first
    started = Started(tmp_path / "log", *TINY, "--run-dir", tmp_path / "run", "--log-seconds", 0.5, code=code)
    started.wait_for(lambda: program.rows(tmp_path / "run" / "throughput.csv"))
    for agent in started.agents():
        agent.suspend()  # they cannot follow the first signal
    started.look()
    while started.process.poll() is None:  # one that comes within a second is the same wish
        os.kill(started.process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.process.wait(1.5)
    assert started.process.returncode == 130
    assert "Saved" not in started.log.read_text()
    for agent in psutil.wait_procs(started.family, timeout=0)[1]:
        agent.resume()
    assert started.left_over() == []


def test_killed_without_warning_it_leaves_no_process_and_goes_on_from_the_newest_checkpoint_that_is_whole(tmp_path):
    run_dir = tmp_path / "run"
    started = Started(tmp_path / "log", *TINY, *SLOW, "--run-dir", run_dir, "--checkpoint-seconds", 1)
    started.wait_for(lambda: checkpoint.saved(run_dir / "checkpoints")[1:])
    started.agents()[0].suspend()  # one that cannot even notice
    assert run_state.read(run_dir) == ("running", "")
    os.kill(started.process.pid, signal.SIGKILL)
    started.process.wait(program.HANG_SECONDS)
    assert started.left_over() == []
    assert run_state.read(run_dir) == ("lost", "")
    *_, good, newest = checkpoint.saved(run_dir / "checkpoints")
    newest.write_bytes(newest.read_bytes()[:-1000])
    before = json.loads(_meta(run_dir))["totals"]
    with (run_dir / "throughput.csv").open("a") as file:
        file.write("999,1,2")  # and half a row
    ended = program.run("--resume", run_dir, "--steps", before["steps"] + 1_000, code=program.PATIENT_STOP)
    assert ended.returncode == 0, ended.stderr
    assert f"Cannot read the checkpoint {newest}" in ended.stdout
    assert f"Going on from {good.name}" in ended.stdout
    assert json.loads(_meta(run_dir))["totals"]["steps"] >= before["steps"] + 1_000
    _assert_logs_fit(run_dir)


PARENTS = ["--game", "tests.tiny_environment:Parent-v0", *TINY[2:], *SLOW, "--controller", "off", "--log-seconds", 0.5]


def _trains(run_dir):
    return lambda: any(float(row["tps"]) > 0 for row in program.rows(run_dir / "throughput.csv"))


def test_what_games_have_started_ends_with_their_agent(tmp_path):
    run_dir = tmp_path / "run"
    started = Started(tmp_path / "log", *PARENTS, "--agent-silence-seconds", 5, "--run-dir", run_dir)
    started.wait_for(_trains(run_dir))
    for blow, said in ((psutil.Process.kill, "died (SIGKILL)"), (psutil.Process.suspend, "no sign of life")):
        started.wait_for(lambda: [len(agent.children()) for agent in started.agents()] == [16, 16])  # four each
        victim, other = started.agents()
        theirs, others = victim.children(), other.children()
        blow(victim)
        started.wait_for(lambda said=said: said in started.log.read_text())
        assert psutil.wait_procs(theirs, timeout=program.HANG_SECONDS)[1] == []
        assert all(process.is_running() for process in others)
    started.wait_for(lambda: [len(agent.children()) for agent in started.agents()] == [16, 16])
    assert started.stop() == 130
    assert started.left_over() == []
    assert started.log.read_text().count("a game was closed") >= 8
    assert "Traceback" not in started.log.read_text()
    _assert_logs_fit(run_dir)  # although those that were forked held the agents' connections, too


@pytest.mark.parametrize("group", [long(False), True])
def test_what_games_have_started_ends_with_the_server_too_and_nothing_stays_in_the_temporary_directory(tmp_path, group):
    run_dir = tmp_path / "run"
    with tempfile.TemporaryDirectory() as scratch:  # the address of a socket has to be shorter than `tmp_path`
        code = f"import tempfile; tempfile.tempdir = {scratch!r}"
        started = Started(tmp_path / "log", *PARENTS, "--run-dir", run_dir, code=code)
        started.wait_for(_trains(run_dir))
        started.wait_for(lambda: [len(agent.children()) for agent in started.agents()] == [16, 16])
        assert os.listdir(scratch)
        (os.killpg if group else os.kill)(started.process.pid, signal.SIGKILL)
        started.process.wait(program.HANG_SECONDS)
        assert started.left_over() == []
        assert os.listdir(scratch) == []


def test_the_books_are_right_when_an_update_takes_longer_than_the_stop_waits(tmp_path):
    code = """
import time
from ga3c.systems import stations
from ga3c.model import Model
stations.STOP_SECONDS = 0.1
train = Model.train
def slowly(self, batch, steps=0):
    time.sleep(1)
    return train(self, batch, steps)
Model.train = slowly
"""
    run_dir = tmp_path / "run"
    started = Started(tmp_path / "log", *TINY, "--run-dir", run_dir, "--log-seconds", 0.5, code=code)
    started.wait_for(_trains(run_dir))
    assert started.stop() == 130
    said, totals = started.log.read_text(), json.loads(_meta(run_dir))["totals"]
    assert "Waiting for the update in hand" in said
    assert f"{totals['lost_steps']:,} steps could not be trained on" in said
    assert f"\n{totals['steps']:,} steps (" in said
    assert totals["made_steps"] > totals["trained_steps"] == totals["steps"] > 0
    _assert_logs_fit(run_dir)


def _assert_logs_fit(run_dir):
    """Nothing twice, nothing half, nothing that the checkpoint does not know."""
    totals = json.loads(_meta(run_dir))["totals"]
    assert totals["made_steps"] == totals["trained_steps"] + totals["skipped_steps"] + totals["lost_steps"]
    assert len(program.rows(run_dir / "episodes.csv")) == totals["episodes"]
    for name in ("throughput.csv", "episodes.csv"):
        assert all(None not in row.values() and None not in row for row in program.rows(run_dir / name))
        for column in ("seconds", "steps"):
            values = [float(row[column]) for row in program.rows(run_dir / name)]
            assert values == sorted(values)


def test_agents_that_cannot_play_end_the_run(tmp_path):
    ended = program.run("--game", "tests.tiny_environment:Broken-v0", "--run-dir", tmp_path / "run", "--agents", "1")
    assert ended.returncode == 1
    assert "Agents keep dying. The last, agent 2, failed: ArithmeticError: broken on purpose" in ended.stdout
    assert "tiny_environment.py" in ended.stdout
    assert ended.stderr == ""
    state = run_state.read(tmp_path / "run")
    assert state == ("failed", "Agents keep dying. The last, agent 2, failed: ArithmeticError: broken on purpose")
    assert list((tmp_path / "run" / "checkpoints").glob("*.npz"))


def test_a_thread_that_fails_ends_the_run_and_saves_it(tmp_path):
    """The tenth update is made to fail."""
    code = """
from ga3c.devices import device
from ga3c.model import Model
train = Model.train
def fail_once_ten_are_made(self, batch, steps=0):
    if self.version == 10:
        raise ArithmeticError("failed on purpose")
    return train(self, batch, steps)
Model.train = fail_once_ten_are_made
"""
    ended = program.run(*TINY, "--run-dir", tmp_path / "run", code=code)
    assert ended.returncode == 1, ended.stderr
    assert "The trainer failed" in ended.stdout
    assert "ArithmeticError: failed on purpose" in ended.stdout
    assert json.loads(_meta(tmp_path / "run"))["totals"]["updates"] == 10


# The second model of a run cannot be made: that of the run itself, where a secondary learner is beside it.
NO_SECOND_MODEL = """
from ga3c.model import Model
warm_up, made = Model.warm_up, []
def fail(self, *arguments):
    made.append(self)
    if len(made) == MODEL:
        raise RuntimeError("no such luck")
    warm_up(self, *arguments)
Model.warm_up = fail
"""


def test_a_start_that_fails_leaves_nothing_behind_and_changes_no_run(tmp_path):
    run, first = tmp_path / "run", NO_SECOND_MODEL.replace("MODEL:", "1:")
    secondary = ["--preset", "dqn", "--secondary-batch", 64]
    for code, more in ((first, []), (NO_SECOND_MODEL.replace("MODEL:", "2:"), secondary)):
        ended = program.run(*TINY, *more, "--run-dir", run, "--steps", 100, code=code)
        assert ended.returncode == 1
        assert "no such luck" in ended.stderr
        assert not list(tmp_path.iterdir())
    assert program.run(*TINY, "--run-dir", run, "--serial", "--steps", 100).returncode == 0
    before = (run / "config.json").read_text()
    ended = program.run("--resume", run, "--t-max", 7, "--steps", 200, code=first)
    assert ended.returncode == 1
    assert (run / "config.json").read_text() == before


def test_on_a_full_disk_training_goes_on_and_catches_up(tmp_path):
    run_dir = tmp_path / "run"
    arguments = [*TINY, *SLOW, "--checkpoint-seconds", 1, "--log-seconds", 0.5, "--controller", "off"]
    started = Started(tmp_path / "log", *arguments, "--run-dir", run_dir)
    started.wait_for(lambda: any((run_dir / "checkpoints").glob("*.npz")))
    server = psutil.Process(started.process.pid)
    server.rlimit(psutil.RLIMIT_FSIZE, (0, psutil.RLIM_INFINITY))  # no file may grow any more
    time.sleep(2)
    steps = int(program.rows(run_dir / "throughput.csv")[-1]["steps"])
    server.rlimit(psutil.RLIMIT_FSIZE, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
    started.wait_for(lambda: "The disk takes everything again" in started.log.read_text())
    assert started.stop() == 130
    assert started.log.read_text().count("Cannot write") == 1
    assert "Traceback" not in started.log.read_text()
    rows = program.rows(run_dir / "throughput.csv")
    assert len(rows) == started.log.read_text().count("[PPS: ")  # none is missing
    assert int(rows[-1]["steps"]) > steps
    _assert_logs_fit(run_dir)


NOT_FINITE = """
from ga3c.devices import device
from ga3c.model import Model
train, calls = Model.train, 0
def spoil(self, batch, steps=0):
    global calls
    calls += 1
    if {when}:
        batch["reward"][:] = float("nan")
    return train(self, batch, steps)
Model.train = spoil
"""


def test_updates_that_are_not_finite_are_left_out_and_counted(tmp_path):
    run_dir = tmp_path / "run"
    code = NOT_FINITE.format(when="calls % 4 == 0")
    ended = program.run(*TINY, "--run-dir", run_dir, "--steps", 4_000, "--controller", "off", code=code)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    totals = json.loads(_meta(run_dir))["totals"]
    assert totals["skipped_updates"] >= 2
    assert totals["skipped_steps"] > 0
    assert int(program.rows(run_dir / "throughput.csv")[-1]["skipped_updates"]) == totals["skipped_updates"]
    _assert_logs_fit(run_dir)
    arrays = checkpoint.load_newest(run_dir / "checkpoints")[1]
    assert all(np.isfinite(array).all() for array in arrays.values())


def test_if_none_is_finite_any_more_it_goes_back_and_then_ends(tmp_path):
    run_dir = tmp_path / "run"
    code = "import glob" + NOT_FINITE.format(when=f"self.version >= 50 and glob.glob('{run_dir}/checkpoints/*.npz')")
    limits = ["--checkpoint-seconds", 1, "--controller", "off"]
    ended = program.run(*TINY, "--run-dir", run_dir, *limits, code=code)
    assert ended.returncode == 1, ended.stderr + ended.stdout
    assert ended.stdout.count("going back to the weights of checkpoint-") == 3
    assert "has not helped: try a lower --learning-rate" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    _assert_logs_fit(run_dir)


ASKS_AGAIN = """
import os, signal
from ga3c.server.pause import Pause
end, depth = Pause.end, 0
def end_again(self):
    global depth
    depth += 1
    if depth < 50:
        os.kill(os.getpid(), signal.SIGQUIT)
    end(self)
Pause.end = end_again
"""


def test_a_report_when_asked_and_when_nothing_moves(tmp_path):
    """Each report that is asked for asks for another, in the middle: a lock would wait for itself."""
    arguments = [*TINY, *SLOW, "--stall-seconds", 1, "--agent-silence-seconds", 0, "--controller", "off"]
    arguments += ["--run-dir", tmp_path / "run", "--log-seconds", 0.5]
    started = Started(tmp_path / "log", *arguments, code=ASKS_AGAIN)
    started.wait_for(lambda: len(program.rows(tmp_path / "run" / "throughput.csv")) > 1)
    assert started.process.poll() is None
    os.killpg(started.process.pid, signal.SIGQUIT)
    started.wait_for(lambda: "Who waits for whom" in started.log.read_text())
    agents = started.agents()
    for agent in agents:
        agent.suspend()
    started.wait_for(lambda: "No update for" in started.log.read_text())
    for agent in agents:
        agent.resume()
    started.wait_for(lambda: "Updates again" in started.log.read_text())
    said = started.log.read_text()
    assert started.stop() == 130
    report = said[said.index("No update for") :]
    for line in (
        "Queues: 0 requests",
        "Agent 0: ",
        "Agent 1: ",
        "Thread predictor: predict (predictor.py:",
        "Thread trainer: ",
    ):
        assert line in report


def test_nothing_that_a_run_writes_is_for_everybody_to_change(tmp_path):
    ended = program.run(*TINY, "--run-dir", tmp_path / "deep" / "run", "--steps", 500, code="import os\nos.umask(0)")
    assert ended.returncode == 0, ended.stderr
    written = list((tmp_path / "deep").rglob("*"))
    assert len(written) > 5
    assert [path for path in written if path.stat().st_mode & 0o002] == []


def test_a_run_is_saved_before_it_is_stopped_when_a_part_has_failed():
    """What has failed may end the process before all is stopped."""

    class Failing:
        saved = 0

        def look(self):
            raise TrainingFailed("a part is gone")

        def save(self):
            self.saved += 1
            return True

    server, books = object.__new__(Server), Failing()
    server._all = [books]
    with pytest.raises(TrainingFailed):
        server._look()
    assert books.saved == 1
