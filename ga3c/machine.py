"""The resources of this machine (cores, memory, file handles), and checks that a run fits into them."""

import bisect
import contextlib
import ctypes
import math
import os
import platform
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from ga3c import control_groups
from ga3c.errors import ConfigError

SHARED_MEMORY = Path("/dev/shm")
# Measured with Atari games and the small network:
SERVER_BYTES = 800_000_000
AGENT_BYTES, GAME_BYTES = 50_000_000, 500_000  # besides the slots
FILES, FILES_PER_AGENT = 200, 6
# TensorFlow reserves address space far beyond what it uses, and more with each of its threads.
ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES_PER_CORE = 2_300_000_000, 100_000_000
COMPILER_BYTES = 800_000_000  # further address space: XLA ends the process if it gets none
THREADS, THREADS_PER_CORE = 20, 5
FILE_BYTES = 100_000  # the checkpoint of a small network; training reports a larger one that the disk does not take
REMEDIES = {
    "shared memory (/dev/shm)": "fewer --envs-per-agent; in a container: --shm-size 2g",
    "memory": "close other programs, or use --envs-per-agent 4",
    "file handles (ulimit -n)": "raise the limit: ulimit -n 4096",
    "address space (ulimit -v)": "raise the limit: ulimit -v unlimited",
    "processes (ulimit -u, pids.max)": "raise the limit: ulimit -u 4096; in a container: --pids-limit 4096",
}


def usable_cores() -> int:
    """Cores that this process may use; containers and `taskset` often allow fewer than the machine has."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(cores, control_groups.cores_allowed())))


def can_pin() -> bool:
    """Returns True if a process can keep to one core here."""
    return hasattr(os, "sched_setaffinity")


def pin(number: int) -> None:
    """Keeps this process to one of its cores: the numbers 0, 1, ... go to the cores in turns. Threads that it starts
    later keep to that core, too."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[number % len(cores)]})


def signal_at_parents_end(number: int) -> None:
    """Lets the kernel send this process a signal when the one that started it ends, however it ends. Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # 1: PR_SET_PDEATHSIG


def adopt_orphans() -> None:
    """Makes this process the parent of whatever its descendants leave behind when they end. Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1)  # 36: PR_SET_CHILD_SUBREAPER


def core_seconds(process: int) -> float | None:
    """Returns the CPU time that a process has used; None if that is not known."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wants_core(process: int) -> bool:
    """Returns True if any thread of a process runs or waits for a core or a disk; False if that is not known."""
    for status in (control_groups.PROC / f"{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has just ended
            if status.read_bytes().rpartition(b")")[2].split()[0] in b"RD":
                return True
    return False


def shared_memory_free() -> int | None:
    """Returns the free shared memory in bytes; None if it has no limit of its own."""
    try:
        free = os.statvfs(SHARED_MEMORY)
    except OSError:
        return None
    return free.f_bavail * free.f_frsize


def memory_available() -> int | None:
    """Returns the bytes that are free without swapping, within all control groups of this process; None: not known."""
    amounts = []
    with contextlib.suppress(OSError, KeyError):
        amounts.append(1024 * control_groups.fields(control_groups.PROC / "meminfo")["MemAvailable:"])
    for group in control_groups.of("memory"):
        for limit, used, cache in (  # of version 2, and of version 1
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            with contextlib.suppress(OSError, ValueError):  # not there, or "max"
                free = int((group / limit).read_text()) - int((group / used).read_text())
                amounts.append(max(0, free + control_groups.fields(group / "memory.stat").get(cache, 0)))
    return min(amounts, default=None)


def raise_file_limit() -> int:
    """Lets this process open as many files as the system allows it; returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or soft < hard:
        wanted = 65_536 if hard == resource.RLIM_INFINITY else hard
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        except (OSError, ValueError):
            return soft
        return max(soft, wanted)
    return soft


