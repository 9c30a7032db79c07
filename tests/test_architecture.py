"""Who may import whom. The lower a group stands in ALLOWED, the more it may use."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ga3c"
TENSORFLOW = {"tensorflow", "keras"}
# module -> what of this package it may import (besides itself), or None: anything but `commands`
ALLOWED = {
    "config": set(),
    "ranges": {"config"},
    "saved_settings": {"config", "ranges"},
    "rollout": set(),
    "console": set(),
    "checkpoint": {"config"},
    "disk": set(),
    "inbox": set(),
    "prediction_queue": {"inbox", "rollout"},
    "training_queue": {"inbox", "rollout"},
    "environments": {"config", "rollout"},
    "controller": set(),
    "resources": {"config"},
    "stall": set(),
    "measurement": {"controller"},
    "proposals": {"controller", "measurement"},
    "tuner": {"controller", "measurement", "proposals"},
    "stats": set(),
    "collapse": {"disk"},
    "tensorboard_writer": {"disk"},
    "stats_writer": {"collapse", "console", "disk", "stats", "tensorboard_writer"},
    "protocols": {"config", "environments"},
    "progress": {"config", "controller", "protocols", "saved_settings", "stats"},
    "recovery": {"checkpoint", "config", "controller", "disk", "model", "progress", "stats", "stats_writer"},
    "run_directory": {"config", "disk", "environments", "protocols", "saved_settings"},
    "networks": {"config", "rollout"},
    "algorithms": set(),
    "agent": {"config", "environments", "inbox", "rollout", "prediction_queue", "training_queue"},
    "device": {"config"},
    "graph": set(),
    "model": {"algorithms", "config", "device", "graph", "networks", "rollout"},
    "predictor": {"model", "prediction_queue", "stats"},
    "trainer": {"model", "training_queue", "rollout", "stats"},
    "agent_handle": {"rollout"},
    "agent_pool": {
        "agent",
        "agent_handle",
        "config",
        "console",
        "prediction_queue",
        "rollout",
        "stats",
        "training_queue",
    },
    "drawing": set(),
    "experiments": {"checkpoint", "config", "disk", "run_directory"},
    "measurements": {"disk", "experiments", "run_directory"},
    "aggregates": set(),
    "evaluation": {"aggregates", "config", "environments", "protocols"},
    "comparison": {
        "aggregates",
        "checkpoint",
        "collapse",
        "config",
        "curves",
        "disk",
        "drawing",
        "experiments",
        "measurements",
        "protocols",
        "run_directory",
    },
    "figures": {"comparison", "config", "disk", "drawing", "experiments", "measurements", "run_directory"},
    "run_view": {"disk", "run_directory", "stats_writer"},
    "screen": {"run_view"},
    "live_screen": {"run_view", "screen"},
    "curves": {"collapse", "config", "protocols", "run_directory", "saved_settings"},
    "dashboard": {"config", "curves", "drawing", "run_directory", "run_view", "screen"},
    "playing": {"config", "environments"},
    "controls": set(),
    "displays": {"controls", "live_screen", "playing", "screen"},
    "stations": {"config", "environments", "rollout", "prediction_queue", "training_queue"},
    "server": None,
}
MAY_LOAD_TENSORFLOW = {"networks", "algorithms", "device", "graph", "model"}


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


def station(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [f for f in sorted(PACKAGE.rglob("*.py")) if station(f) not in ("commands", "__init__", "__main__")]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_downwards(file):
    own = station(file)
    assert own in ALLOWED, f"{own} is not in the picture: say here what it may import"
    used = {name.split(".")[1] for name in imports_of(file) if name.startswith("ga3c.")} - {own}
    allowed = ALLOWED[own]
    if allowed is None:
        assert "commands" not in used
    else:
        assert used <= allowed


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_tensorflow_is_loaded_only_where_it_may_be(file):
    roots = {name.split(".")[0] for name in imports_of(file)}
    if station(file) in ("config", "rollout"):
        assert roots <= set(sys.stdlib_module_names) | {"numpy"}
    if station(file) == "tensorboard_writer":  # imported where it is used
        top = {n.split(".")[0] for n in imports_at_top(file)}
        assert not top & TENSORFLOW
    elif station(file) not in MAY_LOAD_TENSORFLOW:
        assert not roots & TENSORFLOW
    if station(file) in ("networks", "algorithms"):
        assert not roots & {"threading", "multiprocessing", "pathlib", "os", "argparse", "tyro"}


def imports_at_top(file: Path) -> set[str]:
    body = ast.parse(file.read_text()).body
    return {a.name for n in body if isinstance(n, ast.Import) for a in n.names} | {
        n.module for n in body if isinstance(n, ast.ImportFrom)
    }


def test_only_commands_import_the_server():
    for file in FILES:
        assert not any(name.startswith("ga3c.server") for name in imports_of(file)), file


COMMANDS = [f"ga3c.commands.{command}" for command in ("train", "plot", "reproduce")]


@pytest.mark.parametrize("module", ["ga3c", "ga3c.agent", *COMMANDS])
def test_importing_loads_no_tensorflow(module):
    code = f"import sys, {module}; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0


def test_the_package_itself_imports_nothing():
    assert imports_of(PACKAGE / "__init__.py") == set()
