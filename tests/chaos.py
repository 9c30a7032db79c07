"""A real training run while things go wrong, and a look at the books afterwards.

    python tests/chaos.py --kills 200 --stops 50 --server-kills 10 --disk-full 3 --seed 1
    python tests/chaos.py --algorithm ppo --sampling alternating --agents 2
    python tests/chaos.py --preset fast-dqn --agents 2 -- --replay-minimum-transitions 1000 --target-updates 100
    python tests/chaos.py --preset apex-dqn --pods --stops 0 --shards 2 --shard-kills 3 --agents 3
    python tests/chaos.py --preset apex-dqn --pods --stops 0 --shards 2 --shard-kills 3 --nodes 2 --node-kills 2
    python tests/chaos.py --preset apex-dqn --pods --stops 0 --ray-kills 2

From a seeded schedule, agents are killed and stopped, the disk refuses every byte for a while, the server is killed
without warning (some of the times while it writes a checkpoint) and the run resumed. The counts change every second;
with --controller off they stay, and it says how soon after the last blow the speed was what it had been before the
first. With --pods, those of a cluster on this machine are killed, and shards of its replay; each of these blows waits
until all of them are there again and the run learns. With --nodes, the cluster is one of so many nodes and the
learner's, started as Ray's users do, and a node dies with all that is on it. With --ray-kills, the GCS or the raylet of
the learner's own node dies: the run saves, ends, and is resumed on a new cluster. It says for how long nothing was
learned, at the longest. What follows -- goes to the run as it is. Ends with 1 if anything is wrong. Linux only: /proc
tells it about processes.
"""

import argparse
import contextlib
import functools
import itertools
import json
import math
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ga3c.records import checkpoint  # noqa: E402
from ga3c.records.csv_reading import read_csv  # noqa: E402
from tests import program  # noqa: E402
from tests.chaos_nodes import AUTHENTICATION, Nodes  # noqa: E402

MARK = "GA3C_CHAOS"  # an environment variable that tells our processes from all others
LOOK_SECONDS = 0.25  # between two looks at all processes, which take a tenth of that
NODES = "-nodes"  # at the end of what it holds in those of nodes that go on without the run, and of pods on them
CHECKPOINT_SECONDS = 2
# Pods load TensorFlow, each of them; Ray ends its processes one by one, and other tests may keep the machine busy.
START_SECONDS = END_SECONDS = program.HANG_SECONDS
# Of Ray, that end a minute after all else: some report that it has, or have not begun and look for who started them.
RAYS_OWN = (
    "DashboardAgent",
    "dashboard/agent.py",
    "RuntimeEnvAgent",
    "runtime_env/agent",
    "default_worker.py",
    "ray::IDLE",
)
RAYS_SECONDS = 120.0
SETTLED_SECONDS = 10.0  # before the first blow
RECOVERED, WINDOW_SECONDS = 0.95, 3  # of the speed before the first blow, as a mean over so many rows of a second
RECOVERY_SECONDS = 120.0  # that it is waited for


class Wrong(Exception):
    """Something that must not happen; the text says what."""


def _command(process: psutil.Process, but: tuple[str, ...]) -> str:
    """Empty for what has ended meanwhile, or may be there."""
    with contextlib.suppress(psutil.Error):
        command = " ".join(process.cmdline())
        if not any(name in command for name in but):
            return command
    return ""


