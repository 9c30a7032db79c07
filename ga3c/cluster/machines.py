"""Gives each machine of a cluster one job after the other, so that each job has a machine of its own."""

import contextlib
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ga3c.cluster import connection
from ga3c.errors import ConfigError

ANSWER_SECONDS = 120.0
LOOK_SECONDS = 1.0
LOSSES_LIMIT = 3  # of one job on one machine, which is there again: then it is the job's fault, most likely
STOP_SECONDS = 40.0  # what jobs get to save themselves when they are stopped
MARK = ".machines"  # a file by which machines show that they see the same folder
Work = Callable[..., None]  # it gets the arguments of a job, and a function that says whether to stop


class _Worker:
    """It has all cores and GPUs of its machine."""

    def __init__(self):
        self._stopped = threading.Event()

    def about(self, mark: str) -> tuple[dict[str, str], str]:
        """Returns the versions of the programs there, and what the file says there."""
        with contextlib.suppress(OSError):
            return connection.versions(), Path(mark).read_text(encoding="utf-8")
        return connection.versions(), ""

    def do(self, work: Work, arguments: tuple) -> None:
        work(*arguments, self._stopped.is_set)

    def stop(self) -> None:
        self._stopped.set()


class _Machine(NamedTuple):
    name: str
    node: str  # Ray's name of it
    worker: ray.actor.ActorHandle


class _Job(NamedTuple):
    machine: _Machine
    name: str
    arguments: tuple


def perform(where: str, folder: Path, jobs: dict[str, tuple], work: Work, say: Callable[[str], None]) -> None:
    """Does each of the `jobs` (arguments of `work` by name), as many at a time as the cluster has machines.

    A machine that joins later takes jobs, too. The job of a machine that is lost is done again on another. All machines
    must see the `folder`. Raises ConfigError where none can be used, and where a job was lost `LOSSES_LIMIT` times on
    one machine, and what `work` raises; the other jobs are stopped then.
    """
    try:
        connection.join(where, 1)
    except ConfigError as error:
        raise ConfigError(str(error).replace("--cluster", "--machines")) from error
    (folder / MARK).unlink(missing_ok=True)  # a killed start left it, or it is a link to something else
    with (folder / MARK).open("x", encoding="utf-8") as file:
        file.write(secrets.token_hex(8))
    known: set[str] = set()
    asked: dict[ray.ObjectRef, _Machine] = {}  # those that have not answered: perhaps others have their cores
    free: list[_Machine] = []
    busy: dict[ray.ObjectRef, _Job] = {}
    losses: Counter[tuple[str, str]] = Counter()  # of each job, on each machine
    left, until = dict(jobs), time.monotonic() + ANSWER_SECONDS
    try:
        while left or busy:
            asked |= _ask_new(known, folder / MARK)
            for answer in ray.wait(list(asked), num_returns=len(asked), timeout=0)[0] if asked else ():
                machine = asked.pop(answer)
                if fault := _fault(answer, machine, folder / MARK):
                    say(f"{machine.name} takes no run: {fault}")
                    ray.kill(machine.worker)
                else:
                    free.append(machine)
            while left and free:
                name, machine = next(iter(left)), free.pop(0)
                job = _Job(machine, name, left.pop(name))
                say(f"{name} on {machine.name}")
                busy[machine.worker.do.remote(work, job.arguments)] = job
            if not busy and (not asked or time.monotonic() > until):
                for machine in asked.values():
                    say(f"{machine.name} does not answer, or others have its cores.")
                raise ConfigError(f"No machine of --machines {where} can be used.")
            for answer in ray.wait([*asked, *busy], timeout=LOOK_SECONDS)[0]:
                if answer in asked:
                    continue
                job, until = busy.pop(answer), time.monotonic() + ANSWER_SECONDS
                try:
                    ray.get(answer)
                    free.append(job.machine)
                    say(f"{job.name} is done; {len(left) + len(busy)} of {len(jobs)} are left.")
                except ray.exceptions.RayActorError:
                    # Or its process alone: where the machine is still there, it is asked again.
                    known.discard(job.machine.node)
                    losses[job.name, job.machine.node] += 1
                    if losses[job.name, job.machine.node] == LOSSES_LIMIT:
                        raise ConfigError(
                            f"The process of {job.name} was killed {LOSSES_LIMIT} times on {job.machine.name}: perhaps "
                            "it needs more memory than there is."
                        ) from None
                    say(f"{job.machine.name} is lost: {job.name} waits for another machine.")
                    left = {job.name: job.arguments} | left
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
    finally:
        with contextlib.suppress(ray.exceptions.RayError):
            for job in busy.values():
                job.machine.worker.stop.remote()
            if busy:
                ray.wait(list(busy), num_returns=len(busy), timeout=STOP_SECONDS)
        (folder / MARK).unlink(missing_ok=True)
        connection.leave()


def _ask_new(known: set[str], mark: Path) -> dict[ray.ObjectRef, _Machine]:
    """Asks the machines that are new since the last call about themselves. Returns them by their answers."""
    asked = {}
    for node in connection.nodes_alive():
        cores, gpus = (int(node["Resources"].get(kind, 0)) for kind in ("CPU", "GPU"))
        if node["NodeID"] in known or not cores:
            continue
        known.add(node["NodeID"])
        name, there = node["NodeManagerHostname"], NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        options = {"num_cpus": cores, "num_gpus": gpus, "max_concurrency": 2, "scheduling_strategy": there}
        machine = _Machine(name, node["NodeID"], connection.as_actor(_Worker, **options).remote())
        asked[machine.worker.about.remote(str(mark))] = machine
    return asked


def _fault(answer: ray.ObjectRef, machine: _Machine, mark: Path) -> str:
    """Returns why a machine that has answered cannot be used, or ""."""
    try:
        theirs, said = ray.get(answer)
    except ray.exceptions.RayError as error:
        return f"it does not answer ({type(error).__name__})."
    if said != mark.read_text(encoding="utf-8"):
        return f"it does not see {mark.parent}. Name a folder with --out that all machines share."
    return connection.difference(theirs, machine.name)
