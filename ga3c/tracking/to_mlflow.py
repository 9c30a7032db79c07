"""MLflow: the store that MLFLOW_TRACKING_URI names, else one in a directory that all runs share."""

import os
import time
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

LOCAL = "MLFLOW_ALLOW_FILE_STORE"
# Before MLflow is loaded, which reads them. Without the first it refuses stores of files. Its other stores need a
# server, or packages that the smaller MLflow leaves out.
for name, value in (
    (LOCAL, "true"),
    ("MLFLOW_DISABLE_TELEMETRY", "true"),
    ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1"),
    ("MLFLOW_HTTP_REQUEST_TIMEOUT", "10"),
):
    os.environ.setdefault(name, value)

from mlflow.entities import Metric, Param  # noqa: E402
from mlflow.tracking import MlflowClient  # noqa: E402

from ga3c.records.files import reason  # noqa: E402
from ga3c.text import place, word  # noqa: E402
from ga3c.tracking.new_rows import Point  # noqa: E402
from ga3c.tracking.secrets_left_out import without_secrets  # noqa: E402
from ga3c.tracking.tracked_run import PROJECT, Sent, TrackedRun  # noqa: E402

MOST_METRICS = 1000  # that a server takes at once
MOST_LETTERS = 6000  # of a parameter's value


class MlflowTracker:
    """One run there. Its steps are those of the game."""

    def __init__(self, client: MlflowClient, run: TrackedRun, run_id: str, why_local: str):
        """`why_local`: "" where the run is in the store that was asked for."""
        self._client, self._run, self._id = client, run, run_id
        store = client.tracking_uri
        self.where, self.then = "the run is in the store of MLFLOW_TRACKING_URI", ()
        if store.startswith("file:"):
            directory = Path(url2pathname(urlparse(store).path))
            self.where = f"offline, into {place(directory)}{why_local}"
            show = f"{LOCAL}=true mlflow ui --backend-store-uri {word(directory)}"
            self.then = "This shows the run, where the package mlflow is installed:", show

    def log(self, points: list[Point]) -> None:
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, steps) for steps, values in points for name, value in values.items()]
        for first in range(0, len(metrics), MOST_METRICS):
            self._client.log_batch(self._id, metrics=metrics[first : first + MOST_METRICS])

    def say(self, lines: list[str]) -> None:
        self._client.log_artifact(self._id, str(self._run.path / "messages.csv"))

    def keep(self, path: Path) -> None:
        self._client.log_artifact(self._id, str(path))

    def close(self, failed: bool) -> None:
        self._client.set_terminated(self._id, "FAILED" if failed else "FINISHED")


def begin(run: TrackedRun, sent: Sent) -> MlflowTracker:
    """Begins the run there, or goes on with it."""
    asked, why_local = os.environ.get("MLFLOW_TRACKING_URI"), ""
    if asked and not sent.is_local:
        try:
            return _begin(run, sent, asked, why_local)
        except Exception as error:
            if sent.run_id:  # it began in that store, and goes on there: its rows wait
                raise
            why_local = f", because MLflow said: {without_secrets(reason(error))}"
    sent.is_local = True
    return _begin(run, sent, Path(run.store).as_uri(), why_local)


def _begin(run: TrackedRun, sent: Sent, store: str, why_local: str) -> MlflowTracker:
    client = MlflowClient(tracking_uri=store)
    if sent.run_id:
        client.update_run(sent.run_id, status="RUNNING")
    else:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        known = client.get_experiment_by_name(name)
        experiment = os.environ.get("MLFLOW_EXPERIMENT_ID") or (
            known.experiment_id if known else client.create_experiment(name)
        )
        tags = {"group": run.group, "game": run.game}
        sent.run_id = client.create_run(experiment, run_name=run.name, tags=tags).info.run_id
    known = client.get_run(sent.run_id).data.params  # these cannot be changed: config.json has the history
    settings = {f"{group}.{name}": str(value) for group, of in run.settings().items() for name, value in of.items()}
    new = [Param(name, value[:MOST_LETTERS]) for name, value in settings.items() if name not in known]
    for first in range(0, len(new), 100):  # more are refused
        client.log_batch(sent.run_id, params=new[first : first + 100])
    client.log_artifact(sent.run_id, str(run.path / "config.json"))
    return MlflowTracker(client, run, sent.run_id, why_local)
