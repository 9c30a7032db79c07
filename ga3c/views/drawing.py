"""What all drawings have in common: matplotlib in one style, and files that are whole or absent."""

import io
from pathlib import Path
from typing import NamedTuple

from ga3c.records.files import write_whole

INK = "#7d848c"
COLOURS = ("#3b8bd0", "#e07b39", "#43a36a", "#c4527a", "#8a70c9", "#b08d2e", "#3aa6a6", "#8d939b")
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
        "axes.titlesize": 10,
        "axes.labelsize": 9,
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
