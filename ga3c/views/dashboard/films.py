"""Recorded games: which there are, and their way to the browser."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

import flask
from werkzeug.datastructures import ContentRange
from werkzeug.wsgi import wrap_file

RECORDED = "/recorded/"  # how their addresses begin
KINDS = {".mp4": "video/mp4", ".gif": "image/gif"}


def of_run(results: Path, run: Path) -> tuple[tuple[str, float], ...]:
    """Returns the films of a run and of its game, the newest first: paths below the results, and times of writing."""
    found = {}
    for folder in (run, run.parent):
        try:
            for file in folder.iterdir():
                if _is_film(results, file):
                    found[str(file.relative_to(results))] = file.stat().st_mtime
        except OSError:  # it disappears meanwhile
            continue
    return tuple(sorted(found.items(), key=lambda item: item[1], reverse=True))


def open_film(results: Path, runs: list[str], file: str) -> BinaryIO | None:
    """That of one of these runs (GAME/RUN) or of their games which lies at this path below the results. None: none."""
    folder = file.rpartition("/")[0]
    if folder not in runs and not any(run.startswith(f"{folder}/") for run in runs if "/" not in folder):
        return None
    try:
        if not _is_film(results, results / file):
            return None
        return open(results / file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW))
    except (OSError, ValueError):
        return None


def _is_film(results: Path, file: Path) -> bool:
    """A file itself, no link to one, which lies below the results. Raises OSError, ValueError."""
    return (
        file.suffix in KINDS
        and stat.S_ISREG(file.lstat().st_mode)
        and file.parent.resolve().is_relative_to(results.resolve())
    )


def answer(file: BinaryIO) -> flask.Response:
    """The film, or the part of it that is asked for. It is sent without a thread that waits for who receives it."""
    size = os.fstat(file.fileno()).st_size
    asked = flask.request.range
    part = asked.range_for_length(size) if asked else None
    if part is None and asked and asked.units == "bytes" and len(asked.ranges) == 1:
        flask.abort(416)
    start, end = part or (0, size)
    file.seek(start)
    headers = {"Accept-Ranges": "bytes", "Cache-Control": "no-cache", "Content-Length": str(end - start)}
    if part:
        headers["Content-Range"] = ContentRange("bytes", start, end, size).to_header()
    content = wrap_file(flask.request.environ, file)
    kind = KINDS[os.path.splitext(file.name)[1]]
    return flask.Response(content, 206 if part else 200, headers, mimetype=kind, direct_passthrough=True)
