"""Ends the processes that agents have started, when the agents end, however they end."""

import contextlib
import os
import signal
import time
from pathlib import Path

END_SECONDS = 1.0  # a killed process that takes longer to end is left to the system


def end_group(leader: int) -> None:
    """Kills what is left of the process group that an agent led."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_descendants(ancestor: int, but_not: frozenset[int] | set[int] = frozenset()) -> bool:
    """Kills all children of a process except some, and their descendants. Returns whether there were any.

    It works on Linux alone: elsewhere the descendants are not known.
    """
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            children.setdefault(int(stat.read_bytes().rpartition(b")")[2].split()[1]), []).append(int(stat.parent.name))
    found = [child for child in children.get(ancestor, ()) if child not in but_not]
    for process in found:  # the list grows meanwhile
        found += children.get(process, ())
    for process in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
    return bool(found)


def end_adopted(parent: int, agents: set[int]) -> None:
    """Kills the processes that dead agents left behind. `parent`, which agents are forked from, has adopted them.

    `agents`: those that are alive. Returns when nothing is left, or after a second.
    """
    deadline = time.monotonic() + END_SECONDS
    while kill_descendants(parent, but_not=agents) and time.monotonic() < deadline:
        time.sleep(0.01)