class Run:
    """The training run, over all its starts."""

    def __init__(self, directory: Path, arguments: list[str], at_first: list[str]):
        """`at_first`: arguments of the first start alone."""
        self.directory, self._arguments, self._at_first = directory, arguments, at_first
        self.pods = self.shards = 0
        self.code = ""  # that runs before the program
        self.nodes: Nodes | None = None
        self.mark = f"{os.getpid()}-{time.time_ns()}"
        self.output: list[str] = []
        self.process: psutil.Popen | None = None

    def start(self) -> None:
        command = program.command("train", *self._arguments, code=self.code)
        begin = ["--run-dir", str(self.directory), *self._at_first]
        command += ["--resume", str(self.directory)] if self.directory.exists() else begin
        environment = os.environ | {"PYTHONPATH": str(ROOT), MARK: self.mark} | (AUTHENTICATION if self.nodes else {})
        self.process = psutil.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        before = self.steps()
        self.wait(lambda: self.steps() > before, START_SECONDS, "no step after a start")

    def _read(self, stream) -> None:
        with contextlib.suppress(ValueError):
            for line in stream:
                self.output.append(line.rstrip())

    def wait(self, condition, seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.poll() is not None:
                raise Wrong(f"the run ended by itself with status {self.process.returncode}:\n" + self.tail())
            if time.monotonic() > deadline:
                raise Wrong(f"{what} within {seconds:.0f} s:\n{self.tail()}")
            time.sleep(LOOK_SECONDS)

    def tail(self) -> str:
        return "\n".join(self.output[-40:])

    def rows(self) -> dict:
        return read_csv(self.directory / "throughput.csv")

    def steps(self) -> float:
        steps = self.rows().get("steps", ())
        return float(steps[-1]) if len(steps) else 0.0

    def learned(self) -> int:
        """Rows with an update."""
        return int((self.rows().get("updates_per_second", np.zeros(0)) > 0).sum())

    def seconds(self) -> float:
        return float(self.rows()["seconds"][-1])

    def of_ray(self, name: str) -> psutil.Process:
        """The process with this name of the node that the learner is on."""
        root = self.nodes.head if self.nodes else self.process
        return next(one for one in root.children(recursive=True) if one.name() == name)

    def start_nodes(self, count: int, directory: Path) -> None:
        """With room for the pods on those that are left when one of them is gone."""
        cores = -(-self.pods // max(1, count - 1))
        self.nodes = Nodes(count, cores, directory, os.environ | {MARK: self.mark + NODES})
        self._arguments += ["--cluster", self.nodes.address]

    def processes(self, of: str = "") -> list[psutil.Process]:
        """All processes of all starts that are still there; or (NODES) those of the cluster's nodes."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == self.mark + of and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def check_that_all_ended(self, seconds: float = END_SECONDS, but: tuple[str, ...] = RAYS_OWN) -> None:
        """So soon after the server. `but`: words in the command of those that may be there."""
        deadline = time.monotonic() + seconds
        while left := [command for one in self.processes() if (command := _command(one, but))]:
            if time.monotonic() > deadline:
                raise Wrong(f"{seconds:.0f} s after the server ended there are still {left}")
            time.sleep(LOOK_SECONDS)
        while left := self.actors("Pod") + self.actors("Shard"):  # on nodes that stay
            if time.monotonic() > deadline + RAYS_SECONDS:
                raise Wrong(f"pods and shards outlived the server: {left}")
            time.sleep(0.5)

    def actors(self, kind: str) -> list[psutil.Process]:
        """Pods or Shards of a cluster on this machine, once they have begun."""
        found = []
        for process in self.processes() + self.processes(NODES):
            with contextlib.suppress(psutil.Error, IndexError):
                if process.cmdline()[0].startswith(f"ray::{kind}"):
                    found.append(process)
        return found

    def agents(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            return [agent for child in self.process.children() for agent in child.children()]
        return []


class Chaos:
    """The blows, and what came of them."""

    def __init__(self, run: Run, seed: int):
        self.run, self.random = run, random.Random(seed)
        self.stopped: list[psutil.Process] = []
        self.resumes, self.lost_seconds, self.lost_to_disk_seconds = 0, [], []
        self.disk_was_full = self.struck = -math.inf  # time.monotonic()

    def kill_agent(self) -> None:
        self._hit(psutil.Process.kill)

    def stop_agent(self) -> None:
        self._hit(psutil.Process.suspend)

    def kill_pod(self) -> None:
        self._kill_actor("Pod")

    def kill_shard(self) -> None:
        self._kill_actor("Shard")

    def kill_node(self) -> None:
        """With the pods on it. The learner's own is not one of them."""
        self._wait_for_all()
        self.struck = time.monotonic()
        self.run.nodes.kill(self.random.randrange(len(self.run.nodes.others)))

    def kill_gcs(self) -> None:
        self._kill_of_ray("gcs_server")

    def kill_raylet(self) -> None:
        self._kill_of_ray("raylet")

    def _kill_of_ray(self, name: str) -> None:
        """The run saves and ends by itself; or Ray has ended it, where the raylet died in the middle of a use."""
        self._wait_for_all()
        self.run.of_ray(name).kill()
        self.struck = time.monotonic()
        status = self.run.process.wait(START_SECONDS)
        if status != 1:
            raise Wrong(f"the end of {name} ended the run with status {status}:\n{self.run.tail()}")
        if self.run.nodes:
            self.run.nodes.start_anew()
        self._resume(self.run.seconds(), self.struck)

    def _kill_actor(self, kind: str) -> None:
        self._wait_for_all()
        with contextlib.suppress(psutil.Error, IndexError):
            self.random.choice(self.run.actors(kind)).kill()
        self.struck = time.monotonic()

    def _wait_for_all(self) -> None:
        """They are there, and play: pods that keep dying before they have begun end a run."""
        for kind, count in (("Pod", self.run.pods), ("Shard", self.run.shards)):
            there = functools.partial(lambda kind, count: len(self.run.actors(kind)) == count, kind, count)
            self.run.wait(there, START_SECONDS, f"not all of {kind} there")
        before = self.run.learned()
        self.run.wait(lambda: self.run.learned() > before, START_SECONDS, "no update")

    def _hit(self, blow) -> None:
        self.struck = time.monotonic()
        if agents := self.run.agents():
            with contextlib.suppress(psutil.Error):
                blow(self.random.choice(agents))

    def fill_disk(self) -> None:
        """For three seconds no file of the server may grow."""
        with contextlib.suppress(psutil.Error):
            self.run.process.rlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            time.sleep(3.0)
            self.run.process.rlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.disk_was_full = self.struck = time.monotonic()

    def kill_server(self) -> None:
        self._kill_server_and_resume()

    def kill_server_in_checkpoint(self) -> None:
        """While a checkpoint is half written; or after ten seconds, if that moment did not come."""
        partial, deadline = self.run.directory / "checkpoints", time.monotonic() + 10.0
        while time.monotonic() < deadline:
            if any(name.endswith(".partial") for name in os.listdir(partial)):
                break
        self._kill_server_and_resume()

    def _kill_server_and_resume(self) -> None:
        seconds, self.struck = self.run.seconds(), time.monotonic()
        self.run.process.kill()
        self.run.process.wait()
        self._resume(seconds, self.struck)

    def _resume(self, seconds: float, ended: float) -> None:
        """`seconds` of training there were, when the run ended (time.monotonic())."""
        self.run.check_that_all_ended()
        complaints: list[str] = []
        _, _, meta = checkpoint.load_newest(self.run.directory / "checkpoints", complaints.append)
        if complaints:
            raise Wrong(f"an unreadable checkpoint: {complaints}")
        lost = seconds - meta["totals"]["seconds"]
        to_disk = ended - self.disk_was_full < lost + CHECKPOINT_SECONDS
        (self.lost_to_disk_seconds if to_disk else self.lost_seconds).append(lost)
        self.run.start()
        self.resumes += 1


def check_books(run: Run) -> dict:
    """Raises Wrong. Returns the totals."""
    totals = checkpoint.load_newest(run.directory / "checkpoints")[2]["totals"]
    accounted = totals["trained_steps"] + totals["skipped_steps"] + totals["lost_steps"]
    if totals["made_steps"] != accounted:
        raise Wrong(f"{totals['made_steps']} steps were made, {accounted} are accounted for: {totals}")
    episodes = len(read_csv(run.directory / "episodes.csv")["steps"])
    if episodes != totals["episodes"]:
        raise Wrong(f"{episodes} games in episodes.csv, {totals['episodes']} in the checkpoint")
    for name in ("throughput", "episodes", "controller"):
        for column in ("seconds", "steps"):
            values = list(read_csv(run.directory / f"{name}.csv").get(column, ()))
            if values != sorted(values):
                raise Wrong(f"{column} step back in {name}.csv")
    return totals


def recovery(run: Run, first: float, blows: Chaos) -> str:
    """How soon after the last blow PPS was back; `first`: seconds of the run before the first one."""
    rows, last = run.rows(), run.seconds()
    before = statistics.mean(rows["pps"][(rows["seconds"] > first - SETTLED_SECONDS) & (rows["seconds"] <= first)])

    def now() -> float:
        rows = run.rows()
        since = rows["pps"][rows["seconds"] > last]
        return statistics.mean(since[-WINDOW_SECONDS:]) if len(since) >= WINDOW_SECONDS else 0.0

    run.wait(lambda: now() >= RECOVERED * before, RECOVERY_SECONDS, f"not {before:,.0f} steps/s again")
    after = time.monotonic() - blows.struck
    return f"{before:,.0f} steps/s before the first blow, {now():,.0f} again {after:.0f} s after the last"


def longest_pause(run: Run) -> float:
    """Seconds from one row of throughput.csv with an update to the next; starts are not in it."""
    rows = run.rows()
    learned = rows["seconds"][rows["updates_per_second"] > 0]
    return max((float(after - before) for before, after in itertools.pairwise(learned)), default=math.inf)


def shared_memory() -> set[str]:
    """What lies in /dev/shm and no process uses: what other programs are at is no business of ours."""
    used = set()  # inodes: a semaphore is mapped under another name
    for process in psutil.pids():
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{process}/maps").read_text().splitlines()
            used |= {int(line.split()[4]) for line in lines if "/dev/shm/" in line}
    return {entry.name for entry in os.scandir("/dev/shm") if entry.inode() not in used}


def chaos(options: argparse.Namespace, directory: Path) -> None:
    before = shared_memory()
    arguments = ["--game", options.game, "--agents", str(options.agents), "--envs-per-agent", "4", *options.more]
    arguments += ["--sampling", options.sampling] if options.sampling else []
    if options.sampling == "asynchronous":
        arguments += ["--controller", options.controller or "paper"]
        arguments += ["--controller-seconds", "1"] if options.controller != "off" else []
    arguments += ["--log-seconds", "1", "--plot-seconds", "0"]
    arguments += ["--checkpoint-seconds", str(CHECKPOINT_SECONDS)]
    arguments += [] if options.pods else ["--agent-silence-seconds", "2"]
    arguments += ["--stall-seconds", "20"]
    at_first = ["--preset", options.preset] if options.preset else ["--algorithm", options.algorithm]
    arguments += ["--replay-shards", str(options.shards)] if options.pods else []
    arguments += ["--cluster", "local"] if options.pods and not options.nodes else []
    run = Run(directory / "run", arguments, at_first)
    run.pods, run.shards, run.code = options.agents, options.shards, program.CALM * options.calm
    blows = Chaos(run, options.seed)
    in_checkpoint = options.server_kills * 3 // 10
    todo = [blows.kill_pod if options.pods else blows.kill_agent] * options.kills
    todo += [blows.stop_agent] * options.stops + [blows.kill_shard] * options.shard_kills
    todo += [blows.kill_node] * options.node_kills
    todo += [(blows.kill_gcs, blows.kill_raylet)[number % 2] for number in range(options.ray_kills)]
    todo += [blows.fill_disk] * options.disk_full + [blows.kill_server_in_checkpoint] * in_checkpoint
    todo += [blows.kill_server] * (options.server_kills - in_checkpoint)
    blows.random.shuffle(todo)
    try:
        if options.nodes:
            directory.mkdir(parents=True, exist_ok=True)
            run.start_nodes(options.nodes, directory)
        run.start()
        run.wait(lambda: (run.directory / "checkpoints").exists(), START_SECONDS, "no checkpoint")
        time.sleep(2 * SETTLED_SECONDS if options.controller == "off" else 0.0)
        first = run.seconds()
        for number, blow in enumerate(todo, start=1):
            print(f"\r{number} of {len(todo)}: {blow.__name__:26}", end="", file=sys.stderr, flush=True)
            time.sleep(blows.random.uniform(0.0, 2.0 * options.pause_seconds))
            if run.process.poll() is not None:
                raise Wrong(f"the run ended by itself with status {run.process.returncode}:\n{run.tail()}")
            blow()
        steps = run.steps()
        speed = recovery(run, first, blows) if options.controller == "off" else ""
        time.sleep(options.settled_seconds)
        run.wait(lambda: run.steps() > steps, START_SECONDS, "no step after the last blow")
        run.process.send_signal(signal.SIGINT)
        status = run.process.wait(END_SECONDS)
        if status != 130:
            raise Wrong(f"Ctrl-C ended it with status {status}:\n{run.tail()}")
        totals = check_books(run)
        run.check_that_all_ended()
        run.check_that_all_ended(RAYS_SECONDS, ())
        if run.nodes:
            run.nodes.stop()
        if left := shared_memory() - before:
            raise Wrong(f"shared memory is left: {left}")
        if any("Traceback" in line for line in run.output):
            raise Wrong("a traceback:\n" + "\n".join(run.output))
    finally:
        for process in run.processes() + run.processes(NODES):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                process.kill()
    pps = statistics.median(rate for rate in run.rows()["pps"] if rate > 0)
    speed = speed or f"median {pps:,.0f} steps/s"
    if run.shards:
        cluster = json.loads((run.directory / "cluster.json").read_text())
        speed = f"{cluster['lost_to_shards']:,} of them since the last start on their way to a shard; {speed}"
    lost, to_disk = (max(kind, default=0.0) for kind in (blows.lost_seconds, blows.lost_to_disk_seconds))
    print(
        f"\n{options.kills} agents killed, {options.stops} stopped, {options.shard_kills} shards killed, "
        f"{options.node_kills} nodes killed, GCS or raylet of the learner's node {options.ray_kills} times, disk full "
        f"{options.disk_full} times, server killed {options.server_kills} times; resumed {blows.resumes} times "
        f"(at most {lost:.1f} s of training lost, with a checkpoint every {CHECKPOINT_SECONDS} s; "
        f"{to_disk:.1f} s right after a full disk). "
        f"{totals['made_steps']:,} steps made = {totals['trained_steps']:,} trained on or stored + "
        f"{totals['skipped_steps']:,} skipped + {totals['lost_steps']:,} lost with agents or pods; {speed}; "
        f"at the longest {longest_pause(run):.1f} s without an update. The books balance."
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="Pong")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--algorithm", default="a3c")
    parser.add_argument("--preset", help="in the algorithm's place")
    parser.add_argument("--sampling", help="without it that of preset or algorithm; asynchronous: with a controller")
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--controller", choices=("paper", "off"), help="without it paper, and no look at the speed")
    parser.add_argument("--kills", type=int, default=10, help="agents to kill")
    parser.add_argument("--stops", type=int, default=3, help="agents to stop (SIGSTOP)")
    parser.add_argument("--disk-full", type=int, default=1, help="times that the disk takes nothing for 3 s")
    parser.add_argument("--pods", action="store_true", help="over Ray, on this machine; --agents says how many")
    parser.add_argument("--shards", type=int, default=0, help="of the replay, with --pods")
    parser.add_argument("--shard-kills", type=int, default=0, help="shards to kill")
    parser.add_argument("--nodes", type=int, default=0, help="of the cluster beside the learner's, with --pods")
    parser.add_argument("--node-kills", type=int, default=0, help="nodes to kill, with --nodes")
    parser.add_argument("--ray-kills", type=int, default=0, help="of the learner's node, with --pods: GCS, raylet, ...")
    parser.add_argument("--server-kills", type=int, default=2, help="times that the server is killed and resumed")
    parser.add_argument("--pause-seconds", type=float, default=0.5, help="between two blows, on average")
    parser.add_argument("--settled-seconds", type=float, default=10.0, help="after the last blow")
    parser.add_argument("--calm", action="store_true", help="the learner rests before each update, and costs less")
    parser.add_argument("--keep", help="directory for the run, kept afterwards")
    parser.add_argument("more", nargs="*", help="after --: more settings of the run")
    options = parser.parse_args()
    if options.algorithm == "a3c" and not options.preset:
        options.sampling = options.sampling or "asynchronous"
    directory = Path(options.keep or tempfile.mkdtemp(prefix="ga3c-chaos-"))
    try:
        chaos(options, directory)
    except Wrong as wrong:
        print(f"\nWrong: {wrong}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
