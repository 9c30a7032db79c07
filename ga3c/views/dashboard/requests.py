"""Who may ask: this machine, by its own names. A call that no callback can read gets 400, and not a traceback."""

import re

import flask
from dash.exceptions import DependencyException
from werkzeug.exceptions import HTTPException

OWN_NAMES = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.ASCII | re.IGNORECASE)
CALLBACKS = "/_dash-update-component"


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
        if flask.request.path != CALLBACKS:
            raise error
        answer = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        return flask.Response(answer, 400, mimetype="text/plain")
