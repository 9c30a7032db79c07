"""Who may reach Ray, which runs what it is told to in its user's name."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def of_this_machine() -> Iterator[None]:
    """What Ray starts meanwhile listens on 127.0.0.1, and asks for a token that its owner alone can read."""
    from ray._private import ray_constants
    from ray._private.authentication import authentication_token_setup

    before, clusters = os.umask(0o077), ray_constants.ENABLE_RAY_CLUSTER
    try:
        authentication_token_setup.enable_token_auth_by_default()
        authentication_token_setup.ensure_token_if_auth_enabled()  # writes it, if there is none
    finally:
        os.umask(before)
    ray_constants.ENABLE_RAY_CLUSTER = False  # as on systems on which Ray knows no clusters
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = clusters


@contextlib.contextmanager
def of_a_cluster() -> Iterator[None]:
    """Brings the token: Ray asks for it since the first local start on the cluster's first machine, and brings it by
    itself with `auto` alone. A cluster that asks for none takes no notice."""
    from ray._private.authentication import authentication_token_setup

    authentication_token_setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    yield


def keep_token() -> None:
    """Lets nobody else read the token, whoever has written it."""
    with contextlib.suppress(OSError):  # there is none, or it is another user's
        (Path.home() / ".ray" / "auth_token").chmod(0o600)


def warning() -> str:
    """A sentence where Ray asks nobody for a token, as with RAY_AUTH_MODE=disabled; "" where it does."""
    from ray import _raylet

    if _raylet.get_authentication_mode() == _raylet.AuthenticationMode.TOKEN:
        return ""
    mode = os.environ.get("RAY_AUTH_MODE")
    why = f" (RAY_AUTH_MODE={mode})" if mode else ""
    return f" Ray asks nobody for a token{why}: whoever reaches its ports can run programs as you."
