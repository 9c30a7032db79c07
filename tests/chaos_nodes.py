"""A cluster of several nodes on this machine, as Ray's users start one by hand: for tests/chaos.py. Linux only.

The first node is the learner's, and has no room for pods. Each other one has an address and a process tree of its own:
killing it is what a machine without power looks like to the rest.
"""

import contextlib
import secrets
import socket
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
OBJECT_STORE_BYTES = 200_000_000  # of each node
START_SECONDS, LOOK_SECONDS = 300.0, 0.2
# Ray asks each node so often whether it is there; one that refuses five times is gone, which takes 15 s without this.
OFTEN = {"RAY_health_check_initial_delay_ms": "1000", "RAY_health_check_period_ms": "500"}
AUTHENTICATION = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # of this process's nodes


class Nodes:
    """Of one machine. `directory`: what they say lies there."""

    def __init__(self, count: int, cores: int, directory: Path, environment: dict[str, str]):
        """Starts the learner's node and `count` more, with room for so many pods on each."""
        self._cores, self._directory, self._environment, self._count = cores, directory, environment, count
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._begin()

    def _begin(self) -> None:
        self._started = 0
        self.head = self._start("--head", f"--port={self._port}", "--num-cpus=0", "--include-dashboard=false")
        self._wait_for(1)
        self.others = [self._join() for _ in range(self._count)]

    @property
    def address(self) -> str:
        return f"{_own_address()}:{self._port}"

    def _start(self, *how: str) -> psutil.Popen:
        self._started += 1
        # On a busy machine Ray gives up after 30 s.
        command = ["bash", "-c", 'until "$@"; do sleep 1; done', "a node", sys.executable, "-c"]
        command += ["from ray.scripts.scripts import main; main()", "start", "--block", *how]
        command += [f"--object-store-memory={OBJECT_STORE_BYTES}", "--disable-usage-stats"]
        with (self._directory / f"node-{self._started}.log").open("w") as log:
            environment = self._environment | AUTHENTICATION | OFTEN | {"PYTHONPATH": str(ROOT)}
            return psutil.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)

    def wait_for_all(self) -> None:
        for number in range(1, self._started + 1):
            self._wait_for(number)

    def _wait_for(self, number: int) -> None:
        log, deadline = self._directory / f"node-{number}.log", time.monotonic() + START_SECONDS
        while "Ray runtime started" not in log.read_text():
            if time.monotonic() > deadline:
                raise RuntimeError(f"Ray did not start:\n{log.read_text()}")
            time.sleep(LOOK_SECONDS)

    def _join(self) -> psutil.Popen:
        own = f"--node-ip-address=127.0.0.{self._started + 1}"  # a loopback address is a machine's, to Ray
        return self._start(f"--address={self.address}", own, f"--num-cpus={self._cores}")

    def kill(self, number: int) -> None:
        """And all that runs on it, at once; another one joins."""
        _kill(self.others[number])
        self.others[number] = self._join()

    def start_anew(self) -> None:
        """All of them, at the same address."""
        self.stop()
        self._begin()

    def stop(self) -> None:
        for one in [*self.others, self.head]:
            _kill(one)


def _kill(root: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        tree = [root, *root.children(recursive=True)]
        for stop in (psutil.Process.suspend, psutil.Process.kill):  # none of them shall see another one's end
            for process in tree:
                with contextlib.suppress(psutil.Error):
                    stop(process)
        psutil.wait_procs(tree, START_SECONDS)


def _own_address() -> str:
    """As Ray finds it."""
    import ray

    return ray.util.get_node_ip_address()
