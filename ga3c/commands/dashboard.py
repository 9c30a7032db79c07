"""Serves a page with all runs to a browser on this machine: python -m ga3c dashboard."""

import logging
import socket
from dataclasses import dataclass
from pathlib import Path

from ga3c.commands.command_line import parse
from ga3c.errors import ConfigError
from ga3c.records import run_directory

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
    results = Path(options.results) if options.results else run_directory.RESULTS
    if not results.is_dir():
        raise ConfigError(f"--results {results}: there is no such directory.")
    if not 0 <= options.port <= 65_535:
        raise ConfigError(f"--port {options.port} is out of range: give a number from 0 to 65535.")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", options.port))
    except OSError as error:
        raise ConfigError(f"--port {options.port}: {error.strerror}. Name another one.") from error
    listening.listen()

    from werkzeug.serving import make_server

    from ga3c.views.dashboard import page

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    port = listening.getsockname()[1]
    server = make_server("127.0.0.1", port, page.make(results), threaded=True, fd=listening.fileno())
    print(f"http://localhost:{port}/  (Ctrl-C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    return 0
