"""Stand-ins for the module `os`, as `ga3c.records.files` uses it: one that fails, and one that takes notes."""

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ga3c.records import files

CHANGES = ("open", "write", "ftruncate", "fsync", "replace", "link", "unlink", "mkdir")  # and what leads to them


class Killed(BaseException):
    """The program has ended, without another word."""


class Os:
    """The module as it is; `end` is the end of the process that used it."""

    def __init__(self):
        self._opened: dict[int, os.stat_result] = {}

    def __getattr__(self, name: str):
        real = getattr(os, name)
        return (lambda *arguments: self._call(name, real, arguments)) if name in CHANGES else real

    def _call(self, name: str, real: Callable, arguments: tuple):
        made = real(*arguments)
        if name == "open":
            self._opened[made] = os.fstat(made)
        return made

    def close(self, file: int) -> None:
        self._opened.pop(file, None)
        os.close(file)

    def end(self) -> None:
        """Closes what a process closes when it ends: its locks, too."""
        for file, status in self._opened.items():
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(file), status):  # else it is closed, and another one has its number
                    os.close(file)
        self._opened = {}


class Failing(Os):
    """The N-th call fails, in the way that `failure` names; and `lasting` calls from there on.

    `exits`: one that is killed ends the process.
    """

    def __init__(self, at: int, failure: str, lasting: int = 1, exits: bool = False):
        super().__init__()
        self._exits = exits
        self.calls = 0
        self._failing, self._failure = range(at, at + lasting), failure

    def _call(self, name, real, arguments):
        self.calls += 1
        if self._failure == "killed" and self.calls >= self._failing.start:
            if name == "write" and self.calls == self._failing.start:
                self._half(*arguments)
            if self._exits:
                os.kill(os.getpid(), signal.SIGKILL)
            raise Killed
        if self.calls not in self._failing:
            return super()._call(name, real, arguments)
        if self._failure == "memory":
            raise MemoryError
        if self._failure == "short write" and name == "write":
            self._half(*arguments)
        raise OSError(*((errno.EIO, "I/O error") if self._failure == "error" else (errno.ENOSPC, "disk full")))

    @staticmethod
    def _half(file: int, content) -> None:
        os.write(file, content[: len(content) // 2])


FAILURES = ("error", "disk full", "short write", "memory", "killed")


class Noting(Os):
    """Does everything, and notes what would be left of it if the power went."""

    def __init__(self, root: Path):
        super().__init__()
        self._root, self.changes = root, []
        self._names: dict[str, int] = {}  # path -> number of the file
        self._files: dict[int, int | str] = {}  # open file -> its number; of a directory its path
        self._numbers = 0

    def _call(self, name, real, arguments):
        size = os.fstat(arguments[0]).st_size if name == "write" else 0
        made = super()._call(name, real, arguments)
        getattr(self, f"_{name}")(made, size, *arguments)
        return made

    def _path(self, path) -> str:
        return str(Path(path).relative_to(self._root))

    def _open(self, made, _, path, flags, *mode):
        name = self._path(path)
        if os.path.isdir(path):
            self._files[made] = name
            return
        if name not in self._names:
            self._numbers += 1
            self._names[name] = self._numbers
            self.changes.append(("name", name, self._numbers))
        self._files[made] = self._names[name]

    def _write(self, made, size, file, content):
        """All that is written is written to the end of a file."""
        self.changes.append(("write", self._files[file], size, bytes(content[:made])))

    def _ftruncate(self, _made, _size, file, size):
        self.changes.append(("cut", self._files[file], size))

    def _fsync(self, _made, _size, file):
        self.changes.append(("sync", self._files[file]))

    def _replace(self, _made, _size, old, new):
        old, new = self._path(old), self._path(new)
        number = self._names[new] = self._names.pop(old)
        self.changes.append(("rename", old, new, number))

    def _link(self, _made, _size, old, new):
        number = self._names[self._path(new)] = self._names[self._path(old)]
        self.changes.append(("name", self._path(new), number))

    def _unlink(self, _made, _size, path):
        del self._names[self._path(path)]
        self.changes.append(("gone", self._path(path)))

    def _mkdir(self, _made, _size, path, *mode):
        self.changes.append(("name", self._path(path), 0))  # 0: a directory


def _apply(change: tuple, names: dict[str, int]) -> None:
    kind, name, *rest = change
    if kind == "name":
        names[name] = rest[0]
    elif kind == "gone":
        names.pop(name, None)
    else:
        names.pop(name, None)
        names[rest[0]] = rest[1]


def after_power_cut(changes: list[tuple], names_kept: float, content: str) -> dict[str, bytes | None]:
    """What lies on the disk after these changes: by path the content of a file, None for a directory.

    Of the names that no sync of their directory followed, this share was written, in order; of what no sync of its
    file followed, nothing (`lost`), half (`half`), all (`kept`), or its length alone (`zeros`).
    """
    names: dict[str, int] = {}
    pending: list[tuple] = []
    now: dict[int, bytearray] = {}
    synced: dict[int, bytes] = {}
    for change in changes:
        kind, what, *rest = change
        if kind == "write":
            at, new = rest
            now.setdefault(what, bytearray())[at:] = new
        elif kind == "cut":
            del now.setdefault(what, bytearray())[rest[0] :]
        elif kind == "sync" and isinstance(what, int):
            synced[what] = bytes(now.get(what, b""))
        elif kind == "sync":
            for done in [one for one in pending if str(Path(one[1]).parent) == what]:
                _apply(done, names)
                pending.remove(done)
        elif kind in ("name", "gone", "rename"):
            pending.append(change)
    for change in pending[: round(names_kept * len(pending))]:
        _apply(change, names)
    left: dict[str, bytes | None] = {}
    for name, number in names.items():
        if any(str(above) not in names for above in Path(name).parents if str(above) != "."):
            continue  # in a directory that is not there
        whole, safe = bytes(now.get(number, b"")), synced.get(number, b"")
        new = whole[len(safe) :] if whole.startswith(safe) else b""
        new = {"lost": b"", "half": new[: len(new) // 2], "kept": new, "zeros": bytes(len(new))}[content]
        left[name] = (safe + new) if number else None
    return left


CONTENTS, NAMES_KEPT = ("lost", "half", "kept", "zeros"), (0.0, 0.5, 1.0)


def lay_out(left: dict[str, bytes | None], root: Path) -> None:
    """Makes the files."""
    for name in sorted(left):
        content, path = left[name], root / name
        if content is None:
            path.mkdir(parents=True)
        else:
            path.write_bytes(content)


@contextlib.contextmanager
def in_place(stand_in: Os) -> Iterator[Os]:
    """While this lasts the files of a run are written through it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "os", stand_in)
        try:
            yield stand_in
        finally:
            stand_in.end()
