"""The pods of a run, read from cluster.json, whatever lies there."""

import math
import time
from pathlib import Path
from typing import NamedTuple

from ga3c.errors import ConfigError
from ga3c.records.cluster_file import NAME
from ga3c.records.files import read_json
from ga3c.text import one_line

MOST_PODS = 10_000


class Pod(NamedTuple):
    """NaN where a number is not known."""

    number: float
    node: str
    state: str
    steps: float
    steps_per_second: float
    bytes_per_second: float
    messages_per_second: float
    weights_age_seconds: float
    heard_seconds: float


class ClusterView(NamedTuple):
    """Empty where there is none."""

    time: float = math.nan  # seconds since the epoch
    wanted: float = math.nan  # pods
    nodes: int = 0
    cores: float = math.nan
    shards: int = 0  # of the replay
    pods: tuple[Pod, ...] = ()  # those that need a look first, then the slowest

    @property
    def age_seconds(self) -> float:
        return time.time() - self.time

    @property
    def playing(self) -> int:
        return sum(pod.state == "plays" for pod in self.pods)


def read(run_dir: Path) -> ClusterView:
    try:
        content = read_json(run_dir / NAME)
        nodes = [node for node in content["nodes"] if isinstance(node, dict)]
        pods = [_pod(pod) for pod in content["pods"][:MOST_PODS] if isinstance(pod, dict)]
        pods.sort(key=lambda pod: (pod.state == "plays", _known(pod.steps_per_second), pod.number))
        cores = sum(_number(node, "cores") for node in nodes)
        shards = len(content.get("shards", []))
        return ClusterView(_number(content, "time"), _number(content, "wanted"), len(nodes), cores, shards, tuple(pods))
    except (ConfigError, KeyError, TypeError, AttributeError):
        return ClusterView()


def _pod(content: dict) -> Pod:
    texts = {name: one_line(str(content.get(name, "")))[:60] for name in ("node", "state")}
    return Pod(**texts, **{name: _number(content, name) for name in Pod._fields if name not in texts})


def _number(content: dict, name: str) -> float:
    value = content.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else math.nan


def _known(value: float) -> float:
    return value if math.isfinite(value) else -1.0
