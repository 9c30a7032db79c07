"""Command lines from dataclasses (tyro): a field is a flag, the text below it is its help."""

import contextlib
import io
import json
import os
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin

import tyro

from ga3c.errors import ConfigError
from ga3c.records.files import write_whole

tyro._experimental_options["ansi_codes"] = False  # a terminal would get them in the middle of an error's one line

T = TypeVar("T")
# Fields that name files and directories, and the word for --resume that names none.
PATHS = ("checkpoint", "json", "out", "record", "results", "resume", "run", "run_dir", "runs", "start_from")
NEWEST = "newest"
RunArgument = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")]
"""The directory of a run, as `./run.sh COMMAND RUN`."""
_types = tyro.constructors.ConstructorRegistry()


@_types.primitive_rule
def _optional(asked: tyro.constructors.PrimitiveTypeInfo) -> tyro.constructors.PrimitiveConstructorSpec | None:
    """`T | None` is a T on the command line and in the help: who wants None leaves the flag out."""
    types = [kind for kind in get_args(asked.type) if kind is not NoneType]
    if get_origin(asked.type) not in (UnionType, Union) or len(types) != 1:
        return None
    spec = _types.get_primitive_spec(tyro.constructors.PrimitiveTypeInfo.make(types[0], set()))
    return replace(
        spec,
        is_instance=lambda value: value is None or spec.is_instance(value),
        str_from_instance=lambda value: ["none"] if value is None else spec.str_from_instance(value),
    )


@_types.primitive_rule
def _whole(asked: tyro.constructors.PrimitiveTypeInfo) -> tyro.constructors.PrimitiveConstructorSpec | None:
    """A whole number may be written as 1e6 or 1_000_000, too."""
    if asked.type is not int:
        return None

    def read(words: list[str]) -> int:
        if (number := whole_number(words[0])) is None:
            raise ValueError(f"{words[0]} is no whole number")
        return number

    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=read,
        is_instance=lambda value: isinstance(value, int) and not isinstance(value, bool),
        str_from_instance=lambda value: [str(value)],
    )


def whole_number(word: str | None) -> int | None:
    """None: it is none."""
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        return int(word)
    with contextlib.suppress(ValueError, OverflowError, TypeError):
        if (number := float(word)) == int(number):
            return int(number)
    return None


def parse(options: type[T], arguments: list[str], default: T, description: str, command: str) -> T:
    """Parses flags into `options`, over `default`. Raises ConfigError, of one line, for anything wrong.

    Paths are absolute from here on: a game's code, which may be loaded next, can go to another directory.
    """
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), _types:
            parsed = tyro.cli(
                tyro.conf.OmitArgPrefixes[options],
                prog=f"./run.sh {command}",
                description=description,
                args=arguments,
                default=default,
                config=(tyro.conf.HelptextFromCommentsOff,),
            )
        return _with_absolute_paths(parsed)
    except SystemExit as end:
        if end.code:
            raise ConfigError(_one_line(errors.getvalue())) from None
        raise


def _with_absolute_paths(options: T) -> T:
    """Of a dataclass, and of those in it."""
    changed = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if is_dataclass(value):
            changed[field.name] = _with_absolute_paths(value)
        elif field.name in PATHS and value and value != NEWEST:
            several = isinstance(value, tuple | list)
            changed[field.name] = type(value)(map(_absolute, value)) if several else _absolute(value)
    return replace(options, **changed)


def _absolute(path: str) -> str:
    with contextlib.suppress(OSError):  # where the person stood is gone
        return str(Path(path).absolute())
    return path


def check_writable(flag: str, path: Path, makes_directories: bool = False) -> None:
    """Before anything that takes time. Raises ConfigError where a file, or a directory, could not be written."""
    place = path if path.is_dir() else path.absolute().parent
    while makes_directories and not place.exists():
        place = place.parent
    if not place.is_dir():
        raise ConfigError(f"{flag} {path}: there is no directory {place}.")
    if not os.access(path if path.exists() else place, os.W_OK):
        raise ConfigError(f"{flag} {path}: it cannot be written there. Name another place.")


def write_json(file: str, content: dict) -> None:
    """Raises ConfigError."""
    try:
        write_whole(Path(file), json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise ConfigError(f"Cannot write {file}: {error.strerror}.") from error


def value_of(flag: str, arguments: list[str]) -> str | None:
    """The value that a flag has in the arguments, before they are parsed."""
    for argument, following in zip(arguments, [*arguments, None][1:], strict=True):
        if argument == flag:
            return following
        if argument.startswith(flag + "="):
            return argument.partition("=")[2]
    return None


def _one_line(box: str) -> str:
    """tyro's framed message, as one line: what is wrong, and the flags that come near."""
    lines = [line.strip("│|").strip() for line in box.splitlines() if not line.startswith(("╭", "╰"))]
    text = "\n".join(lines)
    what, _, rest = re.sub(r"[─]{3,}", "\0", text).partition("\0")
    near = re.findall(r"^(--[\w-]+)", rest, re.MULTILINE) if "Perhaps you meant" in rest else []
    hint = f" Nearest: {', '.join(dict.fromkeys(near))}." if near else ""
    what = what.replace("Expected 1 values", "It takes one value")
    return " ".join(what.split()).rstrip(".") + f".{hint} See --help."
