"""What does not fit is said before the start, with what would."""

import math
import os
import platform
import re
import resource
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c import control_groups, machine
from ga3c.errors import ConfigError
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, discrete
from tests import program


def machine_with(monkeypatch, shared=10**12, memory=10**12, files=10**6):
    monkeypatch.setattr(machine, "shared_memory_free", lambda: shared)
    monkeypatch.setattr(machine, "memory_available", lambda: memory)
    monkeypatch.setattr(machine, "raise_file_limit", lambda: files)


SCARCE = [
    ({"shared": 64_000_000}, "shared memory", 9),
    (
        {"memory": machine.SERVER_BYTES + 2 * (7_000_000 + machine.AGENT_BYTES + 16 * machine.GAME_BYTES)},
        "memory",
        2,
    ),
    ({"files": machine.FILES + 3 * machine.FILES_PER_AGENT}, "file handles", 3),
]


@pytest.mark.parametrize(("little", "what", "fit"), SCARCE)
def test_the_number_that_would_fit(monkeypatch, little, what, fit):
    machine_with(monkeypatch, **little)
    assert machine.check_agents_fit(fit, 7_000_000, 16) == fit
    with pytest.raises(
        ConfigError, match=rf"{what}.* for {fit} agents of 16 games, not for {fit + 1}: try --agents {fit}; or "
    ):
        machine.check_agents_fit(fit + 1, 7_000_000, 16)


def test_not_even_one(monkeypatch):
    machine_with(monkeypatch, shared=1)
    with pytest.raises(ConfigError, match=r"for 0 agents.*fewer --envs-per-agent"):
        machine.check_agents_fit(1, 7_000_000, 16)


def test_what_to_do_where_fewer_agents_would_not_help(monkeypatch):
    machine_with(monkeypatch, files=64)
    with pytest.raises(ConfigError, match=r"for 0 agents.*: raise the limit: ulimit -n 4096"):
        machine.check_agents_fit(1, 7_000_000, 16)


@pytest.mark.parametrize("prioritised", [False, True])
def test_a_replay_that_does_not_fit_is_said_with_the_size_that_would(monkeypatch, prioritised):
    """All that it takes is counted: a ring that is full takes no more than that, and hardly less."""
    spec, agents_bytes = EnvironmentSpec("x", (84, 84, 4), "uint8", discrete(6), 4, 4), 50_000_000

    def recipe(transitions: int) -> Recipe:
        return Recipe(spec, 2, 8, transitions, 3, 0.9, priority_alpha=0.5 * prioritised, reserved_rows=10)

    def bytes_of(transitions: int) -> int:
        return recipe(transitions).bytes

    replay = Replay(recipe(5000))
    parts = replay, replay._rows, replay._rows._frames
    arrays = [one for part in parts for one in vars(part).values() if isinstance(one, np.ndarray)]
    taken = sum(array.nbytes for array in arrays) + (replay._priorities._tree._nodes.nbytes if prioritised else 0)
    assert taken - 1000 < bytes_of(5000) <= taken
    machine_with(monkeypatch, memory=machine.SERVER_BYTES + agents_bytes + bytes_of(5000))
    machine.check_replay_fits(5000, bytes_of, agents_bytes)
    with pytest.raises(ConfigError) as said:
        machine.check_replay_fits(1_000_000, bytes_of, agents_bytes)
    assert re.match(r"A replay of 1,000,000 transitions takes 7\.\d GB, and this machine has 0\.0 GB", str(said.value))
    most = int(re.search(r"use --replay-transitions (\d+)\.$", str(said.value))[1])
    assert bytes_of(most) <= bytes_of(5000) < bytes_of(most + 1)
    machine_with(monkeypatch, memory=machine.SERVER_BYTES)
    with pytest.raises(ConfigError, match=r"has 0\.0 GB for it: close other programs"):
        machine.check_replay_fits(1, bytes_of, agents_bytes)


def test_a_replay_needs_room_within_what_ulimit_allows_of_address_space(monkeypatch):
    """Else the compiler ends the process, or the memory of the replay is refused in the middle of the start."""
    needed = machine._address_space_needed() + machine.COMPILER_BYTES
    for limit, said in (
        (needed - 1, r"ulimit -v allows .* GB of address space, and the compiler of the model needs .*unlimited\)\."),
        (
            needed + 500,
            r"A replay of 1,000 transitions .*, and ulimit -v leaves 0.0 GB for it: use .*transitions 500\.",
        ),
    ):
        monkeypatch.setattr(machine, "address_space", lambda limit=limit: limit)
        with pytest.raises(ConfigError, match=said):
            machine.check_replay_fits(1_000, lambda transitions: transitions, 0)
    machine.check_replay_fits(500, lambda transitions: transitions, 0)


