"""The page's texts on runs, besides their charts: the list's labels, numbers, the controller's decisions, a film."""

import os
from urllib.parse import quote

from dash import html

from ga3c.text import harmless, one_line
from ga3c.views.dashboard.charts import colour
from ga3c.views.dashboard.films import RECORDED
from ga3c.views.dashboard.shown_runs import Run
from ga3c.views.figures import clock, number
from ga3c.views.labels import said
from ga3c.views.run_view import RunView

LATEST_DECISIONS = 200


def label(name: str, run: Run) -> str:
    """Some lines. Plain text: the list could not change its length with components in it."""
    folder, _, own = map(one_line, name.partition("/"))
    if (view := run.view) is None:
        return f"{folder}\n{own}: {'is being read' if run.reading else 'cannot be read'}"
    state = "● running" if view.running else view.state
    steps = f"{number(view.throughput.last('steps', 0.0))} steps, {_score(view)}"
    lines = [one_line(view.game), f"{view.known.name}, {state}", view.now.why, steps, said(view.known.changed)]
    return "\n".join(filter(None, lines))


def first(runs: dict[str, Run]) -> list[str]:
    """The run that is shown first, of those in this order: one that runs or has learned; else one that can be read."""
    readable = {name: run.view for name, run in runs.items() if run.view is not None}
    shows = [name for name, view in readable.items() if view.running or view.throughput.last("steps", 0.0) > 0]
    return [*shows, *readable][:1]


def _score(view: RunView) -> str:
    """Returns the mean score. A score of fewer than 100 games is provisional, and says so."""
    games = view.throughput.last("episodes", 0.0)
    return f"mean score {number(view.throughput.last('mean_score'), 1)}" + _of_few(games)


def _of_few(games: float) -> str:
    return f" of {number(games)}" if 0 < games < 100 else ""


def numbers(views: dict[str, RunView]):
    """Returns the numbers of one run in large type, those of several runs as a table."""
    if not views:
        return html.Div("Choose a run: several stand side by side.", className="quiet")
    values = {run: _values(view) for run, view in views.items()}
    names = list(next(iter(values.values())))
    if len(values) == 1:
        (own,) = values.values()
        return [html.Div([html.B(own[name]), html.Span(name, className="quiet")]) for name in names]
    rows = [
        html.Tr(
            [
                html.Td([html.Span("■ ", style={"color": colour(index)}), run]),
                *(html.Td(own[name], className="number") for name in names),
            ]
        )
        for index, (run, own) in enumerate(values.items())
    ]
    head = html.Tr([html.Th(""), *(html.Th(name, className="number quiet") for name in names)])
    return html.Table([head, *rows])


def _values(view: RunView) -> dict[str, str]:
    rows = view.throughput
    counts = (number(rows.last(name)) for name in ("agents", "predictors", "trainers"))
    return {
        "score, mean of 100": number(rows.last("mean_score"), 2) + _of_few(rows.last("episodes", 0.0)),
        "games": number(rows.last("episodes", 0.0)),
        "steps": number(rows.last("steps", 0.0)),
        "frames": number(rows.last("frames", 0.0)),
        "PPS": number(rows.last("pps")),
        "TPS": number(rows.last("tps")),
        "time": clock(view.elapsed_seconds),
        "NA / NP / NT": " / ".join(counts),
    }


def timeline(view: RunView | None):
    if view is None or not len(view.decisions):
        return html.Div("Nothing yet.", className="quiet")
    columns = view.decisions.columns
    rows = list(zip(columns["seconds"], columns["reason"], columns["kept"], strict=False))[-LATEST_DECISIONS:]
    return html.Table(
        [
            html.Tr(
                [html.Td(clock(when), className="quiet"), html.Td(str(text), className="kept" if kept == 1.0 else "")]
            )
            for when, text, kept in reversed(rows)
        ]
    )


def pods(view: RunView):
    """A table of them."""
    names = "pod", "node", "state", "steps", "steps/s", "KB/s", "messages/s", "weights' age, s", "heard of, s ago"
    head = html.Tr([html.Th(name, className="number quiet") for name in names])
    rows = [
        html.Tr(
            [
                html.Td(cell, className="number")
                for cell in (
                    *(number(pod.number), pod.node, pod.state, number(pod.steps), number(pod.steps_per_second)),
                    *(number(pod.bytes_per_second / 1000), number(pod.messages_per_second, 1)),
                    *(number(pod.weights_age_seconds, 1), number(pod.heard_seconds, 1)),
                )
            ]
        )
        for pod in view.pods.pods[:LATEST_DECISIONS]
    ]
    return html.Table([head, *rows])


def film(file: str):
    if not file:
        return html.Div(harmless("None yet: ./play.sh --record results/GAME/play.mp4"), className="quiet")
    source = RECORDED + quote(os.fsencode(file))
    film = (
        html.Img(src=source, className="film", alt=one_line(file))
        if file.endswith(".gif")
        else html.Video(src=source, controls=True, muted=True, title=one_line(file))
    )
    return [film, html.Div(one_line(file), className="quiet")]
