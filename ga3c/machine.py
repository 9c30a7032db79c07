"""What this machine has: cores, memory, file handles; whether a run fits into it; and what it gives a process."""

import contextlib
import ctypes
import os
import resource
import sys
from pathlib import Path

from ga3c.errors import ConfigError

SHARED_MEMORY = Path("/dev/shm")
# Measured with Atari games and the small network:
SERVER_BYTES = 800_000_000
AGENT_BYTES, GAME_BYTES = 50_000_000, 500_000  # besides the slots
FILES, FILES_PER_AGENT = 200, 6


def usable_cores() -> int:
    """Cores that this process may use; containers and `taskset` often allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def signal_at_parents_end(number: int) -> None:
    """Lets the kernel send this process a signal when the one that started it ends, however it ends. Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, number)  # 1: PR_SET_PDEATHSIG


def core_seconds(process: int) -> float | None:
    """CPU time that a process has used. None: not known here."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wants_core(process: int) -> bool:
    """Whether any thread of a process runs, or would if a core were free. False where that is not known."""
    for status in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has just ended
            if status.read_bytes().rpartition(b")")[2].split()[0] == b"R":
                return True
    return False


def shared_memory_free() -> int | None:
    """Bytes; None where it is not a limit of its own."""
    try:
        free = os.statvfs(SHARED_MEMORY)
    except OSError:
        return None
    return free.f_bavail * free.f_frsize


def memory_available() -> int | None:
    """Bytes that can be had without swapping, within the limit of a container; None: not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        amounts = [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        amounts = []
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            group = Path("/sys/fs/cgroup")
            amounts.append(int((group / limit).read_text()) - int((group / used).read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
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


def agents_that_fit(slots_bytes: int, games: int) -> dict[str, int]:
    """What is scarce -> how many agents it is enough for. `slots_bytes`: shared memory of one agent."""
    found = {}
    if (free := shared_memory_free()) is not None:
        found["shared memory (/dev/shm)"] = int(free // slots_bytes)
    if (available := memory_available()) is not None:
        agent = slots_bytes + AGENT_BYTES + games * GAME_BYTES
        found["memory"] = max(0, int((available - SERVER_BYTES) // agent))
    found["file handles (ulimit -n)"] = max(0, (raise_file_limit() - FILES) // FILES_PER_AGENT)
    return found


def check_agents_fit(agents: int, slots_bytes: int, games: int) -> int:
    """Returns how many agents fit. Raises ConfigError, with that number, if there are to be more."""
    fit = agents_that_fit(slots_bytes, games)
    scarce = min(fit, key=fit.get)
    most = fit[scarce]
    if agents > most:
        advice = f"--agents {most}" if most else "fewer --envs-per-agent, or a larger machine or container"
        raise ConfigError(
            f"This machine has {scarce} for {most} agents of {games} games, not for {agents}: try {advice}."
        )
    return most