def test_a_run_whose_replay_does_not_fit_does_not_begin(tmp_path):
    code = "from ga3c import machine\nmachine.memory_available = lambda: machine.SERVER_BYTES + 2_000_000_000"
    flags = "--game", "Pong", "--algorithm", "dqn", "--agents", 2, "--run-dir", tmp_path / "run", "--steps", 10
    refused = program.run(*flags, code=code)
    assert refused.returncode == 2
    assert re.search(r"ga3c: A replay of 1,000,000 transitions .*: use --replay-transitions \d+\.\n$", refused.stderr)
    assert not (tmp_path / "run").exists()


def test_this_machine_is_asked(monkeypatch):
    assert machine.memory_available() > 100_000_000
    free = SimpleNamespace(f_bavail=10, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda path: free if str(path) == "/dev/shm" else None)
    assert machine.shared_memory_free() == 40_960


def lay_out(monkeypatch, root, files):
    """Files as the kernel shows them under /proc and /sys/fs/cgroup."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(control_groups, "PROC", root / "proc")
    monkeypatch.setattr(control_groups, "CONTROL_GROUPS", root / "cgroup")


UNLIMITED_V1 = "9223372036854771712\n"
IN_GROUPS = {
    "the_group_around_it_is_the_narrowest": {
        "proc/self/cgroup": "0::/user.slice/a run\n",
        "cgroup/user.slice/a run/memory.max": "max\n",
        "cgroup/user.slice/a run/memory.current": "100\n",
        "cgroup/user.slice/memory.max": "5000\n",
        "cgroup/user.slice/memory.current": "3000\n",
        "cgroup/user.slice/memory.stat": "anon 2500\ninactive_file 400\n",
    },
    "its_own_is": {
        "proc/self/cgroup": "0::/user.slice/run\n",
        "cgroup/user.slice/run/memory.max": "2500\n",
        "cgroup/user.slice/run/memory.current": "100\n",
        "cgroup/user.slice/run/memory.stat": "",
        "cgroup/user.slice/memory.max": "5000\n",
        "cgroup/user.slice/memory.current": "0\n",
        "cgroup/user.slice/memory.stat": "",
    },
    "version_1": {
        "proc/self/cgroup": "8:pids:/\n4:memory:/jobs/1\n0::/\n",
        "cgroup/memory/jobs/1/memory.limit_in_bytes": UNLIMITED_V1,
        "cgroup/memory/jobs/1/memory.usage_in_bytes": "100\n",
        "cgroup/memory/jobs/1/memory.stat": "total_inactive_file 1\n",
        "cgroup/memory/jobs/memory.limit_in_bytes": "5000\n",
        "cgroup/memory/jobs/memory.usage_in_bytes": "2700\n",
        "cgroup/memory/jobs/memory.stat": "inactive_file 1\ntotal_inactive_file 100\n",
    },
    "a_container_sees_its_own_as_the_root": {
        "proc/self/cgroup": "4:memory:/docker/1234\n",
        "cgroup/memory/memory.limit_in_bytes": "2400\n",
        "cgroup/memory/memory.usage_in_bytes": "0\n",
        "cgroup/memory/memory.stat": "",
    },
    "no_group_limits_it": {"proc/self/cgroup": "0::/\n", "proc/meminfo": "MemAvailable: 2400 kB\n"},
}


@pytest.mark.parametrize("files", IN_GROUPS.values(), ids=IN_GROUPS)
def test_memory_is_what_the_narrowest_control_group_leaves(monkeypatch, tmp_path, files):
    lay_out(monkeypatch, tmp_path, {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 8000 kB\n"} | files)
    assert machine.memory_available() == (2400 * 1024 if "proc/meminfo" in files else 2400)


def test_processes_left_are_counted(monkeypatch, tmp_path):
    lay_out(monkeypatch, tmp_path, {"proc/self/cgroup": "8:pids:/run\n0::/\n"})
    monkeypatch.setattr(os, "getuid", lambda: 0)  # nobody limits root's
    assert machine.processes_left() == math.inf
    monkeypatch.undo()
    lay_out(monkeypatch, tmp_path, {"cgroup/pids/run/pids.max": "100\n", "cgroup/pids/run/pids.current": "30\n"})
    lay_out(monkeypatch, tmp_path, {"proc/7/status": "Name:\tx\nUid:\t1\t1\t1\t1\nThreads:\t50\n"})
    assert machine.processes_left() == 70
    monkeypatch.setattr(machine.os, "getuid", lambda: 1)
    monkeypatch.setattr(machine.resource, "getrlimit", lambda _: (60, 60))
    assert machine.processes_left() == 10
    machine_with(monkeypatch)
    monkeypatch.setattr(machine, "address_space", lambda: math.inf)
    with pytest.raises(ConfigError, match=r"processes .* for 0 agents.*ulimit -u"):
        machine.check_agents_fit(1, 7_000_000, 16)


SMALL_LIMITS = [
    (
        "RLIMIT_NOFILE",
        260,
        r"This machine has file handles \(ulimit -n\) for 10 agents of 16 games, not for 100: try .*",
    ),
    (
        "RLIMIT_AS",
        100_000_000,
        r"ulimit -v allows 0\.1 GB of address space, .*: raise the limit \(ulimit -v unlimited\)\.",
    ),
    ("RLIMIT_FSIZE", 0, r"ulimit -f allows files of 0 bytes: raise the limit \(ulimit -f unlimited\)\."),
    ("RLIMIT_AS", 2_000_000_000, r"ulimit -v allows 2\.0 GB of address space, .*"),
]


@pytest.mark.parametrize(("limit", "value", "said"), SMALL_LIMITS, ids=lambda value: str(value)[:14])
def test_limits_too_small_are_seen_before_the_start(tmp_path, limit, value, said):
    run_dir = tmp_path / "run"
    command = program.command(*program.TINY[:2], "--agents", "100", "--envs-per-agent", "16", "--run-dir", str(run_dir))
    number = getattr(resource, limit)
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=program.HANG_SECONDS,
        cwd=program.ROOT,
        preexec_fn=lambda: resource.setrlimit(number, (value, value)),
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    assert re.fullmatch(f"ga3c: {said}\n", ended.stderr), ended.stderr
    assert not run_dir.exists()


@pytest.mark.parametrize(("states", "wanted"), [("SR", True), ("SD", True), ("SS", False), ("T", False)])
def test_one_of_whose_threads_runs_or_waits_for_a_disk_wants_a_core(monkeypatch, tmp_path, states, wanted):
    tasks = {f"proc/7/task/{7 + i}/stat": f"7 (R) x) {state} 1 7" for i, state in enumerate(states)}
    lay_out(monkeypatch, tmp_path, tasks)
    assert machine.wants_core(7) is wanted


def test_a_process_keeps_to_one_of_its_cores():
    cores = sorted(os.sched_getaffinity(0))
    code = "import os; from ga3c import machine; machine.pin(int(os.sys.argv[1])); print(*os.sched_getaffinity(0))"
    for number in (0, 1, len(cores)):
        said = subprocess.run([sys.executable, "-c", code, str(number)], capture_output=True, text=True, check=True)
        assert said.stdout.split() == [str(cores[number % len(cores)])]


@pytest.mark.parametrize(("ours", "found"), [("import ga3c.__main__", "False"), ("pass", "True")])
def test_keras_finds_what_only_others_need_in_scripts_of_others_alone(ours, found):
    """Pictures and data frames: this program starts without, and can load the packages later all the same."""
    code = f"import sys\n{ours}\nfrom ga3c.devices import device\nprint('matplotlib' in sys.modules)"
    code += "\nimport matplotlib.pyplot, scipy.stats\nprint(matplotlib.pyplot.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=program.ROOT)
    assert said.stdout.split() == [found, "matplotlib.pyplot"]


@pytest.mark.parametrize("asked", [{}, {"TF_ENABLE_ONEDNN_OPTS": "0"}])
def test_tensorflow_computes_with_onednn_unless_the_user_says_otherwise(asked):
    """It is asked for on x86-64 alone: elsewhere the choice is TensorFlow's."""
    code = "import os\nfrom ga3c.devices import device\nfrom tensorflow.python.util import _pywrap_util_port"
    code += "\nprint(os.environ.get('TF_ENABLE_ONEDNN_OPTS'), _pywrap_util_port.IsMklEnabled())"
    others = {name: value for name, value in os.environ.items() if name != "TF_ENABLE_ONEDNN_OPTS"}
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=program.ROOT, env=others | asked
    )
    wanted, computes = said.stdout.split()
    ours = platform.machine() == "x86_64"
    assert wanted == asked.get("TF_ENABLE_ONEDNN_OPTS", "1" if ours else "None")
    assert computes == str(not asked) or not ours


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        (
            {
                "proc/self/cgroup": "0::/run\n",
                "cgroup/run/cpu.max": "150000 100000\n",
                "cgroup/cpu.max": "max 100000\n",
            },
            2,
        ),
        ({"proc/self/cgroup": "0::/run\n", "cgroup/run/cpu.max": "max 100000\n"}, 8),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/run\n",
                "cgroup/cpu,cpuacct/run/cpu.cfs_quota_us": "100000\n",
                "cgroup/cpu,cpuacct/run/cpu.cfs_period_us": "100000\n",
                "cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
                "cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            1,
        ),
    ],
)
def test_a_container_may_allow_a_part_of_the_cores(files, cores, monkeypatch, tmp_path):
    lay_out(monkeypatch, tmp_path, files)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert machine.usable_cores() == cores


def test_a_processor_without_avx_is_one_line(monkeypatch, tmp_path):
    lay_out(monkeypatch, tmp_path, {"proc/cpuinfo": "processor: 0\nflags\t\t: fpu sse4_2\n"})
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    with pytest.raises(ConfigError, match="needs a processor with AVX"):
        machine.check_limits()
    lay_out(monkeypatch, tmp_path, {"proc/cpuinfo": "processor: 0\nflags\t\t: fpu sse4_2 avx\n"})
    machine.check_limits()
