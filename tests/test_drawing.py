"""The style of all figures: colours that everybody can tell apart, legends and curves that are not covered or cut."""

import re
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import ImageColor

from ga3c.experiments import comparison_report
from ga3c.papers.accelerated import table1
from ga3c.papers.cule import fig3, fig5
from ga3c.views import drawing, plot
from tests.test_comparison import RUN, learnt
from tests.test_plot import make_run

PACKAGE = Path(__file__).parent.parent / "ga3c"
# What somebody sees without one kind of cones (Machado et al. 2009, severity 1), of linear RGB.
EYES = {
    "all": np.eye(3),
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "no blue": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear(colour: str) -> np.ndarray:
    share = np.array(ImageColor.getrgb(colour)) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b*, in which distances are those that are seen."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(rgb, 0.001, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES)
def test_colours_differ_for_everybody(eyes):
    seen = [lab(np.array(EYES[eyes]) @ linear(colour)) for colour in drawing.COLOURS]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 13


@pytest.mark.parametrize("ground", ["#ffffff", "#12161b"])
def test_colours_are_seen_on_white_paper_and_on_a_dark_page(ground):
    lights = [linear(colour) @ [0.2126, 0.7152, 0.0722] + 0.05 for colour in (*drawing.COLOURS, ground)]
    assert min(max(light, lights[-1]) / min(light, lights[-1]) for light in lights[:-1]) > 2.5


def test_no_figure_has_a_style_of_its_own():
    own = re.compile(r"rcParams|alpha=0\.2\b|ax\w*(\[.*\])?\.legend\(|fontsize=\d|ylim=\(0, None\)")
    found = {
        file.name: own.findall(file.read_text())
        for file in PACKAGE.rglob("*.py")
        if "views.drawing import" in file.read_text() and own.search(file.read_text())
    }
    assert not found


@pytest.fixture
def drawn(monkeypatch):
    """The figures that were drawn, before they are written."""
    figures = []

    def keep(figure, file):
        figure.canvas.draw()
        figures.append(figure)

    for module in (drawing, plot):
        monkeypatch.setattr(module, "save", keep)
    yield figures
    for figure in figures:
        drawing.pyplot().close(figure)


def check(figure) -> None:
    """No legend lies over a panel, and no point over the edge of one."""
    panels = [axis.get_window_extent() for axis in figure.axes]
    legends = [axis.get_legend() for axis in figure.axes if axis.get_legend()] + figure.legends
    assert legends
    for legend, panel in product(legends, panels):
        box = legend.get_window_extent()
        assert box.y0 >= panel.y1 - 1 or box.y1 <= panel.y0 + 1 or box.x0 >= panel.x1 or box.x1 <= panel.x0
    explained = {text for legend in legends for text in legend.get_texts()}
    others = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and text not in explained]
    for legend, text in product(legends, others):
        assert not legend.get_window_extent().overlaps(text.get_window_extent()), text
    for axis in figure.axes:
        for line in axis.lines:
            points = line.get_transform().transform(np.column_stack(line.get_data()))[np.isfinite(line.get_ydata())]
            if len(points):
                assert points[:, 1].max() <= axis.get_window_extent().y1 - line.get_linewidth()


def test_the_plot_of_a_run(tmp_path, drawn):
    plot.draw([make_run(tmp_path / "Pong" / "a", 1)], tmp_path / "plot.png")
    check(drawn[0])
    counts = [line for line in drawn[0].axes[4].lines if len(line.get_xdata())]
    assert len(counts) == 3
    assert {line.get_drawstyle() for line in counts} == {"steps-post"}
    assert {line.get_drawstyle() for line in drawn[0].axes[3].lines} == {"default"}


def test_table_1_of_accelerated_methods_shows_all_of_its_points(drawn):
    spread = table1.Spread(*[1000.0] * len(table1.Spread._fields))
    table1.draw({(name, count): spread for name in table1.SAMPLINGS for count in (2, 4)}, "Pong", Path("x.png"))
    check(drawn[0])


def test_figure_3_of_cule_has_no_mark_over_another(drawn):
    found = {
        (load, "Pong", engine, count): [1000.0]
        for load, engine, count in product(fig3.LOADS, ("ale", "ours", "gpu"), (1, 8))
    }
    fig3.draw(found, Path("x.png"))
    check(drawn[0])
    for axis in drawn[0].axes:
        points = [
            point
            for line in axis.lines
            if line.get_marker() != "None"
            for point in line.get_transform().transform(np.column_stack(line.get_data()))
            if np.isfinite(point).all()
        ]
        near = min(np.linalg.norm(one - other) for one, other in combinations(points, 2))
        assert near > drawn[0].dpi * drawing.pyplot().rcParams["lines.markersize"] / 72


def test_figure_5_of_cule_has_enough_ticks(drawn):
    rates = {32: 14_000.0, 512: 79_000.0}
    found = {
        (load, engine, count): rate
        for load in fig5.LOADS
        for engine in ("ale", "ours")
        for count, rate in rates.items()
    }
    fig5.draw(found, "Assault", Path("x.png"))
    check(drawn[0])
    (axis,) = drawn[0].axes
    low, high = axis.get_ylim()
    assert sum(low <= tick <= high for tick in axis.get_yticks()) >= 5


@pytest.mark.parametrize("settings", [1, 2, 14])
def test_a_comparison_of_many_settings_tells_them_apart(settings, tmp_path, drawn):
    """With more settings than colours, each has a panel of its own, with the first behind it."""
    outcomes = [
        learnt(replace(RUN, setting=f"s{n}", seed=seed), tmp_path, float(n))
        for n in range(settings)
        for seed in (1, 2, 3)
    ]
    comparison_report.draw(outcomes, tmp_path / "x.png")
    comparison_report.draw_scores(comparison_report._scores(outcomes), tmp_path / "y.png")
    curves, scores = drawn
    check(curves)
    assert len(curves.axes) == (14 if settings == 14 else 1)
    for axis in curves.axes:
        colours = [line.get_color() for line in axis.lines]
        assert len(set(colours)) == len(colours) == min(settings, 2)
    assert [tick.get_text() for tick in scores.axes[0].get_yticklabels()] == [f"s{n}" for n in range(settings)]
    check(scores)
