"""Who may ask: this machine, by its own names. A call that no callback can read gets 400, and not a traceback."""

import contextlib
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import flask
from dash.exceptions import DependencyException
from werkzeug.exceptions import HTTPException

OWN_NAMES = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.ASCII | re.IGNORECASE)
CALLBACKS = "/_dash-update-component"
OWN_CODE = str(Path(__file__).parent)


class UnreadableCall(ValueError):
    """A call holds values that the page does not send."""


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Reads a call: any exception becomes an `UnreadableCall`."""
    try:
        yield
    except Exception as error:
        raise UnreadableCall(f"{type(error).__name__}: {error}") from error


def texts(given: list[str] | None) -> list[str]:
    """Returns the texts that a call gives, [] for None. Raises UnreadableCall where they are none."""
    with reading():
        for one in given or ():
            one.encode("utf-8", "surrogateescape")  # a name in the file system: its bytes may be no UTF-8
        return list(given or ())


def guard(server: flask.Flask) -> None:
    """Call it before anything else asks to be called first."""

    @server.before_request
    def check_host():
        # A page from elsewhere could otherwise read along by a name of its own.
        if not OWN_NAMES.fullmatch(flask.request.environ.get("HTTP_HOST", "")):
            flask.abort(403)

    @server.errorhandler(DependencyException)
    def no_such_script(_):
        return "There is no such script.", 404

    @server.errorhandler(Exception)
    def unreadable_call(error):
        if isinstance(error, HTTPException):
            return error
        files = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
        in_callback = any(file.startswith(OWN_CODE) for file in files - {__file__})
        if flask.request.path != CALLBACKS or (in_callback and not isinstance(error, UnreadableCall)):
            raise error  # it is an error of ours: 500, with a traceback on the terminal
        answer = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        return flask.Response(answer, 400, mimetype="text/plain")
