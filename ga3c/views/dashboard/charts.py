"""The dashboard's charts: curves of runs beside each other (Plotly)."""

import numpy as np
from plotly import graph_objects as go

from ga3c.views import curves
from ga3c.views.curves import SCORE_OVER_STEPS, SCORE_OVER_TIME, over_time
from ga3c.views.drawing import COLOURS, INK
from ga3c.views.run_view import RunView

GRID = "rgba(125, 132, 140, 0.25)"
# title, x, y, what is drawn
CHARTS = {
    "score-steps": ("Score", "million steps", "mean of 100 games", (SCORE_OVER_STEPS,)),
    "score-time": ("Score over time", "minutes", "mean of 100 games", (SCORE_OVER_TIME,)),
    "pps": ("Predictions per second (PPS)", "minutes", "steps/s", (over_time("pps"),)),
    "tps": ("Trainings per second (TPS)", "minutes", "rollouts/s", (over_time("tps"),)),
    "counts": (
        *("Agents, predictors, trainers", "minutes", "number"),
        (over_time("agents"), over_time("predictors"), over_time("trainers")),
    ),
    "queues": (
        *("Waiting in the queues", "minutes", "messages"),
        (over_time("prediction_queue"), over_time("training_queue")),
    ),
    "lag": ("Policy lag", "minutes", "updates", (over_time("mean_policy_lag_updates"),)),
    "entropy": ("Entropy of the policy", "minutes", "nats", (over_time("entropy"),)),
}


def colour(index: int) -> str:
    """Of the run that was chosen as number `index`."""
    return COLOURS[index % len(COLOURS)]


def figure_of(name: str, views: dict[str, RunView]) -> go.Figure:
    """One of CHARTS, of these runs."""
    title, x_title, y_title, quantities = CHARTS[name]
    figure, alone = go.Figure(), len(views) == 1
    for index, (run, view) in enumerate(views.items()):
        for quantity, style in zip(quantities, ("solid", "dash", "dot"), strict=False):
            what = quantity.y.replace("_", " ")
            x, y = _points(view, quantity)
            figure.add_scatter(
                x=x, y=y, mode="lines", line={"color": colour(index), "dash": style, "width": 1.8},
                name=run if len(quantities) == 1 else what if alone else f"{what}, {run}",
                showlegend=len(quantities) > 1 if alone else quantity is quantities[0],
            )  # fmt: skip
    if name == "tps" and alone:
        _mark_decisions(figure, next(iter(views.values())))
    axis = {"gridcolor": GRID, "zeroline": False, "linecolor": INK}
    figure.update_layout(
        title={"text": title, "font": {"size": 14}}, xaxis=axis | {"title": x_title}, yaxis=axis | {"title": y_title},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"color": INK}, height=300,
        margin={"l": 60, "r": 10, "t": 40, "b": 45}, uirevision="stay",
        hovermode="closest" if alone else "x unified",
        legend={"orientation": "h", "y": -0.32, "yanchor": "top", "font": {"size": 11}},
    )  # fmt: skip
    if name in ("pps", "tps", "counts"):
        figure.update_yaxes(rangemode="tozero")
    return figure


def _points(view: RunView, quantity: curves.Quantity) -> tuple[np.ndarray, np.ndarray]:
    columns = getattr(view, quantity.log).columns
    x = np.array(columns[quantity.x], float) / quantity.x_unit
    y = np.array(columns[quantity.y], float)[: len(x)]  # rows may come in meanwhile
    return curves.thinned(x, curves.moving_mean(y, quantity.smooth_rows) if quantity.smooth_rows > 1 else y)


def _mark_decisions(figure: go.Figure, view: RunView) -> None:
    """A mark at each trial of the controller, with its sentence."""
    columns = view.decisions.columns
    kept = [value == 1.0 for value in columns["kept"]]
    figure.add_scatter(
        x=np.array(columns["seconds"], float) / 60, y=columns["tps"], mode="markers", name="trials",
        text=columns["reason"], hoverinfo="text", showlegend=False,
        marker={
            "color": [COLOURS[2] if one else INK for one in kept], "size": 8,
            "symbol": ["triangle-up" if one else "circle-open" for one in kept],
        },
    )  # fmt: skip
