"""Hostile runs: directories of a run in which one thing is not as it should be, opened by every command that reads one.

`python -m tests.faults.hostile_runs FOLDER` makes all of them in FOLDER, opens each with each command, and says what
went wrong; `--every 10` takes one of ten. A command may refuse a run, in one line and with exit status 2; it may also
show what is left of it. It must not run anything that a run brings along, hang, take memory for what a file only
promises, end in a traceback, send control characters to the terminal, or write into anybody else's file.
"""

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import socket
import stat
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from ga3c.settings.run import Settings
from tests import dashboard_client, program

HANG_SECONDS = program.HANG_SECONDS
MORE_MEMORY_BYTES = 400_000_000  # than the same command takes for a run in which all is well
MOST_BYTES = 1_000_000_000
ESCAPES = "\x1b]0;title\x07\x1b]52;c;Y2xpcA==\x07\x1b[2J\x9b2J\u202e[bold]$\\frac$<script>"
LOGS = {
    "throughput.csv": "seconds",
    "episodes.csv": "score",
    "controller.csv": "reason",
    "messages.csv": "message",
}
PRECIOUS = "outside/precious.txt"  # none of the runs' business
Spoil = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """`spoil` gets a copy of a sound run."""

    name: str
    spoil: Spoil


# What may lie where a file should be.


def _replaced(name: str, put: Callable[[Path], None]) -> Spoil:
    def spoil(run: Path) -> None:
        path = run / name
        path.parent.mkdir(exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        put(path)

    return spoil


def _put_socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a path of a socket must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def _put_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 34)


PUT: dict[str, Callable[[Path], None]] = {
    "nothing": lambda path: None,
    "fifo": lambda path: os.mkfifo(path),
    "directory": lambda path: path.mkdir(),
    "socket": _put_socket,
    "link to another's file": lambda path: path.symlink_to(outside(path) / "precious.txt"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to endless zeros": lambda path: path.symlink_to("/dev/zero"),
    "link to nowhere": lambda path: path.symlink_to(outside(path) / "nowhere"),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(100_000)),
    "16 GB of nothing": _put_sparse,
    "random bytes": lambda path: path.write_bytes(random.Random(1).randbytes(50_000)),
    "one endless line": lambda path: path.write_bytes(b"1," * 2_000_000),
    "escapes": lambda path: path.write_text(ESCAPES * 10, encoding="utf-8"),
    "a byte order mark": lambda path: path.write_bytes(b"\xff\xfe{\0}\0"),
}


def outside(path: Path) -> Path:
    """What is none of the run's business: a folder beside the runs."""
    return next(parent for parent in path.parents if (parent / "outside").is_dir()) / "outside"


def _files(run: Path) -> list[str]:
    newest = max((run / "checkpoints").glob("checkpoint-*.npz"))
    return ["config.json", ".lock", *LOGS, f"checkpoints/{newest.name}", "checkpoints", "evaluation.json", "plot.png"]


def _any_files(run: Path) -> Iterator[Case]:
    for file, (what, put) in itertools.product(_files(run), PUT.items()):
        yield Case(f"{file}: {what}", _replaced(file, put))


# config.json


def _with_settings(change: Callable[[dict], object]) -> Spoil:
    """In config.json and in the checkpoints."""

    def spoil(run: Path) -> None:
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        change(config["settings"])
        (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
        for path in (run / "checkpoints").glob("*.npz"):
            _with_meta(path, lambda meta: change(meta["settings"]))

    return spoil


def _with_meta(path: Path, change: Callable[[dict], object]) -> None:
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(arrays.pop("meta").tobytes())
    change(meta)
    path.unlink()  # best.npz may be the same file
    with path.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)


VALUES = (
    None, "x", [], {}, float("inf"), float("-inf"), float("nan"), -1, 0, 2**70, True, 1e308, ESCAPES, "a\0b", "\ud800",
    "A" * 1_000_000, [[[[]]]], {"a": 1},
)  # fmt: skip
GAMES = (
    "stranger:Evil-v0", "stranger.deeper:Evil-v0", "this:x", "os:system", "results.Evil.stranger:Evil-v0",
    ":x", "x:", "..:x", "../../stranger:Evil-v0", "", "/", "..", "ALE/../../x", "A" * 1_000_000, ESCAPES, "m$\\frac$",
    "\ud800", "a\0b", "Pong\nPong",
)  # fmt: skip
EVIL = """
import pathlib
import gymnasium
(pathlib.Path(__file__).parent / "executed").touch()
gymnasium.register("Evil-v0", entry_point=None)
"""


