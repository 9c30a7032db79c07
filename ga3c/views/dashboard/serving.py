"""Serves the page to the browsers of this machine (waitress), with a limit for whatever a client could pile up."""

import contextlib
import errno
import logging
import socket

import flask
import waitress
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer

from ga3c.errors import ConfigError

THREADS = 8  # that answer; all connections share one more
CONNECTIONS = 500  # below the 1,024 open files that a process has by default
SILENCE_SECONDS = 20.0  # after which a connection is closed, or a request that has not arrived
HEADER_BYTES, BODY_BYTES = 16 * 1024, 256 * 1024  # of a request
LIMITS = {
    "threads": THREADS,
    "connection_limit": CONNECTIONS,
    "cleanup_interval": 1,
    "max_request_header_size": HEADER_BYTES,
    "max_request_body_size": BODY_BYTES,
}


class _Channel(HTTPChannel):
    """A connection. Bytes that trickle in are no sign of life: a whole request is."""

    def handle_read(self) -> None:
        before, arriving = self.last_activity, self.request is not None
        super().handle_read()
        if arriving and self.request is not None:
            self.last_activity = before


def listen(port: int) -> list[socket.socket]:
    """Sockets at this port of localhost (0: any that is free): of 127.0.0.1 and, where this machine has it, of [::1].

    Raises ConfigError.
    """
    try:
        listening = [socket.create_server(("127.0.0.1", port))]
        taken = listening[0].getsockname()[1]
        try:
            listening.append(socket.create_server(("::1", taken), family=socket.AF_INET6))
        except OSError as error:
            if port and error.errno == errno.EADDRINUSE:  # a browser would find that other program at localhost
                raise
    except OSError as error:
        raise ConfigError(f"--port {port}: {error.strerror}. Name another one.") from error
    return listening


def serve(application: flask.Flask, listening: list[socket.socket]) -> None:
    """Until Ctrl-C."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # that somebody waits is no news
    options = LIMITS | {"channel_timeout": SILENCE_SECONDS}
    parts: dict[int, object] = {}
    server = waitress.create_server(
        application, parts, sockets=listening, asyncore_use_poll=True, log_socket_errors=False, **options
    )
    for part in parts.values():
        if isinstance(part, BaseWSGIServer):
            part.channel_class = _Channel
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
