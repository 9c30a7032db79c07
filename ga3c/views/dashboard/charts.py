"""The dashboard's charts: curves of runs beside each other (Plotly)."""

import html
import threading

import numpy as np
from plotly import graph_objects as go

from ga3c.text import one_line
from ga3c.views import curves
from ga3c.views.curves import SCORE_OVER_STEPS, SCORE_OVER_TIME, Quantity, over_time
from ga3c.views.dashboard.shown_runs import Run
from ga3c.views.drawing import COLOURS, FAINT, INK, MARKS, Look, look
from ga3c.views.run_view import RunView

MOST_FIGURES = 300  # kept
GRID = "rgba(125, 132, 140, 0.25)"
# title, x, y, what is drawn
CHARTS = {
    "score-steps": ("Score", "million steps", "mean of 100 games", (SCORE_OVER_STEPS,)),
    "score-time": ("Score over time", "minutes", "mean of 100 games", (SCORE_OVER_TIME,)),
    "pps": ("Predictions per second (PPS)", "minutes", "steps/s", (over_time("pps"),)),
    "tps": ("Trainings per second (TPS)", "minutes", "rollouts/s", (over_time("tps"),)),
    "counts": (
        *("Agents, predictors, trainers", "minutes", "number"),
        tuple(over_time(name, smooth=False) for name in ("agents", "predictors", "trainers")),
    ),
    "queues": (
        *("Waiting in the queues", "minutes", "messages"),
        (over_time("prediction_queue"), over_time("training_queue")),
    ),
    "lag": ("Policy lag", "minutes", "updates", (over_time("mean_policy_lag_updates"),)),
}


def colour(index: int) -> str:
    """Returns the colour of the run that was chosen as number `index`."""
    return COLOURS[index % len(COLOURS)]


class Figures:
    """Those drawn last, by what they were drawn from: for many pages with the same runs each is drawn once."""

    def __init__(self):
        self._known: dict[tuple, dict] = {}  # the one that was asked for last stands at the end
        self._lock = threading.Lock()

    def get(self, name: str, runs: dict[str, Run]) -> dict:
        """A figure as the browser gets it. `runs`: by their labels."""
        drawn_from = (name, *((label, run.version) for label, run in runs.items()))
        with self._lock:  # threads would not draw at the same time without it
            figure = self._known.pop(drawn_from, None)
            if figure is None:
                figure = figure_of(name, {label: run.view for label, run in runs.items()}).to_plotly_json()
            self._known[drawn_from] = figure
            if len(self._known) > MOST_FIGURES:
                del self._known[next(iter(self._known))]
        return figure


def figure_of(name: str, views: dict[str, RunView]) -> go.Figure:
    """One of CHARTS, or of a number that the algorithms of these runs report. `views`: by the label of each run."""
    views = {html.escape(label): view for label, view in views.items()}  # Plotly takes text for HTML
    said = html.escape(one_line(name.replace("_", " ")))
    title, x_title, y_title, quantities = CHARTS.get(name) or (said.capitalize(), "minutes", said, (over_time(name),))
    figure, alone, several = go.Figure(), len(views) == 1, (len(views) > 1, len(quantities) > 1)
    for index, (run, view) in enumerate(views.items()):
        for number, quantity in enumerate(quantities):
            what = quantity.y.replace("_", " ")
            name_of = what if alone and several[1] else f"{run}, {what}" if all(several) else run
            _add_lines(
                figure, view, quantity, look(index, number, *several), name_of, any(several) and not all(several)
            )
    if all(several):
        _explain(figure, list(views), quantities)
    if name == "tps" and alone:
        _mark_decisions(figure, next(iter(views.values())))
    axis = {"gridcolor": GRID, "zeroline": False, "linecolor": INK}
    figure.update_layout(
        title={"text": title, "font": {"size": 14}}, xaxis=axis | {"title": x_title}, yaxis=axis | {"title": y_title},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"color": INK}, height=320,
        margin={"l": 60, "r": 10, "t": 40, "b": 45}, uirevision="stay",
        hovermode="closest" if alone else "x unified",
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": INK, "activecolor": COLOURS[0]},
        legend={"orientation": "h", "yref": "container", "y": 0.02, "yanchor": "bottom", "font": {"size": 11}},
    )  # fmt: skip
    if name in ("pps", "tps", "counts"):
        figure.update_yaxes(rangemode="tozero")
    return figure


def _add_lines(figure: go.Figure, view: RunView, quantity: Quantity, how: Look, name: str, legend: bool) -> None:
    """A mean over some rows and, faint behind it, the rows; a score has too many games for that."""
    columns = getattr(view, quantity.log).columns
    if quantity.log == "throughput" and quantity.smooth_rows != 1:
        x, y = curves.thinned(*curves.points(columns, quantity.raw()))
        line = {"color": how.colour, "width": 1}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, opacity=FAINT, showlegend=False, hoverinfo="skip")
    x, y = curves.thinned(*curves.points(columns, quantity))
    shape = "hv" if quantity.is_count else "linear"
    figure.add_scatter(
        x=x, y=y, mode="lines+markers" if how.mark else "lines", name=name, showlegend=legend, opacity=how.opacity,
        line={"color": how.colour, "dash": how.dash, "width": 1.8, "shape": shape},
        marker={"symbol": how.mark, "size": 7, "maxdisplayed": 8} if how.mark else None,
    )  # fmt: skip


def _explain(figure: go.Figure, runs: list[str], quantities: tuple[Quantity, ...]) -> None:
    """A legend where lines differ in two ways: in colour and dashes by run, in marks by quantity."""
    nothing = {"x": [None], "y": [None], "showlegend": True, "hoverinfo": "skip"}
    for index, run in enumerate(runs):
        how = look(index, 0, True, True)
        figure.add_scatter(**nothing, name=run, mode="lines", line={"color": how.colour, "dash": how.dash})
    for quantity, mark in zip(quantities, MARKS, strict=False):
        marker = {"symbol": mark, "color": INK, "size": 7}
        figure.add_scatter(**nothing, name=quantity.y.replace("_", " "), mode="markers", marker=marker)


def _mark_decisions(figure: go.Figure, view: RunView) -> None:
    """A mark at each trial of the controller, with its sentence."""
    columns = view.decisions.columns
    kept = [value == 1.0 for value in columns["kept"]]
    figure.add_scatter(
        x=np.array(columns["seconds"], float) / 60, y=np.array(columns["tps"]), mode="markers", name="trials",
        text=[html.escape(one_line(str(reason))) for reason in columns["reason"]], hoverinfo="text", showlegend=False,
        marker={
            "color": [COLOURS[2] if one else INK for one in kept], "size": 8,
            "symbol": ["triangle-up" if one else "circle-open" for one in kept],
        },
    )  # fmt: skip
