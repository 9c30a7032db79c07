"""tests/benchmarks/compare.py: its arithmetic, and one real run of ga3c through it. The other programs need PyTorch:
an executable that prints figures stands for the Python that runs them."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.settings import saved_settings as saved_settings
from ga3c.settings.run import Settings
from tests import program
from tests.benchmarks import compare
from tests.benchmarks.compare import Measurement

FAST, SLOW = Measurement([300.0, 200.0, 100.0], 7_000), Measurement([50.0, 100.0], 7_000)
ROUNDS = {"ga3c": [FAST, Measurement([400.0], 7_000)], "tuned-sync-a2c, 32 games": [SLOW, FAST]}


def test_ratios_are_those_of_the_medians_of_a_round():
    assert compare.ratios(ROUNDS) == {"tuned-sync-a2c, 32 games": [200 / 75, 400 / 200]}


def test_table():
    lines = [" ".join(line.split()) for line in compare.table(ROUNDS).splitlines()]
    # parameters; median, lowest, highest of all windows; lowest, highest of the rounds' medians
    assert "ga3c 7,000 250 100 400 200 400" in lines
    assert "tuned-sync-a2c, 32 games 7,000 100 50 300 75 200" in lines
    assert lines[-1] == "ga3c / tuned-sync-a2c, 32 games median 2.33 (2.00 to 2.67); rounds: 2.67, 2.00"


def test_the_first_and_the_last_row_of_a_log_are_no_windows():
    rows = [{"pps": str(n), "updates_per_second": "1"} for n in range(5)]
    assert compare.whole_windows(rows, 3) == rows[1:4]
    assert compare.whole_windows(rows, 2) == rows[1:3]
    with pytest.raises(ConfigError, match="after 3 of 4 windows"):
        compare.whole_windows(rows, 4)
    filling = {"pps": "900", "updates_per_second": "0"}  # a replay memory, before the first update
    assert compare.whole_windows([filling, filling, *rows], 3) == rows[1:4]
    with pytest.raises(ConfigError, match="after 0 of 1 windows"):
        compare.whole_windows([filling] * 9, 1)


BAD = [
    (["--game", "Pung"], "Nearest: Pong"),
    (["--game", "CartPole-v1"], "CartPole-v1 is none"),
    (["--rounds", "0"], "--rounds 0"),
    (["--seconds", "4"], "give 5 at the least"),
    (["--against", "ppo"], "--against ppo: with --algorithm a3c there are plain-sync-a2c,"),
    (["--algorithm", "ppo", "--against", "sb3-a2c"], "with --algorithm ppo there are sb3-ppo,"),
    (["--algorithm", "ppo", "--python", "false"], "sb3.py in /"),
    (["--algorithm", "dqn", "--against", "sb3-ppo"], "with --algorithm dqn there are sb3-dqn."),
    (["--agents", "3"], "unrecognized arguments: --agents 3"),
    (["--python", "/nowhere"], "tests/benchmarks/run.sh"),
    (["--json", "/nowhere/file"], "Cannot write /nowhere/file"),
    (["--python", "false"], "sync_a2c.py in /"),
]


@pytest.mark.parametrize(
    ("arguments", "says"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_bad_input_is_one_line_and_status_2(arguments, says, capfd, monkeypatch):
    python = [] if "--python" in arguments else ["--python", sys.executable]
    monkeypatch.setattr(sys, "argv", ["compare.py", *arguments, *python])
    assert compare.main() == 2
    out, err = capfd.readouterr()
    assert says in err
    assert (len(err.splitlines()), out) == (1, "")


def stand_in(python: Path, script: str) -> None:
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)


def test_dqn_is_given_the_same_work_on_both_sides(tmp_path):
    settings = parse_settings(["--game", "Pong", *compare.SAME_WORK["dqn"]])[0]
    replay, learning = settings.replay, settings.learning
    assert (learning.exploration_start, learning.exploration_end, learning.learning_rate) == (0.1, 0.1, 2.5e-4)
    figures = '{"steps_per_second": [10.0], "parameters": 9}'
    stand_in(tmp_path / "python", f"echo \"$@\" >>'{tmp_path}/started'\necho '{figures}'")
    options = compare.parse(["--algorithm", "dqn", "--python", str(tmp_path / "python")])
    for script, games, more in compare.OTHERS["dqn"]["sb3-dqn"]:
        assert compare.measure_other(script, games, more, options).median == 10
    one, eight = (tmp_path / "started").read_text().splitlines()
    assert "sb3.py --game pong --games 1 --seconds" in one
    assert "--games 8 --seconds" in eight
    source = (compare.HERE / "sb3.py").read_text()
    for same in (
        f'"batch_size": {replay.batch}, "buffer_size": {replay.replay_transitions:_},',
        f'"learning_starts": {replay.replay_minimum_transitions:_},',
        f'"target_update_interval": {replay.target_updates * replay.steps_per_update:_}',
        f"STEPS_PER_UPDATE = {replay.steps_per_update} ",
    ):
        assert same in source


def test_terminated_it_ends_what_it_had_started(tmp_path):
    stand_in(
        tmp_path / "python", f"echo $$ >'{tmp_path}/part' && mv '{tmp_path}/part' '{tmp_path}/pid'; exec sleep 999"
    )
    command = [sys.executable, compare.__file__, "--python", str(tmp_path / "python")]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(compare.ROOT)})
    while not (tmp_path / "pid").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.terminate()
    assert process.wait(program.HANG_SECONDS) == 143
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_ga3c_and_a_program_that_prints_figures(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    figures = '{"steps_per_second": [10.0, 40.0], "parameters": 9, "versions": {}}'
    stand_in(tmp_path / "python", f"echo \"${{PYTHONPATH:-no path}}\" \"$@\" >>'{tmp_path}/started'\necho '{figures}'")
    measured = ["--against", "tuned-sync-a2c", "--rounds", "1", "--seconds", "2", "--window-seconds", "1"]
    forwarded = ["--", "--agents", "1", "--envs-per-agent", "2", "--minimum-batch-steps", "10"]
    status = compare.run([*measured, "--game", "pong", "--python", "./python", "--json", "result.json", *forwarded])
    assert status == 0
    assert "Round 1: tuned-sync-a2c, 32 games: 25 steps/s" in capsys.readouterr().out

    result = json.loads((tmp_path / "result.json").read_text())
    ours, other = (result["programs"][name] for name in ("ga3c", "tuned-sync-a2c, 32 games"))
    assert (ours["parameters"], other["parameters"]) == (677_943, 9)
    (run,) = ours["rounds"]
    assert len(run["steps_per_second"]) == len(run["pps"]) == 2
    assert max(run["steps_per_second"]) > 0
    assert result["ratios"]["tuned-sync-a2c, 32 games"]["rounds"] == [ours["windows"]["median"] / 25]

    # ours ran with its defaults, but for the rollouts of the others and what was asked for; where it and when it
    # stopped is not compared
    settings, defaults = run["settings"], json.loads(json.dumps(saved_settings.to_dict(Settings())))
    asked = {"controller": "off", "agents": 1, "envs_per_agent": 2}
    assert settings["schedule"] == defaults["schedule"] | asked
    asked = {"network": "small", "t_max": 5, "minimum_batch_steps": 10, "seed": settings["learning"]["seed"]}
    assert settings["learning"] == defaults["learning"] | asked
    assert settings["environment"] == defaults["environment"] | {"game": "pong"}

    # the other was tried, then measured, and knows each option that it was given
    tried, started = (tmp_path / "started").read_text().splitlines()
    assert tried == f"no path {compare.HERE / 'sync_a2c.py'} --help"
    assert "--game pong --games 32 --network small --seconds 2.0 --window-seconds 1.0" in started
    source = (compare.HERE / "sync_a2c.py").read_text()
    assert all(f'"{word}"' in source for word in started.split() if word.startswith("--"))


@pytest.mark.long
def test_pages_of_the_dashboard():
    command = [sys.executable, str(compare.HERE / "dashboard_clients.py")]
    small = ["--clients", "5", "--seconds", "4", "--runs", "2", "--rows", "50"]
    ended = subprocess.run(
        [*command, *small], capture_output=True, text=True, timeout=program.HANG_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"5 pages, 4 s: \d+ answers, 0 pages failed; median", ended.stdout)
