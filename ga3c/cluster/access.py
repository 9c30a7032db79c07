"""Restricts who may reach Ray, which runs any code it is sent in its user's name."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def of_this_machine() -> Iterator[None]:
    """Lets what Ray starts meanwhile listen on 127.0.0.1 and ask for a token that only its owner can read."""
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
    """Brings the token that Ray asks for since the first local start on the cluster's first machine. Ray itself brings
    it with `auto` alone. A cluster that asks for none ignores it."""
    from ray._private.authentication import authentication_token_setup

    authentication_token_setup.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    yield


def keep_token() -> None:
    """Makes the token readable to its owner alone, whoever has written it."""
    with contextlib.suppress(OSError, RuntimeError):  # there is none, or it is another user's; or there is no home
        (Path.home() / ".ray" / "auth_token").chmod(0o600)


def warning() -> str:
    """Returns a sentence if Ray asks nobody for a token, as with RAY_AUTH_MODE=disabled; else ""."""
    from ray import _raylet

    if _raylet.get_authentication_mode() == _raylet.AuthenticationMode.TOKEN:
        return ""
    mode = os.environ.get("RAY_AUTH_MODE")
    why = f" (RAY_AUTH_MODE={mode})" if mode else ""
    return f" Ray asks nobody for a token{why}: whoever reaches its ports can run programs as you."
