"""Draws a run as one calm screen of text (rich). A function of a `RunView`; it knows no terminal."""

import math

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ga3c.records.run_state import FAILED, LOST
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.text import one_line, place
from ga3c.views import cluster_panels
from ga3c.views.figures import clock, number, time_of_day
from ga3c.views.run_view import RunView
from ga3c.views.text_charts import chart, curve, finite

NUMBERS = 3  # of the algorithm's, the first
RECENT_ROWS = 60  # of throughput.csv in a history of speed
WIDE_COLUMNS = 64  # from here on two panels stand side by side
LEAST_NEWS = 5  # lines, where pods take room
NEWS_LINES, CURVE_LINES = 9, 10  # where there is room for both, the curve gets all beyond the news' lines
DOTS = 6  # behind the curve, for each column at the most
_MEASURE = Console(width=80)  # only to break lines
SPEED, SCORE, QUIET, WARM = "cyan", "green", "bright_black", "yellow"


def screen(view: RunView, width: int, height: int, footer: str) -> RenderableType:
    """The whole screen, no larger than this. What does not fit is left out, the least important first."""
    wide = width >= WIDE_COLUMNS
    inner = (width // 2 if wide else width) - 4
    scheduling = _cluster(view) if view.pods.pods else _scheduling(view, inner)
    panels = [_score(view, inner), _speed(view, inner), scheduling, _learning(view, inner)]
    head, left = _head(view, width), height - 3
    rows = [panels[0:2], panels[2:4]] if wide else [[panel] for panel in panels]
    news = NEWS_LINES
    if view.exported:  # it has no more than scores
        rows, news = [panels[:1]], 0
    parts: list[RenderableType] = [head]
    for row in rows:
        if left >= 7:
            parts.append(_side_by_side(row))
            left -= 7
    if view.pods.pods and left >= LEAST_NEWS + 4:
        lines = min(len(view.pods.pods) + 1, left - LEAST_NEWS - 2)
        parts.append(_panel("Pods", cluster_panels.each(view, lines), lines + 2))
        left -= lines + 2
    if left >= news + CURVE_LINES and (panel := _curve(view, width - 4, left - news - 2)):
        parts.append(panel)
        left = news
    if left >= 3 and news:
        parts.append(_news(view, width - 4, left - 2))
    return Group(*parts, Text(footer, style=QUIET, no_wrap=True, overflow="ellipsis"))


def _side_by_side(panels: list[Panel]) -> Table:
    grid = Table.grid(expand=True)
    for _ in panels:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    return grid


def _panel(title: str, lines: list[Text], height: int = 7) -> Panel:
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Panel(Group(*lines), title=f"[bold]{title}[/]", title_align="left", border_style=QUIET, height=height)


def _state(view: RunView) -> tuple[str, str]:
    """Returns what the run is at, and the style of that text."""
    under_way, wanted = view.games
    if view.starting:
        return "starting", WARM
    if view.running and under_way < wanted:
        return f"starting {number(under_way)} of {number(wanted)} games", WARM
    return view.state, SCORE if view.running else WARM if view.state in (FAILED, LOST) else QUIET


def _head(view: RunView, width: int) -> Group:
    rows = view.throughput
    state, style = _state(view)
    first = Text.assemble((view.game, "bold"), "  ", (place(view.run_dir), QUIET))
    first.truncate(max(width - len(state) - 1, 1), overflow="ellipsis", pad=True)
    first = Text.assemble(first, " ", (state, style), no_wrap=True, overflow="ellipsis")
    remaining = view.remaining_seconds
    done = f"{clock(view.elapsed_seconds)}" + (f", {clock(remaining)} left" if remaining is not None else "")
    steps, frames, games = (number(rows.last(name, 0.0)) for name in ("steps", "frames", "episodes"))
    second = Text(f"{done}   {steps} steps   {frames} frames   {games} games", no_wrap=True, overflow="ellipsis")
    return Group(first, second)


def _line(label: str, value: str, bars: str = "", style: str = SPEED) -> Text:
    return Text.assemble((f"{label:<17}", QUIET), (f"{value:>8}", "bold"), "  ", (bars, style))


def _history(view: RunView, name: str, width: int, rows: int = RECENT_ROWS) -> str:
    return chart(view.throughput.columns.get(name, [])[-rows:], max(width - 27, 1), 1)[0]


def _speed(view: RunView, width: int) -> Panel:
    rows = view.throughput
    names = {"pps": "PPS", "tps": "TPS", "updates_per_second": "updates/s", "frames_per_second": "frames/s"}
    lines = [_line(label, number(rows.last(name)), _history(view, name, width)) for name, label in names.items()]
    age = view.checkpoint_age_seconds
    return _panel("Speed", [*lines, _line("checkpoint", "none yet" if age is None else f"{age:,.0f} s ago")])


def _score(view: RunView, width: int) -> Panel:
    scores = view.episodes.columns["score"]
    figures = _evaluated(view) if view.exported else _scores(scores)
    bars = chart(view.throughput.columns["mean_score"], max(width - 23, 1), len(figures))
    games, wanted = view.games
    if not scores and wanted > 0:  # with many games the first one takes minutes
        bars[:2] = "none over yet", f"{number(games if math.isfinite(games) else wanted)} under way"
    return _panel(
        "Score",
        [
            Text.assemble((f"{label:<12}", QUIET), (f"{value:>8}", "bold"), "   ", (line, SCORE))
            for (label, value), line in zip(figures.items(), bars, strict=True)
        ],
    )


def _scores(scores: list[float]) -> dict[str, str]:
    """The label of the mean says of how few games it is, as long as there are not 100."""
    recent, before = scores[-100:], scores[-200:-100]
    mean = sum(recent) / len(recent) if recent else math.nan
    trend = mean - sum(before) / len(before) if before else math.nan
    return {
        "last game": number(scores[-1], 1) if scores else "-",
        f"mean of {len(recent) or 100}": number(mean, 2),
        "best": number(max(scores, default=math.nan), 1),
        "trend": f"{trend:+.2f}" if math.isfinite(trend) else "-",
        "games": number(len(scores)),
    }


def _evaluated(view: RunView) -> dict[str, str]:
    """Returns the games of an exported agent's evaluation."""
    scores = view.evaluation
    return {
        "evaluation": f"{number(scores.games)} games",
        "mean": number(scores.mean, 2),
        "best": number(scores.highest, 1),
        "lowest": number(scores.lowest, 1),
        "": "",
    }


def _curve(view: RunView, width: int, height: int) -> Panel | None:
    """The score since the start, large. None: there is nothing to draw yet."""
    rows, games = view.throughput.columns, view.episodes.columns
    line = finite(rows["seconds"], rows["mean_score"])
    if len(line[0]) < 2 or width < 12:
        return None
    dots = finite(games["seconds"], games["score"], most=DOTS * width)  # more would be a fog
    lines, low, high = curve(line, dots, (width - 9, height - 1), (SCORE, QUIET))
    labels = [number(high, 1), *[""] * (height - 3), number(low, 1)]
    drawn = [Text.assemble((f"{label[:8]:>8} ", QUIET), text) for label, text in zip(labels, lines, strict=True)]
    end = clock(max(line[0].max(), dots[0].max(initial=0.0)))
    time_axis = Text(f"{'':9}0:00:00{end:>{max(width - 16, 1)}}", QUIET)
    return _panel(
        "Score: the mean of 100 games" + ", and each game" * bool(len(dots[0])), [*drawn, time_axis], height + 2
    )


def _share(value: float, most: float, width: int) -> str:
    full = round(width * min(max(value / most, 0.0), 1.0)) if most and math.isfinite(value) else 0
    return "█" * full + "░" * (width - full)


def _scheduling(view: RunView, width: int) -> Panel:
    rows, schedule, learning = view.throughput, view.settings.schedule, view.settings.learning
    counts = Text()
    for name in ("agents", "predictors", "trainers"):
        counts.append(f"{name} ", QUIET)
        counts.append(f"{number(rows.last(name))}  ", "bold")
    bar = max(min(width - 27, 12), 0)
    batch, update = rows.last("mean_prediction_batch"), rows.last("mean_training_batch")
    return _panel(
        "Scheduling",
        [
            counts,
            _line("requests wait", number(rows.last("prediction_queue")), _history(view, "prediction_queue", width)),
            _line("prediction batch", number(batch, 1), _share(batch, schedule.max_prediction_batch, bar)),
            _line("rollouts wait", number(rows.last("training_queue")), _history(view, "training_queue", width)),
            _line("training batch", number(update, 1), _share(update, learning.minimum_batch_steps, bar)),
        ],
    )


def _cluster(view: RunView) -> Panel:
    """Shown instead of the queues, where nobody waits."""
    lines = [Text.assemble((f"{label:<18}", QUIET), (value, "bold")) for label, value in cluster_panels.together(view)]
    return _panel("Cluster", lines)


def _learning(view: RunView, width: int) -> Panel:
    rows, schedule = view.throughput, view.settings.schedule
    waits = schedule.sampling != "asynchronous" or schedule.serial or schedule.cluster  # or learns from a replay
    has_limit = not (waits or ALGORITHMS[view.settings.learning.algorithm].replays)
    limit = schedule.policy_lag_limit_updates if has_limit else 0.0
    lag = rows.last("mean_policy_lag_updates")
    over = bool(limit) and lag > limit
    names = [*view.numbers, *[""] * NUMBERS][:NUMBERS]
    return _panel(
        "Learning",
        [
            _line("lag in updates", number(lag, 1), f"max. {limit:g}" if limit else "", WARM if over else QUIET),
            *(
                _line(
                    one_line(name).replace("_", " ")[:16],
                    number(rows.last(name), 3),
                    _history(view, name, width, rows=10**9),
                )
                for name in names
            ),
        ],
    )


def _news(view: RunView, width: int, height: int) -> Panel:
    """Returns the last messages in their order, without indented lines of reports and tracebacks."""
    columns, lines = view.messages.columns, []
    for when, text in zip(reversed(columns["time"]), reversed(columns["message"]), strict=True):
        if len(lines) >= height:
            break
        if not text.startswith(" "):
            style = SPEED if text.startswith("Controller: ") else ""
            said = Text.assemble((f"{time_of_day(when)} ", QUIET), (one_line(text), style))
            broken, room = list(said.wrap(_MEASURE, width)), height - len(lines)
            if len(broken) > room:
                broken = [*broken[: room - 1], Text.assemble(broken[room - 1], " ...")]
            lines = broken + lines
    return _panel("What happened", lines, height + 2)
