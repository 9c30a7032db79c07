"""config.json: the settings of a run, and the versions and the machine that it was made with."""

import platform
import sys
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.records.files import read_json, reason
from ga3c.settings import saved_settings
from ga3c.settings.run import Settings


def read(run: Path) -> dict:
    """Reads config.json. Raises ConfigError."""
    description = read_json(run / "config.json")
    if not isinstance(description, dict):
        raise ConfigError(f"Cannot read {run / 'config.json'}: it is no description of a run.")
    return description


def read_settings(run: Path) -> Settings:
    """The settings that a run was started with. Raises ConfigError."""
    description = read(run)
    try:
        return saved_settings.from_dict(description["settings"], description.get("protocol"))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"Cannot read {run / 'config.json'}: {reason(error)}") from error


def resumed(run: Path, settings: Settings) -> dict:
    """Returns the content of config.json for a resumed run: its settings, and a history of what was asked and when.

    Raises ConfigError.
    """
    before, description = read_settings(run), read(run)
    history = description.get("history", [])
    if not isinstance(history, list):
        raise ConfigError(f"Cannot read {run / 'config.json'}: its history is no list.")
    kept = replace(settings, run=replace(settings.run, resume=None, run_dir=before.run.run_dir))
    old, new = saved_settings.to_dict(before), saved_settings.to_dict(kept)
    changed = {
        name: [old[group][name], value]
        for group, values in new.items()
        for name, value in values.items()
        if value != old[group][name]
        and name not in ("steps", "minutes", "episodes")  # these limits belong to one start
    }
    protocol = protocols.fingerprint(settings.environment)
    if protocol != description.get("protocol"):
        changed["protocol"] = [description.get("protocol"), protocol]
    entry = {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "command": sys.argv, "changed": changed}
    return description | {"settings": new, "protocol": protocol, "history": [*history, entry]}


def describe(settings: Settings) -> dict:
    """Returns the content of config.json for a new run."""
    packages = ("tensorflow", "keras", "numpy", "ale-py", "gymnasium")
    return {
        "settings": saved_settings.to_dict(settings),
        "protocol": protocols.fingerprint(settings.environment),
        "command": sys.argv,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "versions": {"python": platform.python_version()} | {name: metadata.version(name) for name in packages},
        "hardware": {
            "machine": platform.machine(),
            "system": platform.platform(),
            "processor": _processor(),
            "cores": usable_cores(),
        },
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
