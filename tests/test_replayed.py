"""Q-learning from a replay memory as a person runs it, on an environment that is solved within seconds and on Pong."""

import contextlib
import os
import signal
import time

import numpy as np
import psutil
import pytest

from ga3c.records import checkpoint
from tests import program
from tests.program import SLOW, TINY, Started
from tests.variants import long, variants

SOLVED = 17.0  # of 20 points; 5 is chance
SMALL = ["--replay-transitions", 3_000, "--replay-minimum-transitions", 400, "--target-updates", 20]
QUICK = [*TINY, *SMALL, "--steps-per-update", 8, "--learning-rate", 0.003, "--discount", 0.5]
QUICK += ["--exploration-decay-steps", 1_500, "--exploration-end", 0.02, "--log-seconds", 0.5]

# Writes down what a replay holds whenever that can be drawn from anew.
NOTE_THE_REPLAY = """
import hashlib
from ga3c.replay.replay_memory import Replay
offer = Replay.offer
def noted(self):
    offer(self)
    rows, found = self._rows, hashlib.sha256()
    places = self.places()
    for array in (places, rows.head, *(getattr(rows, name)[places] for name in NAMES)):
        found.update(array.tobytes())
    if self._priorities:
        found.update(self._priorities._tree._nodes.tobytes())
    with open(FILE, "a") as file:
        print(self.size, self.stored, found.hexdigest(), file=file)
NAMES = "_frames", "age", "action", "reward", "terminated", "truncated", "valid"
Replay.offer = noted
"""


@pytest.mark.parametrize("preset", variants(["dqn", "fast-dqn", "c51", "rainbow"], "rainbow"))
def test_real_runs_learn(tmp_path, preset):
    run, concurrent = tmp_path / "run", preset == "fast-dqn"
    arguments = ["--preset", preset, *QUICK, "--steps", 5_000, "--run-dir", run, "--seed", 1]
    ended = program.run(*arguments, code=program.PATIENT_STOP)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = program.rows(run / "throughput.csv")
    assert float(rows[-1]["mean_score"]) > SOLVED
    assert max(float(row["max_policy_lag_updates"]) for row in rows) == (20 if concurrent else 0)
    totals = checkpoint.load_newest(run / "checkpoints")[2]["totals"]
    assert totals["made_steps"] == totals["trained_steps"] == totals["steps"] >= 5_000
    due = (totals["steps"] - 400) / 8
    assert abs(totals["updates"] - due) <= (20 + 400 / 8 if concurrent else 3)


@pytest.mark.parametrize("which", [long("dqn"), "fast-dqn"])
def test_a_killed_agent_is_replaced_and_a_killed_run_goes_on(tmp_path, which):
    run = tmp_path / "run"
    started = Started(
        tmp_path / "log", "--preset", which, *QUICK, *SLOW, "--run-dir", run, "--checkpoint-seconds", 1,
        "--agent-silence-seconds", 2,
    )  # fmt: skip

    def updates():
        return sum(float(row["updates_per_second"]) > 0 for row in program.rows(run / "throughput.csv"))

    def goes_on():
        before = updates()
        started.wait_for(lambda: updates() > before + 1)

    goes_on()
    for deaths, number in enumerate((signal.SIGKILL, signal.SIGSTOP), start=1):  # dead; and hanging
        os.kill(started.agents()[0].pid, number)
        started.wait_for(lambda: started.log.read_text().count("takes its place") == deaths)  # noqa: B023
        goes_on()
    assert started.stop(signal.SIGKILL) == -signal.SIGKILL
    assert not started.left_over()
    started = Started(tmp_path / "again", "--resume", run)
    goes_on()
    assert started.stop() == 130
    assert "Traceback" not in started.log.read_text()
    totals = checkpoint.load_newest(run / "checkpoints")[2]["totals"]
    assert totals["made_steps"] == totals["trained_steps"] + totals["lost_steps"]


def disturb(started):
    """Stops the agents and the server in turns, for moments, until the run has ended."""
    times = 0
    while started.process.poll() is None:
        started.look()
        for one in list(started.family):
            if started.process.poll() is None:
                with contextlib.suppress(psutil.NoSuchProcess):  # an agent may end, stopped or not, with the run
                    one.suspend()
                    time.sleep(0.05)
                    one.resume()
                    times += 1
    return times


@pytest.mark.parametrize("which", variants(["rainbow", "Pong"], "Pong"))
def test_with_concurrent_training_the_same_seed_gives_the_same_weights_and_replay_whatever_the_timing(tmp_path, which):
    """Priorities, n steps and all on the small environment; DQN's own network on Pong. Two runs at a time."""
    arguments = ["--preset", "rainbow", *QUICK, "--concurrent-training", "--steps", 3_000]
    if which == "Pong":
        arguments = ["--preset", "fast-dqn", *TINY[2:6], *SMALL, "--game", "Pong", "--batch", 8, "--steps", 700]
    runs, states, replays = [], [], []
    for name in ("first", "second"):
        own = ["--run-dir", tmp_path / name, "--seed", 5, "--tensorflow-threads", 2]
        code = f"FILE = {str(tmp_path / (name + '.txt'))!r}{NOTE_THE_REPLAY}"
        runs.append(Started(tmp_path / f"{name}.log", *arguments, *own, code=code))
    assert disturb(runs[1]) > 3
    for started in runs:
        assert started.process.wait(program.HANG_SECONDS) == 0, started.log.read_text()
        arrays, meta = checkpoint.load_newest(tmp_path / started.log.stem / "checkpoints")[1:]
        assert int(arrays["version"]) == meta["totals"]["updates"] > 50
        states.append(arrays | {name: meta["totals"][name] for name in ("steps", "episodes", "made_steps")})
        replays.append((tmp_path / f"{started.log.stem}.txt").read_text().splitlines())
    assert replays[0] == replays[1]
    assert states[0].keys() == states[1].keys()
    for name, array in states[0].items():
        np.testing.assert_array_equal(array, states[1][name], err_msg=name)
