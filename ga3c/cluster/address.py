"""Checks that a cluster answers at an address: Ray itself would wait there for minutes, whatever listens."""

import os
import socket

from ga3c.errors import ConfigError

ANSWER_SECONDS = 10.0
# An HTTP/2 client's first words, without settings of its own; a server answers with its own (RFC 9113, section 3.4).
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
SETTINGS, HEADER_BYTES = 4, 9


def checked(where: str) -> str:
    """Returns the address that Ray makes of `auto` or HOST:PORT. Raises ConfigError where that does not answer."""
    from ray._private import services
    from ray._private.ray_constants import RAY_ADDRESS_ENVIRONMENT_VARIABLE

    try:
        address = services.canonicalize_bootstrap_address(where)
        reason = _why_not(address) if address else "no cluster runs on this machine: start one with `ray start`"
    except (OSError, ValueError) as error:
        set_by = f" in {RAY_ADDRESS_ENVIRONMENT_VARIABLE}" if where == "auto" else ""
        reason = f"{str(error).rstrip('.')}. Give HOST:PORT{set_by}"
    if reason:
        raise ConfigError(f"Cannot join --cluster {where}: {reason}.")
    return address


def _why_not(address: str) -> str:
    """Returns why no Ray can be there, or "" where something speaks as Ray does. Raises ValueError."""
    host, _, port = address.rpartition(":")
    give = "Give the HOST:PORT that `ray start --head` says"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS) as line:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
                return ""  # it answers to those alone who have a certificate
            line.sendall(PREFACE)
            answer = line.recv(HEADER_BYTES)
    except TimeoutError:
        return f"nothing at {address} answers within {ANSWER_SECONDS:.0f} s. {give}"
    except (OSError, OverflowError) as error:
        return f"nothing answers at {address} ({error}). {give}"
    if len(answer) < HEADER_BYTES or answer[3] != SETTINGS:
        return f"what listens at {address} is not Ray. {give}"
    return ""
