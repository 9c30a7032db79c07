"""Serves a page with all runs to a browser on this machine: python -m ga3c dashboard."""

from dataclasses import dataclass

from ga3c.commands.command_line import check_range, parse, results_directory

DESCRIPTION = """Serves a page with all runs: live curves side by side, the controller's decisions, recorded games. Only
this machine can open it; from another one: ssh -L 8050:localhost:8050 THIS-MACHINE."""


@dataclass(frozen=True)
class DashboardOptions:
    port: int = 8050
    """Port of localhost; 0: any that is free."""
    results: str | None = None
    """Directory that holds GAME/RUN directories. Default: results."""


def run(arguments: list[str]) -> int:
    options = parse(DashboardOptions, arguments, DashboardOptions(), DESCRIPTION, "dashboard")
    results = results_directory(options.results)
    check_range("port", options.port, 0, 65_535)

    from ga3c.views.dashboard import serving

    listening = serving.listen(options.port)

    from ga3c.views.dashboard import page  # takes seconds

    application = page.make(results)
    print(f"http://localhost:{listening[0].getsockname()[1]}/  (Ctrl-C ends it)", flush=True)
    serving.serve(application, listening)
    return 0
