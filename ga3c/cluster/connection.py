"""Starts or joins Ray, and compares the versions of programs on other machines."""

import atexit
import contextlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from ga3c import __version__
from ga3c.cluster import access, address, ray_session
from ga3c.errors import ConfigError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it reports to nobody
# Ray would start an idle process for each core, which no pod could use: pods have an environment of their own.
os.environ.setdefault("RAY_prestart_worker_first_driver", "0")
ROOT = Path(__file__).resolve().parents[2]
LEAVE_SECONDS = 15.0
OBJECT_STORE_BYTES = 300_000_000  # of this machine alone: what is on its way between pods and learner


def join(where: str, pods: int) -> str:
    """Starts Ray on this machine with room for so many pods (`local`), or joins a cluster (`auto` or an address).

    Returns a line for the console. Raises ConfigError.
    """
    import ray

    logging.getLogger("ray").setLevel(logging.CRITICAL)  # what it has to say is said below
    access.keep_token()
    if where == "local":
        how = {"num_cpus": max(pods, os.cpu_count() or 1), "object_store_memory": OBJECT_STORE_BYTES}
        how |= {"address": where, "include_dashboard": False}
        reach = access.of_this_machine()
    else:
        how, reach = {"address": address.checked(where)}, access.of_a_cluster()
    # On other machines the program lies in the same folder, or Python finds it by itself.
    environment = {"env_vars": {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}}
    heard: list[str] = []
    # A local start says nothing, unless Ray ends this process: its reason must be seen then.
    quiet = contextlib.nullcontext() if where == "local" else _error_stream_into(heard)
    try:
        with reach, quiet:
            ray.init(**how, log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment, namespace="ga3c")
    except Exception as error:  # Ray raises that, too: for a node that did not start
        reason = " ".join(str(error).split())[:300].rstrip(".")
        if isinstance(error, ray.exceptions.AuthenticationError) or "AuthToken" in "".join(heard):
            reason = "it asks for another token than the one here. ga3c/cluster/README.md says how to bring it"
        raise ConfigError(f"Cannot join --cluster {where}: {reason}.") from error
    # What other processes of Ray's have to say at their end fills a screen.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    if where == "local":
        ray_session.keep(_session_folder())
    return f"Cluster: {room(nodes_alive())}.{access.warning()}"


@contextlib.contextmanager
def _error_stream_into(lines: list[str]) -> Iterator[None]:
    """Collects what is written to file descriptor 2 meanwhile: Ray's C++ writes a line there for each attempt."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()


def nodes_alive() -> list[dict]:
    """Returns the cluster's nodes that are alive, as Ray describes them."""
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def room(nodes: Sequence[dict]) -> str:
    """Returns e.g. `3 nodes with 2 cores for pods`."""
    cores = sum(node["Resources"].get("CPU", 0.0) for node in nodes)
    return f"{len(nodes)} node{'s' * (len(nodes) != 1)} with {cores:g} core{'s' * (cores != 1)} for pods"


def as_actor(kind: type, **options):
    """Returns a class whose instances Ray runs. `options`: Ray's. No events of their calls are kept: the GCS would grow
    by 3.4 KB with each."""
    import ray

    return ray.remote(enable_task_events=False, **options)(kind)


def leave() -> None:
    """Ends what `join` has started. Ray waits for its GCS without a limit; this does not."""
    import ray

    if not ray.is_initialized():
        return
    node, folder = ray._private.worker._global_node, _session_folder()
    leaving = threading.Thread(target=ray.shutdown, name="leaving", daemon=True)
    leaving.start()
    leaving.join(LEAVE_SECONDS)
    if leaving.is_alive():
        node.kill_all_processes(check_alive=False, allow_graceful=False)  # those that were started here, the GCS too
        leaving.join(LEAVE_SECONDS)
    if leaving.is_alive():
        atexit.unregister(ray.shutdown)  # it would wait there
    ray_session.end(folder)


def _session_folder() -> Path:
    """Returns Ray's folder for the cluster that is joined."""
    import ray

    return Path(ray._private.worker._global_node.get_session_dir_path())


def versions() -> dict[str, str]:
    """Returns the versions of the programs that must be the same everywhere."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"ga3c": __version__, "Python": python, "TensorFlow": metadata.version("tensorflow")}


def difference(theirs: dict[str, str], node: str) -> str:
    """Returns the first difference from the learner's versions, in a sentence; "" if there is none."""
    ours = versions()
    for name, version in ours.items():
        if theirs.get(name) != version:
            return f"The pod on {node} has {name} {theirs.get(name)}, and the learner has {version}: install the same."
    return ""
