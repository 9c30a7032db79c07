"""What may be asked for: by this machine's own names, and of callbacks in the form in which the page asks.

Everything else is answered here, with 400 and its like, before Dash sees it.
"""

import re
from collections.abc import Mapping

import flask
from dash.exceptions import DependencyException

OWN_NAMES = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.ASCII | re.IGNORECASE)
CALLBACKS = "/_dash-update-component"


def guard(server: flask.Flask, callbacks: Mapping[str, dict]) -> None:
    """`callbacks`: what Dash knows of each, by its output. Call it before anything else asks to be called first."""

    @server.before_request
    def check():
        # So that no page from elsewhere can read along by a name of its own.
        if not OWN_NAMES.fullmatch(flask.request.environ.get("HTTP_HOST", "")):
            flask.abort(403)
        if flask.request.path == CALLBACKS and flask.request.method == "POST":
            try:
                asked = flask.request.get_json()
            except RecursionError:
                flask.abort(400)
            if not is_call(asked, callbacks):
                flask.abort(400)

    @server.errorhandler(DependencyException)
    def no_such_script(_):
        return "There is no such script.", 404


def _is_text(value: object) -> bool:
    """That a file could have as its name: of halves of surrogate pairs only those that stand for bytes."""
    try:
        value.encode("utf-8", "surrogateescape")
    except (AttributeError, UnicodeEncodeError):
        return False
    return True


def _is_maybe_text(value: object) -> bool:
    return value is None or _is_text(value)


def _are_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_text, value)))


# What each property that callbacks are given may be.
VALUES = {
    "tick.n_intervals": lambda value: value is None or isinstance(value, int | float),
    "filter.value": _is_maybe_text,
    "runs.value": _are_texts,
    "address.search": _is_maybe_text,
    "reported.data": _are_texts,
    "shown.data": _is_maybe_text,
    "drawn.data": _is_maybe_text,
    "numbers-drawn.data": _is_maybe_text,
}


def is_call(asked: object, callbacks: Mapping[str, dict]) -> bool:
    """Whether this is what the page sends to a callback."""
    if not isinstance(asked, dict) or not isinstance(output := asked.get("output"), str) or output not in callbacks:
        return False
    wanted, outputs, changed = callbacks[output], asked.get("outputs"), asked.get("changedPropIds")
    if output.startswith(".."):
        names = output[2:-2].split("...")
        are_outputs = isinstance(outputs, list) and len(outputs) == len(names) and all(map(_is_output, outputs, names))
    else:
        are_outputs = _is_output(outputs, output)
    inputs = {f"{one['id']}.{one['property']}" for one in wanted["inputs"]}
    return (
        are_outputs
        and _are_given(asked.get("inputs", []), wanted["inputs"])
        and _are_given(asked.get("state", []), wanted["state"])
        and isinstance(changed, list)
        and all(isinstance(one, str) and one in inputs for one in changed)
    )


def _are_given(given: object, wanted: list[dict]) -> bool:
    """Whether these are the properties that are wanted, in their order, each with a value of its kind."""
    return isinstance(given, list) and len(given) == len(wanted) and all(map(_is_given, given, wanted))


def _is_given(given: object, wanted: dict) -> bool:
    name = f"{wanted['id']}.{wanted['property']}"
    return isinstance(given, dict) and _is_output(given, name) and VALUES[name](given.get("value"))


def _is_output(given: object, name: str) -> bool:
    component, _, wanted = name.rpartition(".")
    if component.startswith("{"):  # one for each number that the algorithm reports
        return isinstance(given, list) and all(
            isinstance(one, dict)
            and one.get("property") == wanted
            and isinstance(one.get("id"), dict)
            and list(one["id"]) == ["number"]
            and _is_text(one["id"]["number"])
            for one in given
        )
    return isinstance(given, dict) and given.get("id") == component and given.get("property") == wanted
