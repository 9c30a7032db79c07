"""A report of a run: one HTML page that says what it was and how it got there."""

import base64
import shlex
import time
from pathlib import Path

from ga3c.records.description import read
from ga3c.settings import saved_settings
from ga3c.text import duration, one_line
from ga3c.views import labels
from ga3c.views.figures import clock
from ga3c.views.run_view import RunView

TEMPLATE = Path(__file__).with_name("report.html")


def page(run: Path, trained_steps: int, rows: list[dict], film_file: Path, film_text: str, curves: Path) -> str:
    """`rows`: a summary of an evaluation for each way to play. `curves`: the run's plot as svg."""
    from jinja2 import ChainableUndefined, Environment

    view = RunView(run)
    description = _description(run)
    seconds, steps, frames = (view.throughput.last(name, 0.0) for name in ("seconds", "steps", "frames"))
    environment = Environment(autoescape=True, undefined=ChainableUndefined, trim_blocks=True, lstrip_blocks=True)
    svg = curves.read_text(encoding="utf-8")
    text = environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        game=view.game,
        run=one_line(run.name),
        written=time.strftime("%Y-%m-%d %H:%M"),
        command=shlex.join(["./run.sh", *map(str, description["command"][1:])]),
        description=description,
        changed=labels.changed(view.settings),
        settings=saved_settings.to_dict(view.settings),
        rows=rows,
        state="" if view.exported else view.now.sentence,
        duration=duration(seconds),
        steps=steps,
        frames=frames,
        trained_steps=trained_steps,
        pps=steps / seconds if seconds else 0.0,
        games=len(view.episodes),
        decisions=[
            (clock(when), text)
            for when, text in zip(view.decisions.columns["seconds"], view.decisions.columns["reason"], strict=True)
        ],
        curves=svg[svg.index("<svg") :],
        film=base64.b64encode(film_file.read_bytes()).decode(),
        film_text=film_text,
    )
    return text.encode("utf-8", "replace").decode("utf-8")  # a name of a file may hold bytes that are no text


def _description(run: Path) -> dict:
    """Returns what config.json says besides the settings, without damaged parts."""
    found = read(run)
    kinds = {"command": list, "started": str, "hardware": dict, "versions": dict}
    return {name: found[name] if isinstance(found.get(name), kind) else kind() for name, kind in kinds.items()}
