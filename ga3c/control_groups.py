"""The control groups of Linux, by which containers limit their processes."""

import contextlib
import math
from pathlib import Path

PROC, CONTROL_GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def of(controller: str) -> list[Path]:
    """Returns the folders of this process's control group and of those around it, as far as a container sees them."""
    groups = []
    with contextlib.suppress(OSError):
        for line in (PROC / "self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)  # version 2 names no controllers
            if not controllers or controller in controllers.split(","):
                root = CONTROL_GROUPS / controllers
                own = root / path.strip("/")
                groups += [own, *(group for group in own.parents if group.is_relative_to(root))]
    return groups


def fields(file: Path) -> dict[str, int]:
    """Reads a file with a name and a number in each line."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def cores_allowed() -> float:
    """Returns the cores whose time this process may use, as `docker run --cpus` limits it."""
    quotas = [math.inf]
    for group in of("cpu"):
        with contextlib.suppress(OSError, ValueError):  # not there, or "max"
            quota, period = (group / "cpu.max").read_text().split()
            quotas.append(int(quota) / int(period))
        with contextlib.suppress(OSError, ValueError):  # version 1: -1 for no limit
            quota, period = (int((group / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
            quotas.append(quota / period if quota > 0 else math.inf)
    return min(quotas)
