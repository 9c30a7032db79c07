"""Who may import whom: downwards only. The picture is in ga3c/README.md."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ga3c"
TENSORFLOW = {"tensorflow", "keras"}

# Each station (a file) and each room (a folder), from the ground up, and which of those above it may import.
LOWEST = {"control_groups", "controller", "errors", "layout", "scheduling", "stats"}
GROUND = LOWEST | {"installation", "machine", "progress", "rollout", "settings", "text", "transport"}
QUEUES = {"prediction_queue", "training_queue"}
STATIONS = {*QUEUES, "agent", "model", "predictor", "trainer"}
LEARNING = {"networks", "devices", "algorithms"}
READERS = {"records", "views", "play"}
ALLOWED = {
    **{name: set() for name in LOWEST},
    "rollout": {"layout"},
    "machine": {"control_groups", "errors"},
    "installation": {"errors"},
    "settings": {"errors", "machine"},
    "progress": {"controller", "errors", "rollout", "settings", "stats"},
    "text": {"errors", "installation"},
    "transport": {"rollout"},
    **{name: {"rollout", "transport"} for name in QUEUES},
    "emulator": set(),
    "atari": {"emulator", "installation", "machine"},
    "environments": {"atari", "emulator", "errors", "installation", "layout", "rollout", "settings"},
    "replay": {"rollout", "scheduling", "training_queue", "transport"},
    "agent": {*QUEUES, "environments", "transport"},
    "networks": {"errors", "layout", "rollout", "settings"},
    "devices": {"errors", "machine", "rollout"},
    "algorithms": {"errors", "rollout", "settings"},
    "model": {"devices", "errors", "networks", "rollout", "settings"},
    "predictor": {"model", "prediction_queue", "rollout", "stats"},
    "trainer": {"model", "rollout", "stats"},
    "processes": {*GROUND, *QUEUES, "agent", "environments"} - {"controller", "progress", "scheduling"},
    "records": GROUND | {"environments"},
    "cluster": {*GROUND, *QUEUES, *LEARNING, "agent", "environments", "model", "replay"},
    "systems": {
        *GROUND,
        *STATIONS,
        *LEARNING,
        "cluster",
        "datasets",
        "emulator",
        "environments",
        "processes",
        "replay",
    },
    "server": GROUND | {"processes", "records"},
    "views": {"environments", "errors", "records", "settings", "text"},
    "play": {*READERS, *LEARNING, "environments", "errors", "machine", "model", "rollout", "settings", "text"},
    "tracking": {"errors", "installation", "machine", "play", "records", "settings", "text"},
    "datasets": {"algorithms", "environments", "errors", "machine", "play", "records", "rollout", "settings"},
    "experiments": {
        "cluster",
        *GROUND,
        *STATIONS,
        *LEARNING,
        *READERS,
        "atari",
        "emulator",
        "environments",
        "processes",
        "replay",
    },
    "exports": {
        *("devices", "environments", "errors", "experiments", "installation", "layout", "networks", "play", "records"),
        *("rollout", "settings", "text"),
    },
    "papers": {"environments", "errors", "experiments", "records", "settings", "views"},
    "commands": {
        *GROUND,
        *LEARNING,
        *READERS,
        "cluster",
        "datasets",
        "environments",
        "experiments",
        "exports",
        "papers",
        "processes",
        "server",
        "systems",
        "tracking",
    },
    "python": {*GROUND, *READERS, "commands", "environments", "experiments", "exports", "processes", "server"},
}
MAY_LOAD_TENSORFLOW = {*LEARNING, "exports", "model"}


@cache
def imports_of(file: Path) -> set[str]:
    """Full names of all modules that a file imports anywhere; relative imports do not occur here."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def room(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [f for f in sorted(PACKAGE.rglob("*.py")) if room(f) not in ("__init__", "__main__")]


def test_imports_point_downwards():
    unknown = {room(f) for f in FILES} - set(ALLOWED)
    assert not unknown, "not in the picture: say here what it may import"
    wrong = {}
    for file in FILES:
        own = room(file)
        used = {name.split(".")[1] for name in imports_of(file) if name.startswith("ga3c.")}
        if above := used - {own, "__version__"} - ALLOWED[own]:
            wrong[str(file)] = above
    assert not wrong


def test_no_file_imports_itself_by_a_detour():
    modules = {".".join(["ga3c", *f.relative_to(PACKAGE).with_suffix("").parts]): f for f in FILES}
    uses = {module: (imports_of(file) & set(modules)) - {module} for module, file in modules.items()}
    assert list(TopologicalSorter(uses).static_order())  # raises CycleError


