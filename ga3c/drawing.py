"""What all drawings have in common: matplotlib in one style, and files that are whole or absent."""

import os
from pathlib import Path


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
        "grid.alpha": 0.25,
    }
    plt.rcParams |= {"axes.titlesize": 10, "axes.labelsize": 9, "legend.frameon": False, "legend.fontsize": 8}
    return plt


def save(figure, out: Path) -> None:
    """Writes the figure as png, pdf or svg and closes it; the file appears when it is complete."""
    kind = out.suffix.lstrip(".") or "png"
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    smaller = {"pil_kwargs": {"optimize": True}} if kind == "png" else {}
    figure.savefig(partial, dpi=110, format=kind, **smaller)
    os.replace(partial, out)
    pyplot().close(figure)
