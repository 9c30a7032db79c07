"""The files of a run, opened and written here alone.

Nothing but regular files is read. No link is followed where something is written: the directory of a run, and what lies
above it, may be links, its own files are none. What is said to be written survives a loss of power.
"""

import contextlib
import errno
import json
import math
import os
import select
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ga3c.errors import ConfigError

JSON_BYTES_LIMIT = 4_000_000
PARTIAL = ".partial"  # how the name of a file ends that is not complete yet
_OURS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def reason(error: BaseException) -> str:
    """Returns the text of an exception, in one line of no great length."""
    said = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return said if len(said) < 300 else said[:300] + " ..."


def open_to_read(path: Path, most_bytes: float = math.inf) -> BinaryIO:
    """Opens a regular file. Raises OSError for any other, such as a pipe, on which it would wait, or a larger one."""
    _check(os.stat(path), most_bytes)
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check(os.fstat(file), most_bytes)  # the path may lead to another file by now
    except OSError:
        os.close(file)
        raise
    return open(file, "rb")


def _check(status: os.stat_result, most_bytes: float = math.inf) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if status.st_size > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {most_bytes / 1e6:,.0f} MB")


def has_something(pipe: int, seconds: float) -> bool:
    """Returns whether a pipe can be read, or has ended, within so many seconds. It may have any number."""
    look = select.poll()
    look.register(pipe, select.POLLIN)
    return bool(look.poll(1000 * seconds))


def written_at(path: Path) -> float:
    """Returns when a file was last written, seconds since the epoch; 0 if it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def read_json(path: Path) -> Any:
    """Reads a JSON file. Raises ConfigError."""
    try:
        with open_to_read(path, JSON_BYTES_LIMIT) as file:
            return json.loads(file.read(JSON_BYTES_LIMIT))
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise ConfigError(f"Cannot read {path}: {reason(error)}.") from error


def open_to_write(path: Path, flags: int) -> int:
    """Opens a file of the run, and makes it if need be. Raises OSError if it is a link of any kind, or no file."""
    try:
        file = os.open(path, flags | os.O_CREAT | _OURS, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link") from None
        raise
    try:
        status = os.fstat(file)
        _check(status)
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, "it is a link: the file has another name, too")
    except OSError:
        os.close(file)
        raise
    return file


def write(file: int, content: bytes) -> None:
    """Writes all of the content. Raises OSError."""
    left = memoryview(content)
    while len(left):
        left = left[os.write(file, left) :]


def overwrite(file: int, content: bytes) -> None:
    """Replaces the content of an open file that nothing was written to yet. Raises OSError."""
    os.ftruncate(file, 0)
    write(file, content)


class GrowingFile:
    """A file to which something is added now and then: all of it, or nothing."""

    def __init__(self, path: Path, durable: bool):
        """`durable`: what `append` has added survives a loss of power."""
        self._path, self._durable = path, durable
        self._whole_bytes: int | None = None  # after a failure: what follows in the file is incomplete

    def append(self, content: bytes, beginning: bytes) -> None:
        """Adds the content. An empty file gets `beginning` first. Raises OSError."""
        file = open_to_write(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            size = os.fstat(file).st_size
            if self._whole_bytes is not None and size > self._whole_bytes:
                size = self._whole_bytes
                os.ftruncate(file, size)
            self._whole_bytes = size
            try:
                write(file, content if size else beginning + content)
                if self._durable:
                    os.fsync(file)
                    if not size:
                        sync_directory(self._path.parent)
            except BaseException:
                with contextlib.suppress(OSError):  # `append` cuts it off the next time
                    os.ftruncate(file, size)
                raise
            self._whole_bytes = None
        finally:
            os.close(file)


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")


def write_whole(path: Path, content: str | bytes | Iterator) -> None:
    """Writes a file: it appears when it is complete and on disk, or stays as it was. Raises OSError.

    `content` may come in parts of bytes. Each is on disk before the next, so that other writers need not wait long.
    """
    partial = _partial(path)
    parts = content if isinstance(content, Iterator) else [content.encode() if isinstance(content, str) else content]
    try:
        remove(partial)  # a killed process of the same number may have left it
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OURS, 0o666)
        try:
            for part in parts:
                write(file, part)
                os.fsync(file)
        finally:
            os.close(file)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):  # a full disk needs the room
            os.unlink(partial)
        raise
    sync_directory(path.parent)


def link(path: Path, name: Path) -> None:
    """Gives a file a second name in the same directory, and replaces what had that name. Raises OSError."""
    partial = _partial(name)
    remove(partial)
    try:
        os.link(path, partial)
    except OSError:  # a file system without links
        with open_to_read(path) as file:
            write_whole(name, file.read())
        return
    rename(partial, name)


def rename(path: Path, name: Path) -> None:
    """Renames a file within a directory, and replaces what had that name. Raises OSError."""
    os.replace(path, name)
    sync_directory(name.parent)


def remove(path: Path) -> None:
    """Removes a file if it is there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def make_directory(path: Path) -> None:
    """Makes a directory and those above it, if they are not there. Raises OSError, also for a link."""
    try:
        os.mkdir(path)
    except FileExistsError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise OSError(errno.ENOTDIR, f"{path.name} is a link, or no directory") from None
        return
    except FileNotFoundError:
        make_directory(path.parent)
        with contextlib.suppress(FileExistsError):  # another start may have made it meanwhile
            os.mkdir(path)  # below /proc, say, nothing can be made
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Puts the names in a directory on disk. Raises OSError."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that cannot
            raise
    finally:
        os.close(opened)


class KeptDirectory:
    """A directory that may be moved or removed while it is in use."""

    def __init__(self, path: Path):
        """Raises ConfigError where there is none."""
        self._path = path
        try:  # open while it is in use, so that no new directory gets its inode number
            self._opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (OSError, MemoryError) as error:
            raise ConfigError(f"Cannot open {path}: {reason(error)}.") from error

    def is_there(self) -> bool:
        """Returns whether the path still leads to this directory."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._opened))
        except OSError:
            return False

    def close(self) -> None:
        """Lets go of the directory, which counts as gone from now on."""
        opened, self._opened = self._opened, -1
        os.close(opened)
