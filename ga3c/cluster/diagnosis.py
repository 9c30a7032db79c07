"""Checks a cluster before training: its nodes, their programs, and the speed of calls to a pod there."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ga3c.cluster import connection
from ga3c.errors import ConfigError

PART_BYTES, PARTS = 8_000_000, 5  # about the size of a network's weights
CALLS = 20
ANSWER_SECONDS = 120.0
LITTLE_STORE_BYTES = 100_000_000


class Finding(NamedTuple):
    well: bool
    name: str
    text: str
    advice: str = ""


class _Probe:
    """Stands in for a pod."""

    def about(self) -> dict[str, str]:
        return connection.versions()

    def give(self, count: int) -> bytes:
        return bytes(count)

    def take(self, data: bytes) -> int:
        return len(data)


def findings(where: str) -> Iterator[Finding]:
    """Joins a cluster, yields the findings for each node, and leaves."""
    try:
        yield Finding(True, "cluster", connection.join(where, 1))
    except ConfigError as error:
        advice = "start it with `ray start --head`, and name its address; ga3c/cluster/README.md says how"
        yield Finding(False, "cluster", str(error), advice)
        return
    try:
        for node in ray.nodes():
            if node["Alive"]:
                yield from _of_node(node)
    finally:
        connection.leave()


def _of_node(node: dict) -> Iterator[Finding]:
    name, sizes = node["NodeManagerHostname"], node["Resources"]
    store = sizes.get("object_store_memory", 0.0)
    text = f"{name}: {sizes.get('CPU', 0):g} cores, {store / 1e6:,.0f} MB of object store"
    well = store >= LITTLE_STORE_BYTES
    yield Finding(well, "node", text, "" if well else "start it with a larger --object-store-memory")
    on_it = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    probe = connection.as_actor(_Probe, num_cpus=0, scheduling_strategy=on_it).remote()
    try:
        theirs = ray.get(probe.about.remote(), timeout=ANSWER_SECONDS)
        different = connection.difference(theirs, name)
        versions = ", ".join(f"{program} {version}" for program, version in theirs.items())
        yield Finding(not different, "versions", different or f"{name}: {versions}, as here")
        yield Finding(True, "network", f"{name}: {_network(probe)}")
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1][:300]
        advice = "is the program there in the same folder, with its .venv? ga3c/cluster/README.md says how"
        yield Finding(False, "versions", f"{name} does not answer: {reason}", advice)
    finally:
        ray.kill(probe)


def _network(probe) -> str:
    def seconds(call: Callable[[], object], times: int) -> float:
        began = time.monotonic()
        for _ in range(times):
            ray.get(call(), timeout=ANSWER_SECONDS)
        return (time.monotonic() - began) / times

    call = seconds(lambda: probe.give.remote(0), CALLS)
    come = PART_BYTES / seconds(lambda: probe.give.remote(PART_BYTES), PARTS)
    go = PART_BYTES / seconds(lambda: probe.take.remote(ray.put(bytes(PART_BYTES))), PARTS)
    from_it, to_it = (f"{rate / 1e6:,.0f} MB/s" for rate in (come, go))
    return f"a call takes {1000 * call:.1f} ms; {from_it} come from a pod there, {to_it} go to it"
