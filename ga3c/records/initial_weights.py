"""The weights with which a new run begins, where they are those of another one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.environments import protocols
from ga3c.errors import ConfigError
from ga3c.records import checkpoint, chosen_runs
from ga3c.records.checkpoint_meta import from_meta
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings


def initial_weights(
    agent: str, say: Callable[[str], None], settings: Settings, spec: EnvironmentSpec | None = None
) -> dict[str, np.ndarray]:
    """Returns the weights of a run or a checkpoint for a new run, without optimizer and counters.

    `settings` and `spec` are those of the new run. Raises ConfigError.
    """
    path = Path(agent)
    if path.is_dir():
        path, arrays, meta = checkpoint.load_newest(chosen_runs.existing(agent) / "checkpoints", say)
    else:
        arrays, meta = checkpoint.load(path)
    theirs, own = meta.get("protocol"), protocols.fingerprint(settings.environment)
    if theirs not in (None, own):
        say(f"{path} was trained under the protocol {theirs}, and this run's is {own}: their scores do not compare.")
    if spec:
        known = from_meta(meta, path)
        _check_adapted(path, known.settings.environment.adapt_spaces, settings.environment, spec)
        known.check_spaces(spec, path)
    say(f"Beginning with the weights of {path}.")
    return {name: array for name, array in arrays.items() if name.startswith("network/")} | {"version": np.int64(0)}


def _check_adapted(path: Path, adapted: bool, settings: EnvironmentSettings, spec: EnvironmentSpec) -> None:
    """Raises ConfigError if a game that is `adapted`, or not, differs from that of `spec`."""
    if adapted == settings.adapt_spaces:
        return
    if environments.closed(replace(settings, adapt_spaces=adapted)).spec != spec:
        was, flag = ("with", "--adapt-spaces") if adapted else ("without", "--no-adapt-spaces")
        raise ConfigError(
            f"{path} has learned {was} --adapt-spaces, so its observations or actions mean something else: add {flag}."
        )
