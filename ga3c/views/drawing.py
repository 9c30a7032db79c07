"""The style of all drawings with matplotlib, and their files, which are whole or absent."""

import io
from pathlib import Path
from typing import NamedTuple

from ga3c.records.files import write_whole

INK = "#7d848c"
# Seen as different by people who see no red, no green or no blue, and on white paper and a dark page.
COLOURS = ("#16a6da", "#da8c19", "#1c8157", "#af3c90", "#595fc0", "#b25100", "#3375fd", "#82a357")
# Plotly's names, and matplotlib's: they survive a print in black and white.
DASHES = {
    "solid": "-",
    "dash": "--",
    "dot": ":",
    "dashdot": "-.",
    "longdash": (0, (9, 3)),
    "longdashdot": (0, (9, 3, 2, 3)),
}
MARKS = {"circle": "o", "square": "s", "triangle-up": "^"}
FAINT = 0.3  # opacity of what was measured, behind its mean
BAND = {"alpha": 0.2, "linewidth": 0}  # from lowest to highest
WHISKER = {"linewidth": 0.8, "capsize": 2, "ecolor": INK}  # the same of a bar


class Look(NamedTuple):
    """How one line is drawn."""

    colour: str
    dash: str  # of DASHES
    mark: str | None  # of MARKS, at a few of its points
    opacity: float


def look(run: int, quantity: int, several_runs: bool, several_quantities: bool) -> Look:
    """Runs differ in colour and dashes. Quantities do where there is one run; else they have marks."""
    index = run if several_runs else quantity
    marked = several_runs and several_quantities
    return Look(
        COLOURS[index % len(COLOURS)],
        list(DASHES)[index % len(DASHES)],
        list(MARKS)[quantity % len(MARKS)] if marked else None,
        1.0 - 0.25 * quantity * marked,
    )


def pyplot():
    """`matplotlib.pyplot`, drawing without a display, in this project's style."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "font.size": 9,
        "figure.titlesize": 12,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",  # beside it a legend has room
        "axes.labelsize": 9,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "lines.linewidth": 1.5,
        "lines.markersize": 4,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "svg.fonttype": "none",  # text that can be searched
        # To be read on white paper and on a dark page: no ground of its own, and colours between the two.
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.prop_cycle": plt.cycler(color=COLOURS),
    }
    plt.rcParams |= dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), INK
    )
    return plt


def legend(axis) -> None:
    """Draws the legend of one panel above it and right of its title, where no curve is."""
    if axis.get_legend_handles_labels()[0]:
        corner = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 4, "borderpad": 0.2}
        axis.legend(handlelength=1.2, handletextpad=0.4, columnspacing=0.8, **corner)


def common_legend(figure) -> None:
    """One of all panels, below them; a label that several have stands there once."""
    found = {label: line for axis in figure.axes for line, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if found:
        beside = max(1, int(figure.get_figwidth() / (0.6 + 0.075 * max(map(len, found)))))  # as many have room
        rows = -(-len(found) // beside)
        figure.legend(found.values(), found, loc="outside lower center", ncols=-(-len(found) // rows))


def from_zero(axis) -> None:
    """The y axis begins at zero, and ends above all that is drawn."""
    axis.update_datalim([(0, 0)], updatex=False)
    axis.autoscale_view()
    axis.set_ylim(bottom=0)


def by_doubling(axis, counts) -> None:
    """The x axis is logarithmic, and has ticks at these counts alone."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(list(counts), [f"{count:,}" for count in counts])
    axis.minorticks_off()


def logarithmic(axis, parts=(1, 2, 5)) -> None:
    """The y axis is logarithmic, with ticks at these parts of each power of ten: 20,000, 50,000, 100,000."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=parts))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter("{x:,.10g}")


def with_commas(axis) -> None:
    """Numbers at both axes are written as 1,200,000, unless something else is to stand there."""
    from matplotlib.ticker import ScalarFormatter

    for side in (axis.xaxis, axis.yaxis):
        if type(side.get_major_formatter()) is ScalarFormatter:
            side.set_major_formatter("{x:,.10g}")


def literal(text: str) -> str:
    """A text as matplotlib shows it as it is: between two dollars it looks for a formula."""
    return text.replace("$", r"\$")


def save(figure, out: Path) -> None:
    """Writes the figure as png, pdf or svg and closes it; the file appears when it is complete."""
    kind = out.suffix.lstrip(".") or "png"
    drawn = io.BytesIO()
    smaller = {"pil_kwargs": {"optimize": True}} if kind == "png" else {}
    figure.savefig(drawn, dpi=110, format=kind, **smaller)
    write_whole(out, drawn.getbuffer())
    pyplot().close(figure)
