"""A run as its trackers know it, and how far a tracker has come with it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from ga3c.errors import ConfigError
from ga3c.records.files import read_json, write_whole
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import to_dict

FOLDER = "tracking"  # in the directory of a run
PROJECT = "ga3c"  # W&B's project and MLflow's experiment, where the environment names no other


class TrackedRun(NamedTuple):
    """A run, as its trackers show it. All fields go to another process as JSON."""

    directory: str
    game: str
    name: str
    group: str  # equal for runs that differ in their seed alone
    store: str  # the directory of MLflow's local store, which all runs share
    process: int  # the trainer's

    @property
    def path(self) -> Path:
        return Path(self.directory)

    @property
    def folder(self) -> Path:
        """The directory of all that trackers write into the run's own."""
        return self.path / FOLDER

    def settings(self) -> dict[str, dict]:
        """Returns the settings, by group and name. Raises ConfigError."""
        return read_json(self.path / "config.json")["settings"]


def group_of(settings: Settings, game: str) -> str:
    """Returns the name of all runs with these settings, whatever their seeds, limits and files are."""
    groups = to_dict(settings)
    del groups["run"], groups["learning"]["seed"]
    digest = hashlib.sha256(json.dumps(groups, sort_keys=True).encode()).hexdigest()
    return f"{game}-{settings.learning.preset}-{digest[:8]}"


@dataclass
class Sent:
    """How far one tracker has come. It is saved in the run's directory, so that a resumed run goes on there."""

    run_id: str = ""  # the run's name on the tracker's side; "" before it has one
    is_local: bool = False  # the tracker's store is a directory, though the environment names a server
    steps: int = -1  # of the last row that was sent
    messages: int = 0  # rows of messages.csv that were sent

    def write(self, run: TrackedRun, tracker: str) -> None:
        """Saves it. Raises OSError, also where the run's directory is gone."""
        write_whole(run.folder / f"{tracker}.json", json.dumps(asdict(self)) + "\n")


def sent_so_far(run: TrackedRun, tracker: str) -> Sent:
    """Returns what is saved of a tracker: if nothing is, that it has got nothing."""
    try:
        return Sent(**read_json(run.folder / f"{tracker}.json"))
    except (ConfigError, TypeError):
        return Sent()
