"""The page of ./run.sh dashboard: all runs, their curves side by side, controller, recorded games (Dash).

It reads the runs' files, changes nothing, and answers to nobody but this machine.
"""

from pathlib import Path
from urllib.parse import parse_qs, urlencode

import dash
import flask
from dash import ALL, Input, Output, State, dcc, html

from ga3c.views.dashboard.charts import CHARTS, colour, figure_of
from ga3c.views.dashboard.runs import FILMS, Runs, written
from ga3c.views.labels import said
from ga3c.views.run_view import RunView
from ga3c.views.training_screen import clock, number

REFRESH_MS = 2000
LATEST_DECISIONS = 200


def make(results: Path) -> flask.Flask:
    """The application, for a server to run."""
    runs = Runs(results)
    app = dash.Dash("ga3c", assets_folder=str(Path(__file__).parent / "assets"), title="GA3C", update_title=None)
    _guard(app.server)

    @app.server.route("/recorded/<path:file>")
    def recorded(file: str):
        if Path(file).suffix not in FILMS:
            flask.abort(404)
        return flask.send_from_directory(runs.results.resolve(), file, conditional=True)

    app.layout = _layout()

    @app.callback(
        Output("runs", "options"),
        Input("tick", "n_intervals"), Input("filter", "value"), Input("runs", "value"),
    )  # fmt: skip
    def list_runs(_, wanted, chosen):
        words = (wanted or "").lower().split()
        labels = {name: _label(name, runs.view(name)) for name in runs.names()}
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
        if dash.ctx.triggered_id == "runs":
            return dash.no_update, "?" + urlencode({"run": chosen or ""}, doseq=True, safe="/")
        asked = parse_qs((search or "").lstrip("?"), keep_blank_values=True).get("run")
        newest = [name for name in runs.names()[:10] if runs.view(name) is not None][:1]
        return newest if asked is None else list(filter(None, asked)), dash.no_update

    @app.callback(
        Output("learning", "children"), Output("reported", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("reported", "data"),
    )  # fmt: skip
    def list_numbers(_, chosen, before):
        names = list(dict.fromkeys(name for view in runs.views(chosen).values() for name in view.numbers))
        if names == before:  # charts that somebody looks at are left alone
            raise dash.exceptions.PreventUpdate
        return [_chart({"number": name}) for name in names], names

    @app.callback(
        Output({"number": ALL}, "figure"),
        Input("tick", "n_intervals"), Input("runs", "value"), State({"number": ALL}, "id"),
    )  # fmt: skip
    def draw_numbers(_, chosen, charts):
        views = runs.labelled(chosen)
        return [figure_of(chart["number"], views) for chart in charts]

    outputs = [Output(name, "figure") for name in CHARTS]

    @app.callback(
        *outputs, Output("numbers", "children"), Output("whose", "children"), Output("timeline", "children"),
        Input("tick", "n_intervals"), Input("runs", "value"),
    )  # fmt: skip
    def draw(_, chosen):
        views = runs.labelled(chosen)
        figures = [figure_of(name, views) for name in CHARTS]
        first = next(iter(views), "")
        return (
            *figures,
            _numbers(views),
            f"What the controller did in {first}" * bool(first),
            _timeline(views.get(first)),
        )

    @app.callback(
        Output("film", "children"), Output("shown", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("shown", "data"),
    )  # fmt: skip
    def show_film(_, chosen, shown):
        file = next((film for name in chosen or [] for film in runs.films(name)), "")
        stamp = f"{file} {written(runs.results / file):.0f}" if file else "none"
        if stamp == shown:  # a film that somebody watches is left alone
            raise dash.exceptions.PreventUpdate
        return _film(file), stamp

    return app.server


def _guard(server: flask.Flask) -> None:
    """Answers only to this machine's own names, so that no page from elsewhere can read along by a name of its own."""

    @server.before_request
    def only_here():
        host = flask.request.host
        if (host.rpartition(":")[0] or host) not in ("localhost", "127.0.0.1", "[::1]"):
            flask.abort(403)


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
            html.Div(side, className="side"),
            html.Main(main),
        ],
        id="page",
    )


def _chart(name: str | dict[str, str]) -> html.Div:
    """Its tool bar is hidden until the mouse is there."""
    return html.Div(dcc.Graph(id=name, config={"displaylogo": False, "displayModeBar": "hover"}), className="card")


def _label(name: str, view: RunView | None) -> str:
    """Some lines. Plain text: the list could not change its length with components in it."""
    game, _, run = name.partition("/")
    if view is None:
        return f"{game}\n{run}: cannot be read"
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
    source = f"/recorded/{file}"
    film = (
        html.Img(src=source, className="film")
        if file.endswith(".gif")
        else html.Video(src=source, controls=True, muted=True)
    )
    return [film, html.Div(file, className="quiet")]