def roots(names: set[str]) -> set[str]:
    """The packages of which these are modules."""
    return {name.split(".")[0] for name in names}


def test_tensorflow_is_loaded_only_where_it_may_be():
    wrong = {}
    for file in FILES:
        own, used, found = room(file), roots(imports_of(file)), set()
        if own in LOWEST:
            found |= used - set(sys.stdlib_module_names) - {"numpy", "ga3c"}
        if file.name == "tensorboard.py":  # imported where it is used
            found |= roots(imports_at_top(file)) & TENSORFLOW
        elif own not in MAY_LOAD_TENSORFLOW:
            found |= used & TENSORFLOW
        if own in ("networks", "algorithms"):
            found |= used & {"threading", "multiprocessing", "pathlib", "os", "argparse", "tyro"}
        if found:
            wrong[str(file)] = found
    assert not wrong


@cache
def imports_at_top(file: Path) -> set[str]:
    body = ast.parse(file.read_text()).body
    return {a.name for n in body if isinstance(n, ast.Import) for a in n.names} | {
        n.module for n in body if isinstance(n, ast.ImportFrom)
    }


def test_only_commands_import_systems_and_the_server():
    importers = {room(f) for f in FILES if any(n.startswith(("ga3c.server", "ga3c.systems")) for n in imports_of(f))}
    assert importers <= {"commands", "python", "server", "systems"}


def test_only_the_cluster_imports_ray_and_only_where_it_is_asked_for():
    assert {room(f) for f in FILES if "ray" in {name.split(".")[0] for name in imports_of(f)}} == {"cluster"}
    assert not [
        f for f in FILES if room(f) != "cluster" and any(name.startswith("ga3c.cluster") for name in imports_at_top(f))
    ]


def test_only_the_search_imports_optuna():
    importers = {f.parent.name if f.name != "tune.py" else "tune" for f in FILES if "optuna" in str(imports_of(f))}
    assert importers == {"search", "tune"}
    asking = {f.name for f in FILES if any(name.startswith("ga3c.experiments.search") for name in imports_of(f))}
    assert asking == {"study.py", "study_report.py", "tune.py"}


def test_only_trackers_import_their_packages_and_only_in_their_own_process():
    packages = {f.name: {"wandb", "mlflow"} & {name.split(".")[0] for name in imports_of(f)} for f in FILES}
    assert {name for name, found in packages.items() if found} == {"to_wandb.py", "to_mlflow.py"}
    assert not [f for f in FILES if any(name.startswith("ga3c.tracking.to_") for name in imports_of(f))]


def test_only_exports_import_the_runtimes_of_its_formats():
    runtimes = {"ai_edge_litert", "onnx", "onnxruntime", "tf2onnx"}
    importers = {str(f.relative_to(PACKAGE)) for f in FILES if {n.split(".")[0] for n in imports_of(f)} & runtimes}
    assert importers == {"exports/onnx_file.py", "exports/tflite.py"}
    for name in ("formats", "request"):  # the command line asks them before it loads TensorFlow
        assert not {"keras", "tensorflow"} & imports_of(PACKAGE / "exports" / f"{name}.py")


def test_code_for_a_gpu_is_loaded_only_where_it_is_asked_for():
    folder = PACKAGE / "emulator" / "cuda"
    importers = {f for f in FILES if any(name.startswith("numba.cuda") for name in imports_of(f))}
    assert {f.name for f in importers if f.parent != folder} == {"gpu_batch.py", "on_gpu.py"}
    asking = [f.name for f in FILES if f.parent != folder and any("cuda" in name for name in imports_at_top(f))]
    assert asking == ["gpu_batch.py"]


def test_who_plays_makes_games_that_share_no_random_state():
    """In processes, threads and pods alike."""
    players = [f for f in FILES if room(f) in ("systems", "processes", "cluster")]
    assert not [str(f) for f in players if "environments.make(" in f.read_text()]


COMMANDS = [f"ga3c.commands.{command}" for command in ("train", "plot", "reproduce")]
COMMANDS += [f"ga3c.python.{module}" for module in ("training", "loaded_agent", "measured", "trained_run")]


@pytest.mark.parametrize("module", ["ga3c", "ga3c.agent", "ga3c.processes.agent_process", *COMMANDS])
def test_importing_loads_no_tensorflow(module):
    code = f"import sys, {module}; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0


def test_importing_the_package_alone_loads_nothing():
    code = (
        "import sys, importlib; before = set(sys.modules); import ga3c; sys.exit(set(sys.modules) - before != {'ga3c'})"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0
    assert imports_of(PACKAGE / "__init__.py") == {"importlib", "importlib.import_module"}