def address_space() -> float:
    """Returns the bytes that this process may reserve, whether it uses them or not."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _address_space_needed() -> int:
    return ADDRESS_SPACE_BYTES + ADDRESS_SPACE_BYTES_PER_CORE * usable_cores()


def check_limits() -> None:
    """Raises ConfigError if TensorFlow would hang or not load on this processor, or within what `ulimit` allows."""
    with contextlib.suppress(OSError):  # there is no such file but on Linux
        processor = (control_groups.PROC / "cpuinfo").read_text(encoding="utf-8", errors="replace")
        flags = next((line.split() for line in processor.splitlines() if line.startswith("flags")), ())
        if platform.machine() == "x86_64" and flags and "avx" not in flags:
            raise ConfigError(
                "TensorFlow needs a processor with AVX, and this one has none. In a virtual machine, let it have the "
                "host's processor (QEMU: -cpu host)."
            )
    file_bytes = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if file_bytes != resource.RLIM_INFINITY and file_bytes < FILE_BYTES:
        raise ConfigError(f"ulimit -f allows files of {file_bytes} bytes: raise the limit (ulimit -f unlimited).")
    _check_address_space(_address_space_needed(), "TensorFlow reserves")


def processes_left() -> float:
    """Returns the number of processes and threads that may still be started."""
    left = [math.inf]
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if limit != resource.RLIM_INFINITY and os.getuid():  # root has no limit
        left.append(limit - _threads_of_user())
    for group in control_groups.of("pids"):
        with contextlib.suppress(OSError, ValueError):  # not there, or "max"
            left.append(int((group / "pids.max").read_text()) - int((group / "pids.current").read_text()))
    return max(0, min(left))


def _threads_of_user() -> int:
    """Returns the number of threads of all processes of this user."""
    threads = 0
    for process in control_groups.PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, KeyError):  # it has just ended
            status = control_groups.fields(process / "status")
            if status["Uid:"] == os.getuid():
                threads += status["Threads:"]
    return threads


def agent_bytes(slots_bytes: int, games: int) -> int:
    """Returns the memory that one agent takes. `slots_bytes`: the shared part of it."""
    return slots_bytes + AGENT_BYTES + games * GAME_BYTES


def agents_that_fit(slots_bytes: int, games: int) -> dict[str, int]:
    """Maps each scarce resource to the number of agents that it is enough for. `slots_bytes`: shared by one agent."""
    agent = agent_bytes(slots_bytes, games)
    threads = THREADS + THREADS_PER_CORE * usable_cores()
    amounts = (  # in the order of REMEDIES: what there is, what the server takes of it, and what an agent takes
        (shared_memory_free(), 0, slots_bytes),
        (memory_available(), SERVER_BYTES, agent),
        (raise_file_limit(), FILES, FILES_PER_AGENT),
        (address_space(), _address_space_needed(), slots_bytes),
        (processes_left(), threads, 1),
    )
    return {
        what: max(0, int((there - server) // each))
        for what, (there, server, each) in zip(REMEDIES, amounts, strict=True)
        if there is not None and there != math.inf
    }


def check_compiler_fits() -> None:
    """Raises ConfigError if XLA, which compiles parts of a model, would end the process without a message."""
    _check_address_space(_address_space_needed() + COMPILER_BYTES, "the compiler of the model needs")


def _check_address_space(needed: int, who: str) -> None:
    """Raises ConfigError if this process may not reserve so many bytes. `who`: who needs them, with the verb."""
    if address_space() < needed:
        raise ConfigError(
            f"ulimit -v allows {address_space() / 1e9:.1f} GB of address space, and {who} {needed / 1e9:.1f} GB: raise "
            "the limit (ulimit -v unlimited)."
        )


def check_replay_fits(transitions: int, bytes_of: Callable[[int], int], agents_bytes: int) -> None:
    """Raises ConfigError, with the number that fits, if so many do not. `bytes_of` grows with the number."""
    check_compiler_fits()  # the updates of all that learn from a replay are compiled
    free, space = memory_available(), address_space() - _address_space_needed() - COMPILER_BYTES
    in_memory = math.inf if free is None else free - SERVER_BYTES - agents_bytes
    room = max(0, min(in_memory, space))
    if bytes_of(transitions) <= room:
        return
    who = "this machine has" if in_memory <= space else "ulimit -v leaves"
    most = bisect.bisect_right(range(1, transitions), room, key=bytes_of)
    advice = f"use --replay-transitions {most}" if most else REMEDIES["memory"]
    raise ConfigError(
        f"A replay of {transitions:,} transitions takes {bytes_of(transitions) / 1e9:.1f} GB, and {who} "
        f"{room / 1e9:.1f} GB for it: {advice}."
    )


def check_agents_fit(agents: int, slots_bytes: int, games: int, groups: int = 1) -> int:
    """Returns the number of agents that fit. Raises ConfigError, with that number, if more are wanted.

    groups: the number of equal parts that agents are divided into.
    """
    fit = agents_that_fit(slots_bytes, games)
    scarce = min(fit, key=fit.get)
    most = fit[scarce] // groups * groups
    if agents > most:
        advice = f"try --agents {most}; or {REMEDIES[scarce]}" if most else REMEDIES[scarce]
        room = f"{scarce} for {most} agent{'s' * (most != 1)} of {games} game{'s' * (games != 1)}"
        raise ConfigError(f"This machine has {room}, not for {agents}: {advice}.")
    return most
