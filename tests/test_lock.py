"""The lock of a run's directory, on file systems that have no flock, or no locks at all."""

import contextlib
import errno
import fcntl
import os
import signal

import pytest

from ga3c.emulator import compiled
from ga3c.errors import ConfigError
from ga3c.experiments import runs
from ga3c.records import lock
from ga3c.settings.run import RunSettings

NO_FLOCK = [errno.ENOLCK, errno.ENOSYS, errno.EBADF, errno.EOPNOTSUPP, 524, errno.EINVAL]


def without(number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    return refuse


@contextlib.contextmanager
def held_elsewhere(path):
    """Another process holds the lock."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            lock.hold(path, RunSettings())
            os.write(tell, b"!")
            signal.pause()
        os._exit(1)
    os.close(tell)
    assert os.read(told, 1), "it could not be taken"
    os.close(told)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("number", NO_FLOCK)
def test_without_flock_a_posix_lock_is_taken(tmp_path, monkeypatch, number, capsys):
    monkeypatch.setattr(fcntl, "flock", without(number))
    monkeypatch.setattr(lock, "_claim", lambda _: False)  # this alone must do
    with held_elsewhere(tmp_path):
        assert lock.is_locked(tmp_path)
        with pytest.raises(ConfigError, match="Another process trains"):
            lock.hold(tmp_path, RunSettings())
    assert not lock.is_locked(tmp_path)
    lock.hold(tmp_path, RunSettings())
    assert "has no flock: a POSIX lock is taken" in capsys.readouterr().out


@pytest.mark.parametrize("number", NO_FLOCK)
def test_without_any_locks_the_path_is_taken_on_this_machine(tmp_path, monkeypatch, number, capsys):
    for name in ("flock", "lockf"):
        monkeypatch.setattr(fcntl, name, without(number))
    with held_elsewhere(tmp_path):
        assert lock.is_locked(tmp_path)
        with pytest.raises(ConfigError, match="Another process trains"):
            lock.hold(tmp_path, RunSettings())
    assert not lock.is_locked(tmp_path)
    lock.hold(tmp_path, RunSettings())
    assert "has no locks: starts on this machine alone are kept out." in capsys.readouterr().out


def test_where_there_is_flock_nothing_is_said(tmp_path, capsys):
    lock.hold(tmp_path, RunSettings())
    assert lock.is_locked(tmp_path)
    assert capsys.readouterr().out == ""


def test_what_else_takes_a_lock_does_without_flock_too(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", without(errno.ENOSYS))
    with runs.alone(tmp_path), compiled.one_at_a_time():
        pass
