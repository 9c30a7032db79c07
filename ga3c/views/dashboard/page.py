"""The page of ./run.sh dashboard: all runs, their curves side by side, controller, recorded games (Dash).

It reads the runs' files, changes nothing, and answers to nobody but this machine.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode

import dash
import flask
from dash import ALL, Input, Output, State, dcc, html

from ga3c.text import one_line
from ga3c.views.dashboard import films
from ga3c.views.dashboard.charts import CHARTS, Figures, colour
from ga3c.views.dashboard.requests import guard
from ga3c.views.dashboard.runs import Run, Runs
from ga3c.views.labels import said
from ga3c.views.run_view import RunView
from ga3c.views.training_screen import clock, number

REFRESH_MS = 2000
LATEST_DECISIONS = 200
MOST_NUMBERS, MOST_CHARACTERS = 50, 100  # that the algorithm reports, and of a name of one
RECORDED = "/recorded/"


def make(results: Path) -> flask.Flask:
    """The application, for a server to run."""
    runs, figures = Runs(results), Figures()
    app = dash.Dash("ga3c", assets_folder=str(Path(__file__).parent / "assets"), title="GA3C", update_title=None)
    guard(app.server, app.callback_map)

    @app.server.before_request
    def recorded():
        # As the file system knows it: names of files are bytes, and a rule's <path> knows no line feed.
        path = os.fsdecode(flask.request.environ["PATH_INFO"].encode("latin-1"))
        if flask.request.method not in ("GET", "HEAD") or not path.startswith(RECORDED):
            return None
        film = films.open_film(results, runs.names(), path.removeprefix(RECORDED))
        return flask.abort(404) if film is None else films.answer(film)

    app.layout = _layout()

    @app.callback(
        Output("runs", "options"),
        Input("tick", "n_intervals"), Input("filter", "value"), Input("runs", "value"),
    )  # fmt: skip
    def list_runs(_, wanted, chosen):
        words = (wanted or "").lower().split()
        labels = {name: _label(name, run) for name, run in runs.look(runs.names()).items()}
        return [
            {"label": label, "value": name}
            for name, label in labels.items()
            if name in (chosen or []) or all(word in label.lower() for word in words)
        ]

    @app.callback(
        Output("runs", "value"), Output("address", "search"),
        Input("address", "search"), Input("runs", "value"),
    )  # fmt: skip
    def keep_in_address(search, chosen):
        """What is chosen stands in the page's address, to be kept and sent; an address without it: the newest run."""
        names_are_bytes = {"errors": "surrogateescape"}
        if dash.ctx.triggered_id == "runs":
            return dash.no_update, "?" + urlencode({"run": chosen or ""}, doseq=True, safe="/", **names_are_bytes)
        asked = parse_qs((search or "").lstrip("?"), keep_blank_values=True, **names_are_bytes).get("run")
        newest = [name for name, run in runs.look(runs.names()[:10]).items() if run.view is not None][:1]
        return newest if asked is None else list(filter(None, asked)), dash.no_update

    @app.callback(
        Output("learning", "children"), Output("reported", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("reported", "data"),
    )  # fmt: skip
    def list_numbers(_, chosen, before):
        names = _reported(runs.labelled(chosen or []))
        if names == before:  # charts that somebody looks at are left alone
            raise dash.exceptions.PreventUpdate
        return [_chart({"number": name}) for name in names], names

    @app.callback(
        Output({"number": ALL}, "figure"), Output("numbers-drawn", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("numbers-drawn", "data"),
    )  # fmt: skip
    def draw_numbers(_, chosen, before):
        views, charts = runs.labelled(chosen or []), [one["id"]["number"] for one in dash.ctx.outputs_list[0]]
        stamp, there = _stamp(views, charts), _reported(views)
        if stamp == before:
            raise dash.exceptions.PreventUpdate
        return [figures.get(name, views) if name in there else dash.no_update for name in charts], stamp

    outputs = [Output(name, "figure") for name in CHARTS]

    @app.callback(
        *outputs, Output("whose", "children"), Output("timeline", "children"), Output("drawn", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("drawn", "data"),
    )  # fmt: skip
    def draw(_, chosen, before):
        views = runs.labelled(chosen or [])
        stamp = _stamp(views)
        if stamp == before:
            raise dash.exceptions.PreventUpdate
        first = next(iter(views), "")
        return (
            *(figures.get(name, views) for name in CHARTS),
            f"What the controller did in {first}" * bool(first),
            _timeline(views[first].view if views else None),
            stamp,
        )

    @app.callback(
        Output("numbers", "children"),
        Input("tick", "n_intervals"), Input("runs", "value"),
    )  # fmt: skip
    def show_numbers(_, chosen):
        return _numbers({label: run.view for label, run in runs.labelled(chosen or []).items()})

    @app.callback(
        Output("film", "children"), Output("shown", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("shown", "data"),
    )  # fmt: skip
    def show_film(_, chosen, before):
        recorded = runs.films(chosen or [])
        file, when = recorded[0] if recorded else ("", 0.0)
        stamp = f"{when:.0f} {file}"
        if stamp == before:  # a film that somebody watches is left alone
            raise dash.exceptions.PreventUpdate
        return _film(file), stamp

    with app.server.test_client() as client:  # of two first requests at once the second would find Dash half set up
        client.get("/", base_url="http://localhost")
    return app.server


def _reported(views: dict[str, Run]) -> list[str]:
    """Names of the numbers that the algorithms of these runs report, as far as there is room for them."""
    names = dict.fromkeys(name for run in views.values() for name in run.view.numbers if len(name) <= MOST_CHARACTERS)
    return list(names)[:MOST_NUMBERS]


def _stamp(views: dict[str, Run], charts: Iterable[str] = ()) -> str:
    """Of what is drawn: another one where that is another."""
    return " ".join([*(f"{label} {run.version}" for label, run in views.items()), *charts])


def _layout() -> html.Div:
    charts = [_chart(name) for name in CHARTS]
    side = [
        html.Div(
            [
                html.H1("GA3C"),
                dcc.Input(id="filter", type="text", placeholder="Only runs with ...", className="filter"),
                html.Div(dcc.Checklist(id="runs", value=[]), className="runs"),
            ],
            className="card",
        ),
        html.Div([html.H2("Newest recorded game"), html.Div(id="film")], className="card"),
    ]
    main = [
        html.Div(id="numbers", className="numbers"),
        html.Div([*charts, html.Div(id="learning")], className="charts"),
        html.Div([html.H2(id="whose"), html.Div(id="timeline")], className="card timeline"),
    ]
    return html.Div(
        [
            dcc.Interval(id="tick", interval=REFRESH_MS),
            dcc.Location(id="address", refresh=False),
            dcc.Store(id="shown"),
            dcc.Store(id="reported"),
            dcc.Store(id="drawn"),
            dcc.Store(id="numbers-drawn"),
            html.Div(side, className="side"),
            html.Main(main),
        ],
        id="page",
    )


def _chart(name: str | dict[str, str]) -> html.Div:
    """Its tool bar is hidden until the mouse is there."""
    return html.Div(dcc.Graph(id=name, config={"displaylogo": False, "displayModeBar": "hover"}), className="card")


def _label(name: str, run: Run) -> str:
    """Some lines. Plain text: the list could not change its length with components in it."""
    game, _, own = map(one_line, name.partition("/"))
    if (view := run.view) is None:
        return f"{game}\n{own}: {'is being read' if run.reading else 'cannot be read'}"
    state = "● running" if view.running else view.state
    lines = [game, f"{view.known.name}, {state}", f"{number(view.throughput.last('steps', 0.0))} steps, {_score(view)}"]
    return "\n".join([*lines, said(view.known.changed)]).strip()


def _score(view: RunView) -> str:
    """Of fewer than 100 games it is provisional, and says so."""
    games = view.throughput.last("episodes", 0.0)
    return f"mean score {number(view.throughput.last('mean_score'), 1)}" + _of_few(games)


def _of_few(games: float) -> str:
    return f" of {number(games)}" if 0 < games < 100 else ""


def _numbers(views: dict[str, RunView]):
    """Of one run in large, of several in a table."""
    if not views:
        return html.Div("Choose a run: several stand side by side.", className="quiet")
    values = {run: _values(view) for run, view in views.items()}
    names = list(next(iter(values.values())))
    if len(values) == 1:
        (own,) = values.values()
        return [html.Div([html.B(own[name]), html.Span(name, className="quiet")]) for name in names]
    rows = [
        html.Tr(
            [html.Td(run, style={"color": colour(index)}), *(html.Td(own[name], className="number") for name in names)]
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


def _timeline(view: RunView | None):
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


def _film(file: str):
    if not file:
        return html.Div("None yet: ./play.sh --record results/GAME/play.mp4", className="quiet")
    source = RECORDED + quote(os.fsencode(file))
    film = (
        html.Img(src=source, className="film")
        if file.endswith(".gif")
        else html.Video(src=source, controls=True, muted=True)
    )
    return [film, html.Div(one_line(file), className="quiet")]
