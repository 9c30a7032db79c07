"""W&B (Weights & Biases), online where it can be reached, else into a directory that `wandb sync` sends."""

import os
import secrets
import sys
from pathlib import Path

import wandb

from ga3c.records.files import reason
from ga3c.text import place, word
from ga3c.tracking.new_rows import Point
from ga3c.tracking.secrets_left_out import without_secrets
from ga3c.tracking.tracked_run import PROJECT, Sent, TrackedRun

CONNECT_SECONDS = 20.0


class WandbTracker:
    """One run there. Its steps are those of the game."""

    def __init__(self, run: TrackedRun, to, why_offline: str):
        """`to`: a `wandb.Run`. `why_offline`: "" where it is online, or was asked to be offline."""
        self._to = to
        self.where = to.url or f"offline, into {place(Path(to.dir).parent)}{why_offline}"
        self.then = ()
        if to.offline:
            program = Path(sys.executable).with_name("wandb")
            self.then = "This sends the run to W&B:", f"{word(program)} sync {word(Path(to.dir).parents[1])}"

    def log(self, points: list[Point]) -> None:
        for steps, values in points:
            self._to.log(values, step=steps, commit=True)

    def say(self, lines: list[str]) -> None:
        self._to.write_logs("\n".join(lines))

    def keep(self, path: Path) -> None:
        if path.suffix == ".mp4":
            self._to.log({"game": wandb.Video(str(path), format="mp4")})
            return
        kept = wandb.Artifact(f"checkpoint-{self._to.id}", type="model")
        kept.add_file(str(path))
        self._to.log_artifact(kept)

    def close(self, failed: bool) -> None:
        self._to.finish(exit_code=1 if failed else 0)


def begin(run: TrackedRun, sent: Sent) -> WandbTracker:
    """Begins the run there, or goes on with it."""
    sent.run_id = sent.run_id or os.environ.get("WANDB_RUN_ID") or secrets.token_hex(8)
    folder = Path(os.environ.setdefault("WANDB_DIR", str(run.folder)))
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("WANDB_DATA_DIR", str(folder))  # what waits to be sent lies there, too
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    if os.environ.get("WANDB_MODE"):
        return WandbTracker(run, _init(run, sent, None), "")
    try:
        return WandbTracker(run, _init(run, sent, "online"), "")
    except Exception as error:  # no login, or no network
        wandb.teardown()  # else its service takes the run for one that goes on
        why = f", because W&B said: {without_secrets(reason(error))}"
        return WandbTracker(run, _init(run, sent, "offline"), why)


def _init(run: TrackedRun, sent: Sent, mode: str | None):
    settings = wandb.Settings(
        console="off",
        silent=True,
        save_code=False,
        disable_git=True,
        init_timeout=float(os.environ.get("WANDB_INIT_TIMEOUT", CONNECT_SECONDS)),
        x_stats_pid=run.process,
        x_transaction_log_flush_interval=1.0,
    )
    return wandb.init(
        project=os.environ.get("WANDB_PROJECT", PROJECT),
        group=os.environ.get("WANDB_RUN_GROUP", run.group),
        name=os.environ.get("WANDB_NAME", run.name),
        id=sent.run_id,
        resume="allow",
        mode=mode,
        config=run.settings(),
        allow_val_change=True,
        settings=settings,
    )