def _strange(game: str) -> Spoil:
    def spoil(run: Path) -> None:
        for path in (run / "stranger.py", run / "stranger" / "deeper.py"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(EVIL)
        _with_settings(lambda settings: settings["environment"].update(game=game))(run)

    return spoil


def _wrong_settings(run: Path) -> Iterator[Case]:
    for game in GAMES:
        yield Case(f"a game called {game[:40]!r}", _strange(game))
    values = itertools.cycle(VALUES)
    for group in fields(Settings):
        for setting in fields(group.default_factory):
            for value in itertools.islice(values, 2):
                what = f"{group.name}.{setting.name} is {str(value)[:20]!r}"
                yield Case(what, _with_settings(lambda s, g=group.name, n=setting.name, v=value: s[g].update({n: v})))


TEXTS = {
    "nested a hundred thousand times": "[" * 100_000,
    "nested and closed": '{"settings":' * 50_000 + "1" + "}" * 50_000,
    "a number of 10,000 digits": '{"settings": ' + "1" * 10_000 + "}",
    "a list": "[1, 2]",
    "null": "null",
    "a word": '"settings"',
    "without settings": '{"history": []}',
    "settings that are none": '{"settings": 5}',
    "groups that are lists": '{"settings": {"environment": [], "schedule": [], "learning": [], "run": []}}',
}


def _wrong_json(run: Path) -> Iterator[Case]:
    for file, (what, text) in itertools.product(("config.json", "evaluation.json", ".lock"), TEXTS.items()):
        yield Case(f"{file}: {what}", _replaced(file, lambda path, text=text: path.write_text(text)))
    for name, value in itertools.product(
        ("history", "command", "protocol", "versions", "hardware"), (5, [[]], ESCAPES)
    ):
        yield Case(f"config.json: {name} is {str(value)[:10]!r}", _with_entry(name, value))


def _with_entry(name: str, value) -> Spoil:
    def spoil(run: Path) -> None:
        path = run / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {name: value}), encoding="utf-8")

    return spoil


# Logs


