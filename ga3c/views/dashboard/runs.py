"""The runs that the dashboard shows."""

import threading
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.records.run_directory import PRETRAINED
from ga3c.views import labels
from ga3c.views.run_view import RunView

FILMS = (".mp4", ".gif")


class Runs:
    """The runs below a directory, and what was read of them so far. Safe to use from several threads."""

    def __init__(self, results: Path):
        self.results = results
        self._views: dict[str, RunView] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """GAME/RUN of all, the newest first."""
        found = [path.parent for path in self.results.glob("*/*/config.json")]
        found = [run for run in found if run.parent.name != PRETRAINED.name]  # they have no logs
        when = {run: max(written(run / name) for name in ("config.json", "throughput.csv")) for run in found}
        return [str(run.relative_to(self.results)) for run in sorted(found, key=when.get, reverse=True)]

    def view(self, name: str) -> RunView | None:
        """As it is now; None where it is not one of `names`, or cannot be read."""
        with self._lock:
            try:
                if name not in self._views:
                    if name not in self.names():
                        return None
                    self._views[name] = RunView(self.results / name)
                self._views[name].refresh()
            except ConfigError:
                return None
            return self._views[name]

    def views(self, names: list[str] | None) -> dict[str, RunView]:
        """Of those that can be read, in their order."""
        return {name: view for name in names or [] if (view := self.view(name)) is not None}

    def labelled(self, names: list[str] | None) -> dict[str, RunView]:
        """The same, by what they are called beside each other."""
        views = list(self.views(names).values())
        return dict(zip(labels.labels([view.known for view in views]), views, strict=True))

    def films(self, name: str) -> list[str]:
        """Recorded games of a run and of its game, below the results, the newest first."""
        run = self.results / name
        files = [file for place in (run, run.parent) for file in place.glob("*") if file.suffix in FILMS]
        return [str(file.relative_to(self.results)) for file in sorted(files, key=written, reverse=True)]


def written(path: Path) -> float:
    """When it was last written, seconds since the epoch; 0: it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
