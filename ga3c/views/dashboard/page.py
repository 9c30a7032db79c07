"""The page of ./run.sh dashboard: all runs, their curves side by side, controller, recorded games (Dash).

It reads the runs' files, changes nothing, and answers to nobody but this machine.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import dash
import flask
from dash import ALL, Input, Output, State

from ga3c.views.dashboard import contents, films, layout
from ga3c.views.dashboard.charts import CHARTS, Figures
from ga3c.views.dashboard.requests import guard, reading, texts
from ga3c.views.dashboard.shown_runs import Run, Runs

MOST_NUMBERS, MOST_CHARACTERS = 50, 100  # that the algorithm reports, and of a name of one


def make(results: Path) -> flask.Flask:
    """The application, for a server to run."""
    runs, figures = Runs(results), Figures()
    app = dash.Dash("ga3c", assets_folder=str(Path(__file__).parent / "assets"), title="GA3C", update_title=None)
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    guard(app.server)

    @app.server.before_request
    def recorded():
        # As the file system knows it: names of files are bytes, and a rule's <path> knows no line feed.
        path = os.fsdecode(flask.request.environ["PATH_INFO"].encode("latin-1"))
        if flask.request.method not in ("GET", "HEAD") or not path.startswith(films.RECORDED):
            return None
        film = films.open_film(results, runs.names(), path.removeprefix(films.RECORDED))
        return flask.abort(404) if film is None else films.answer(film)

    app.layout = layout.make()

    @app.callback(
        Output("runs", "options"),
        Input("tick", "n_intervals"), Input("filter", "value"), Input("runs", "value"),
    )  # fmt: skip
    def list_runs(_, wanted, chosen):
        [wanted], chosen = texts([wanted or ""]), texts(chosen)
        words = wanted.lower().split()
        labels = {name: contents.label(name, run) for name, run in runs.look(runs.names()).items()}
        return [
            {"label": label, "value": name}
            for name, label in labels.items()
            if name in chosen or all(word in label.lower() for word in words)
        ]

    @app.callback(
        Output("runs", "value"), Output("address", "search"),
        Input("address", "search"), Input("runs", "value"),
    )  # fmt: skip
    def keep_in_address(search, chosen):
        """Keeps the chosen runs in the page's address, to be kept and sent. An address without runs chooses the newest
        run that has something to show."""
        names_are_bytes = {"errors": "surrogateescape"}
        [search], chosen = texts([search or ""]), texts(chosen)
        with reading():
            by_choice = dash.ctx.triggered_id == "runs"
        if by_choice:
            return dash.no_update, "?" + urlencode({"run": chosen or ""}, doseq=True, safe="/", **names_are_bytes)
        asked = parse_qs(search.lstrip("?"), keep_blank_values=True, **names_are_bytes).get("run")
        return contents.first(runs.look(runs.names())) if asked is None else list(filter(None, asked)), dash.no_update

    @app.callback(
        Output("learning", "children"), Output("reported", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("reported", "data"),
    )  # fmt: skip
    def list_numbers(_, chosen, before):
        names = _reported(runs.labelled(texts(chosen)))
        if names == before:  # charts that somebody looks at are left alone
            raise dash.exceptions.PreventUpdate
        return [layout.chart({"number": name}) for name in names], names

    @app.callback(
        Output({"number": ALL}, "figure"), Output("numbers-drawn", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("numbers-drawn", "data"),
    )  # fmt: skip
    def draw_numbers(_, chosen, before):
        with reading():
            charts = texts([one["id"]["number"] for one in dash.ctx.outputs_list[0]])
        views = runs.labelled(texts(chosen))
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
        views = runs.labelled(texts(chosen))
        stamp = _stamp(views)
        if stamp == before:
            raise dash.exceptions.PreventUpdate
        first = next(iter(views), "")
        view = views[first].view if views else None
        own = (
            (f"Pods of {first}", contents.pods(view))
            if view and view.pods.pods
            else (f"What the controller did in {first}" * bool(first), contents.timeline(view))
        )
        return *(figures.get(name, views) for name in CHARTS), *own, stamp

    @app.callback(
        Output("numbers", "children"),
        Input("tick", "n_intervals"), Input("runs", "value"),
    )  # fmt: skip
    def show_numbers(_, chosen):
        return contents.numbers({label: run.view for label, run in runs.labelled(texts(chosen)).items()})

    @app.callback(
        Output("film", "children"), Output("shown", "data"),
        Input("tick", "n_intervals"), Input("runs", "value"), State("shown", "data"),
    )  # fmt: skip
    def show_film(_, chosen, before):
        recorded = runs.films(texts(chosen))
        file, when = recorded[0] if recorded else ("", 0.0)
        stamp = f"{when:.0f} {file}"
        if stamp == before:  # a film that somebody watches is left alone
            raise dash.exceptions.PreventUpdate
        return contents.film(file), stamp

    with app.server.test_client() as client:  # of two first requests at once the second would find Dash half set up
        client.get("/", base_url="http://localhost")
    return app.server


def _reported(views: dict[str, Run]) -> list[str]:
    """Names of the numbers that the algorithms of these runs report, as far as there is room for them."""
    names = dict.fromkeys(name for run in views.values() for name in run.view.numbers if len(name) <= MOST_CHARACTERS)
    return list(names)[:MOST_NUMBERS]


def _stamp(views: dict[str, Run], charts: Iterable[str] = ()) -> str:
    """Returns a text that changes when what is drawn changes."""
    return " ".join([*(f"{label} {run.version}" for label, run in views.items()), *charts])