CELLS = ("nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "9" * 5000, '"', ESCAPES, "\0", "=cmd()", "")


EVERY = "every number"


def _with_rows(file: str, column: str, cell: str) -> Spoil:
    """`column` may be EVERY of them."""

    def spoil(run: Path) -> None:
        path = run / file
        header, *rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else [column]
        wrong = [cell if column in (name, EVERY) else "1" for name in header.split(",")]
        path.write_text("\n".join([header, *rows, *[",".join(wrong)] * 50, ""]), encoding="utf-8")

    return spoil


def _wrong_logs(run: Path) -> Iterator[Case]:
    for (file, column), cell in itertools.product([*LOGS.items(), *((file, EVERY) for file in LOGS)], CELLS):
        yield Case(f"{file}: {column} {cell[:10]!r}", _with_rows(file, column, cell))
    for file in LOGS:
        for what, text in {
            "twice the same column": "seconds,seconds,steps\n1,2,3\n",
            "20,000 columns": ",".join(f"c{i}" for i in range(20_000)) + "\n" + "1," * 19_999 + "1\n",
            "a column called by escapes": f"seconds,steps,{ESCAPES}\n1,2,3\n",
            "no header": "1,2,3\n4,5,6\n",
        }.items():
            yield Case(f"{file}: {what}", _replaced(file, lambda path, text=text: path.write_text(text)))


# Checkpoints


def _bomb(path: Path) -> None:
    """Small, and 2 GB when it is unpacked."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("network/0.npy", "w", force_zip64=True) as one,
    ):
        np.lib.format.write_array_header_1_0(one, {"descr": "|u1", "fortran_order": False, "shape": (1 << 31,)})
        for _ in range(1 << 7):
            one.write(bytes(1 << 24))


def _promise(descr: str, shape: tuple) -> Callable[[Path], None]:
    """A member whose header says that it is large."""

    def put(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as file, file.open("network/0.npy", "w", force_zip64=True) as one:
            np.lib.format.write_array_header_1_0(one, {"descr": descr, "fortran_order": False, "shape": shape})
            one.write(bytes(1000))

    return put


class _Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def _pickle(path: Path) -> None:
    np.savez(path, meta=np.array([_Evil()], object), **{"network/0": np.array([_Evil()], object)})


def _half(path: Path) -> None:
    whole = path.with_name("whole.npz").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _members(**members: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(name, content)

    return put


CHECKPOINTS: dict[str, Callable[[Path], None]] = {
    "a zip bomb": _bomb,
    "promises an exabyte": _promise("<f8", (1 << 57,)),
    "promises 4 GB": _promise("<f4", (1 << 30,)),
    "a shape that overflows": _promise("<f4", (1 << 40, 1 << 40)),
    "a negative shape": _promise("<f4", (-1, 5)),
    "a type that is an expression": _promise("__import__('os').mkdir('executed')", (1,)),
    "objects": _pickle,
    "no members": _members(),
    "members that are no arrays": _members(**{"meta.npy": b"meta", "network/0.npy": b"\x93NUMPY\xff\xff"}),
    "members with the paths of others": _members(**{"../../../outside/precious.txt": b"overwritten"}),
}
METAS: dict[str, Callable[[dict], object]] = {
    "without totals": lambda meta: meta.pop("totals"),
    "without settings": lambda meta: meta.pop("settings"),
    "counts below zero": lambda meta: meta.update(counts=[-1, -1, -1]),
    "a million agents": lambda meta: meta.update(counts=[10**6, 10**6, 10**6]),
    "counts of words": lambda meta: meta.update(counts=["a", "b", "c"]),
    "infinite steps": lambda meta: meta["totals"].update(steps=float("inf")),
    "huge steps": lambda meta: meta["totals"].update(steps=10**400),
    "time that is not a number": lambda meta: meta["totals"].update(seconds=float("nan")),
    "totals that nobody knows": lambda meta: meta["totals"].update({ESCAPES: 5}),
    "scores of words": lambda meta: meta.update(recent_scores=["a"] * 100),
    "endless scores": lambda meta: meta.update(recent_scores=[1e308] * 100_000),
    "agents numbered by words": lambda meta: meta.update(next_agent="x"),
    "a protocol that is a list": lambda meta: meta.update(protocol=[[[]]]),
}


def _only_checkpoint(put: Callable[[Path], None]) -> Spoil:
    def spoil(run: Path) -> None:
        paths = list((run / "checkpoints").glob("*.npz"))
        whole = run / "checkpoints" / "whole.npz"
        paths[0].replace(whole)
        for path in paths:
            path.unlink(missing_ok=True)
            put(path)
        whole.unlink(missing_ok=True)

    return spoil


def _wrong_arrays(change: Callable[[dict], object]) -> Spoil:
    def spoil(run: Path) -> None:
        for path in (run / "checkpoints").glob("*.npz"):
            with np.load(path) as file:
                arrays = dict(file)
            change(arrays)
            path.unlink()
            np.savez(path, **arrays)

    return spoil


ARRAYS: dict[str, Callable[[dict], object]] = {
    "weights that are not finite": lambda arrays: arrays.update({"network/0": arrays["network/0"] * np.nan}),
    "weights of another shape": lambda arrays: arrays.update({"network/0": np.zeros((3, 3), np.float32)}),
    "weights of another type": lambda arrays: arrays.update({"network/0": arrays["network/0"].astype(np.complex64)}),
    "no weights": lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("network")],
    "a version below zero": lambda arrays: arrays.update(version=np.int64(-5)),
    "a version that is a list": lambda arrays: arrays.update(version=np.zeros(5)),
    "a meta that is text": lambda arrays: arrays.update(meta=np.array("text")),
    "a meta that is nested": lambda arrays: arrays.update(meta=np.frombuffer(b"[" * 100_000, np.uint8)),
}


def _wrong_checkpoints(run: Path) -> Iterator[Case]:
    for what, put in CHECKPOINTS.items():
        yield Case(f"checkpoint: {what}", _only_checkpoint(put))
    yield Case("checkpoint: half of it", _only_checkpoint(_half))
    for what, change in METAS.items():

        def spoil(run: Path, change=change) -> None:
            for path in (run / "checkpoints").glob("*.npz"):
                _with_meta(path, change)

        yield Case(f"checkpoint: {what}", spoil)
    for what, change in ARRAYS.items():
        yield Case(f"checkpoint: {what}", _wrong_arrays(change))


def cases(run: Path) -> list[Case]:
    """All of them. `run`: the sound one."""
    kinds = (_wrong_settings, _wrong_json, _wrong_logs, _wrong_checkpoints, _any_files)
    return [case for kind in kinds for case in kind(run)]


# Commands


def commands(run: Path, out: Path) -> dict[str, list[str]]:
    """Every command that reads a run, and where it writes to."""
    return {
        "watch": ["watch", str(run)],
        "list": ["list", "--results", str(run.parent.parent)],
        "plot": ["plot", str(run)],
        "plot --out": ["plot", str(run), "--out", str(out / "plot.png")],
        "play": ["play", str(run), "--record", str(out / "game.gif")],
        "play --best": ["play", str(run), "--best", "--record", str(out / "game.gif")],
        "evaluate": ["evaluate", str(run), "--episodes", "1", "--json", str(out / "scores.json")],
        "report": ["report", str(run), "--episodes", "1", "--out", str(out / "report.html")],
        "export": ["export", str(run), "--episodes", "1", "--out", str(out / "agent")],
        "train --from": ["train", "--game", "CartPole-v1", "--from", str(run), "--steps", "1",
                         "--agents", "1", "--envs-per-agent", "1", "--run-dir", str(out / "new")],
        "train --resume": ["train", "--resume", str(run), "--steps", "1"],
        "dashboard": ["dashboard", "--results", str(run.parent.parent)],
    }  # fmt: skip


class _Page(dashboard_client.Client):
    """The dashboard's page, in this process."""

    def __init__(self, results: Path):
        from ga3c.views.dashboard import page

        self._client, self.charts = page.make(results).test_client(), []
        self.values = dashboard_client.VALUES | {
            "runs.value": [f"{run.parent.name}/{run.name}" for run in results.glob("*/*")]
        }

    def ask(self, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        kind = "application/json"
        answer = self._client.get(path) if body is None else self._client.post(path, data=body, content_type=kind)
        return answer.status_code, answer.data


def _look_at_dashboard(results: Path) -> int:
    """Asks twice for what a browser asks for: charts come with what the first answers say. Returns an exit status."""
    page = _Page(results)
    page.open()
    for _ in range(2):
        page.update()
    return 0


@dataclass(frozen=True)
class Opened:
    """What came of a command."""

    status: int | None  # None: it hung
    output: str
    most_bytes: int  # resident, at its largest


def open_with(arguments: list[str], here: Path, log: Path) -> Opened:
    """Runs a command in a fork of this process, which has loaded the program already. `here`: it stands there."""
    before = time.monotonic()
    child = os.fork()
    if not child:
        _be(arguments, here, log)
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - before > HANG_SECONDS:
            os.killpg(child, signal.SIGKILL)
            os.wait4(child, 0)
            return Opened(None, log.read_text(errors="replace"), 0)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it started
    return Opened(os.waitstatus_to_exitcode(status), log.read_text(errors="replace"), 1024 * usage.ru_maxrss)


def _be(arguments: list[str], here: Path, log: Path) -> None:
    """In the fork: becomes the command, and never returns."""
    status = 70
    try:
        os.setsid()
        os.chdir(here)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(opened, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        from ga3c.__main__ import main

        sys.argv = ["ga3c", *arguments]
        status = _look_at_dashboard(Path(arguments[-1])) if arguments[0] == "dashboard" else main(arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
                if hasattr(stream, "wait"):  # a thread writes what a training run says
                    stream.wait(HANG_SECONDS)
        os._exit(status or 0)


def fingerprint(folder: Path) -> dict[str, str]:
    """Of everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        found[str(path.relative_to(folder))] = f"{stat.S_IFMT(status.st_mode):o} {content}"
    return found


class Hostile:
    """A folder with a sound run, hostile ones made from it when they are needed, and what is none of their business."""

    def __init__(self, folder: Path):
        self.folder, self.sound = folder, folder / "sound" / "CartPole" / "sound"
        self.out = folder / "out"
        for path in (self.sound.parent, folder / "outside"):
            path.mkdir(parents=True)
        (folder / PRECIOUS).write_text("precious\n" * 100)
        train = ["--game", "CartPole-v1", "--agents", "1", "--envs-per-agent", "4", "--steps", "3000", "--seed", "1"]
        done = program.run(*train, "--run-dir", self.sound, "--log-seconds", "0.5", "--checkpoint-seconds", "1")
        assert done.returncode == 0, done.stderr
        newest = max((self.sound / "checkpoints").glob("checkpoint-*.npz"))
        best = self.sound / "checkpoints" / "best.npz"
        best.unlink(missing_ok=True)
        shutil.copyfile(newest, best)
        self._usual: dict[str, Opened] = {}

    def usual(self, command: str) -> Opened:
        """What a command says to the sound run."""
        if command not in self._usual:
            self._usual[command] = self._open(self.sound, command)
            assert self._usual[command].status == 0, (command, self._usual[command].output)
        return self._usual[command]

    def _open(self, run: Path, command: str) -> Opened:
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        return open_with(commands(run, self.out)[command], run, self.folder / "output")

    def problems(self, case: Case, command: str) -> list[str]:
        """What is wrong with how a command takes a hostile run; [] if nothing is."""
        place = self.folder / "hostile"
        shutil.rmtree(place, ignore_errors=True)
        run = place / "CartPole" / "run"
        shutil.copytree(self.sound, run, symlinks=True)
        case.spoil(run)
        before = fingerprint(self.folder / "outside")
        opened = self._open(run, command)
        found = []
        if opened.status is None:
            found.append("hangs")
        elif opened.status not in (0, 2) and not (opened.status == 1 and command.startswith("train")):
            found.append(f"exit status {opened.status}")
        if "Traceback" in opened.output:
            found.append("a traceback")
        if opened.status == 2 and sum(line.startswith("ga3c: ") for line in opened.output.split("\n")) != 1:
            found.append("does not say in one line what is wrong")
        if control := {c for c in opened.output if (ord(c) < 32 and c not in "\n\r\t") or 126 < ord(c) < 160}:
            found.append(f"control characters {sorted(control)}")
        if max(map(len, opened.output.split("\n"))) > 10_000:
            found.append("an endless line")
        if opened.most_bytes > MOST_BYTES and opened.most_bytes > self.usual(command).most_bytes + MORE_MEMORY_BYTES:
            found.append(f"{opened.most_bytes / 1e6:.0f} MB of memory")
        if any(run.rglob("executed")):
            found.append("executed what the run brought along")
        if fingerprint(self.folder / "outside") != before:
            found.append("changed what is none of its business")
        return [f"{text}\n    {opened.output[-1500:]}" for text in found]


def warm_up() -> None:
    """Loads what the commands need, so that each of the forks has it already."""
    import ga3c.__main__
    import ga3c.devices.device
    import ga3c.model
    import ga3c.views.dashboard.page
    import ga3c.views.plot  # noqa: F401


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="is made, and must not be there; hostile runs there are made anew")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N")
    parser.add_argument("--only", default="", metavar="TEXT", help="those with this in 'COMMAND | RUN'")
    parser.add_argument("--also", metavar="TEXT", help="all with this there, besides one of N")
    options = parser.parse_args()
    folder = options.folder.absolute()
    if folder.exists() and not (folder / PRECIOUS).exists():
        parser.error(f"{folder} is there already: name another")
    shutil.rmtree(folder, ignore_errors=True)
    hostile = Hostile(folder)
    warm_up()
    pairs = list(itertools.product(cases(hostile.sound), commands(Path(), Path())))
    named = {pair: f"{pair[1]} | {pair[0].name}" for pair in pairs}
    chosen = [pair for pair in pairs if options.only in named[pair]][:: options.every]
    if options.also:
        chosen += [pair for pair in pairs if options.also in named[pair] and pair not in chosen]
    print(f"{len(chosen)} of {len(pairs)}: {len(cases(hostile.sound))} runs, {len(commands(Path(), Path()))} commands")
    for command in commands(Path(), Path()) if options.every == 1 and not options.only else ():
        hostile.usual(command)  # each opens the sound run
    bad = 0
    for number, (case, command) in enumerate(chosen, start=1):
        if number % 50 == 0:
            print(f"{number} of them", flush=True)
        for problem in hostile.problems(case, command):
            bad += 1
            print(f"{command} | {case.name}: {problem}", flush=True)
    print(f"{bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
