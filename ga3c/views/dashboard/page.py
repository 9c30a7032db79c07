"""The page of ./run.sh dashboard: all runs, their curves side by side, controller, recorded games (Dash).

It reads the runs' files, changes nothing, and answers to nobody but this machine.
"""

from pathlib import Path

import dash
import flask
from dash import Input, Output, State, dcc, html

from ga3c.views.dashboard.charts import CHARTS, colour, figure_of
from ga3c.views.dashboard.runs import FILMS, Runs, written
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

    newest = runs.names()[:1]
    app.layout = _layout(newest)

    @app.callback(Output("runs", "options"), Input("tick", "n_intervals"))
    def list_runs(_):
        return [{"label": _label(name, runs.view(name)), "value": name} for name in runs.names()]

    outputs = [Output(name, "figure") for name in CHARTS]

    @app.callback(
        *outputs, Output("numbers", "children"), Output("whose", "children"), Output("timeline", "children"),
        Input("tick", "n_intervals"), Input("runs", "value"),
    )  # fmt: skip
    def draw(_, chosen):
        views = {name: view for name in chosen or [] if (view := runs.view(name)) is not None}
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


def _layout(newest: list[str]) -> html.Div:
    charts = [html.Div(dcc.Graph(id=name, config={"displaylogo": False}), className="card") for name in CHARTS]
    side = [
        html.Div(
            [html.H1("GA3C"), html.Div(dcc.Checklist(id="runs", value=newest), className="runs")], className="card"
        ),
        html.Div([html.H2("Newest recorded game"), html.Div(id="film")], className="card"),
    ]
    main = [
        html.Div(id="numbers", className="numbers"),
        html.Div(charts, className="charts"),
        html.Div([html.H2(id="whose"), html.Div(id="timeline")], className="card timeline"),
    ]
    return html.Div(
        [
            dcc.Interval(id="tick", interval=REFRESH_MS),
            dcc.Store(id="shown"),
            html.Div(side, className="side"),
            html.Main(main),
        ],
        id="page",
    )


def _label(name: str, view: RunView | None) -> str:
    """Three lines. Plain text: the list could not change its length with components in it."""
    game, _, run = name.partition("/")
    if view is None:
        return f"{game}\n{run}: cannot be read"
    state = "● running" if view.running else "ended"
    steps, score = number(view.throughput.last("steps", 0.0)), number(view.throughput.last("mean_score"), 1)
    return f"{game}\n{run}, {state}\n{steps} steps, mean score {score}"


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
        "score, mean of 100": number(rows.last("mean_score"), 2),
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
