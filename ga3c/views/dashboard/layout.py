"""The page before anything is chosen: what stands where, under which name."""

from dash import dcc, html

from ga3c.views.dashboard.charts import CHARTS

REFRESH_MS = 2000


def make() -> html.Div:
    charts = [chart(name) for name in CHARTS]
    side = [
        html.Div(
            [
                html.H1("GA3C"),
                html.Label("Only runs with", htmlFor="filter", className="quiet"),
                dcc.Input(id="filter", type="text", placeholder="words, as Pong running", className="filter"),
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


def chart(name: str | dict[str, str]) -> html.Div:
    """Its tool bar is hidden until the mouse is there."""
    return html.Div(dcc.Graph(id=name, config={"displaylogo": False, "displayModeBar": "hover"}), className="card")
