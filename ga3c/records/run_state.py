"""The state of a run: the server writes it into state.json when the run begins and when it ends."""

import json
from pathlib import Path
from typing import NamedTuple

from ga3c.errors import ConfigError
from ga3c.records import lock, run_directory
from ga3c.records.csv_reading import parse
from ga3c.records.files import open_to_read, read_json, write_whole
from ga3c.text import one_line

NAME = "state.json"
RUNNING, ENDED, STOPPED, FAILED, LOST = "running", "ended", "stopped", "failed", "lost"
REASON_LETTERS = 200  # of the reason of a failure, at the most
LAST_BYTES = 50_000  # of messages.csv: enough to find the end of the run


class RunState(NamedTuple):
    name: str
    why: str = ""  # the reason of a failure in a few words

    @property
    def sentence(self) -> str:
        return {
            RUNNING: "The run goes on.",
            ENDED: "The run ended at its limit.",
            STOPPED: "The run was stopped.",
            FAILED: f"The run failed: {self.why or 'the reason is in messages.csv'}.",
            LOST: "The run was lost: the program was killed, or the machine went down.",
        }[self.name]


def few_words(text: str) -> str:
    """Returns the first line of a failure's text, and the last line of the traceback if one follows."""
    lines = [line for line in text.splitlines() if line[:1].strip() and not line.startswith("Traceback")] or [""]
    first, last = lines[0].rstrip(":."), lines[-1].rstrip(":.")
    return (first if last in first else f"{first}: {last}")[:REASON_LETTERS]


def write(run_dir: Path, state: RunState) -> None:
    """Writes the state. Raises OSError."""
    write_whole(run_dir / NAME, json.dumps({"state": state.name, "why": state.why}) + "\n")


def read(run_dir: Path) -> RunState:
    """Returns the state of a run now. Without a state file it is judged by its last messages."""
    if lock.is_locked(run_dir):
        return RunState(RUNNING)
    try:
        content = read_json(run_dir / NAME)
        name, why = content["state"], content.get("why", "")
    except (ConfigError, KeyError, TypeError, AttributeError):
        return _judged(run_dir)
    if name not in (ENDED, STOPPED, FAILED):  # nobody holds the lock, so it does not run any more
        return RunState(LOST)
    return RunState(name, one_line(why)[:REASON_LETTERS])


def _judged(run_dir: Path) -> RunState:
    """Judges a run by the messages since its last start. Without any it is taken for a run that ended."""
    said_by = run_dir.parent if run_directory.is_secondary(run_dir) else run_dir
    try:
        with open_to_read(said_by / "messages.csv") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LAST_BYTES))
            _, rows = parse(b"time,message\n" + file.read(LAST_BYTES))
    except OSError:
        return RunState(ENDED)
    said = [text for _, text in rows]
    starts = [number for number, text in enumerate(said) if text.startswith("Training ")]
    said = said[starts[-1] :] if starts else said
    failure = [text for text in said if text.startswith("ga3c: ")]
    if failure:
        return RunState(FAILED, one_line(few_words(failure[0].removeprefix("ga3c: "))))
    if not any(text.startswith("Saved in ") for text in said):
        return RunState(LOST)
    return RunState(STOPPED if any(text.startswith("Stopping: ") for text in said) else ENDED)
