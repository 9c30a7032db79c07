"""Command lines from dataclasses (tyro): a field is a flag, the text below it is its help."""

import contextlib
import inspect
import io
import json
import math
import os
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import tyro

from ga3c.commands import COMMANDS
from ga3c.errors import ConfigError
from ga3c.installation import as_called
from ga3c.records import run_directory
from ga3c.records.files import write_whole
from ga3c.settings import flag_of

tyro._experimental_options["ansi_codes"] = False  # colour codes would stand in the one line of an error
_texts = tyro._docstrings.parse_docstring_from_object
# tyro would keep the line breaks of the source. A word that a setting may have gets a line of its own.
tyro._docstrings.parse_docstring_from_object = lambda kind: {
    name: re.sub(r"\n", "\n- ", re.sub(r"\n(?![\w-]+: )", " ", inspect.cleandoc(text)))
    for name, text in _texts(kind).items()
}
_help_text = tyro._arguments.generate_argument_helptext


def _without_empty_default(argument: Any, lowered: Any, compact: bool = False) -> Any:
    """An option that is left out by default has no word that could stand behind "default:"."""
    text = argument.field.helptext
    if compact or not text or argument.field.default not in (None, ()):
        return _help_text(argument, lowered, compact)
    return tyro._fmtlib.text(text() if callable(text) else text)


tyro._arguments.generate_argument_helptext = _without_empty_default

T = TypeVar("T")
# Fields that name files and directories; NEWEST is the value of --resume without one.
PATHS = ("checkpoint", "json", "out", "record", "results", "resume", "run", "run_dir", "runs", "start_from")
NEWEST = "newest"
HELP = {"--help", "-h"}
RunArgument = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")]
"""The directory of a run, as `./run.sh COMMAND RUN`."""
_types = tyro.constructors.ConstructorRegistry()


@_types.primitive_rule
def _optional(asked: tyro.constructors.PrimitiveTypeInfo) -> tyro.constructors.PrimitiveConstructorSpec | None:
    """Takes `T | None` for a T: for None the flag is left out."""
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
    """Takes whole numbers that are written as 1e6 or 1_000_000, too."""
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


def whole_number(word: str) -> int | None:
    """Returns the number that a word stands for; None if that is no whole number."""
    with contextlib.suppress(ValueError, OverflowError):
        return int(word)
    with contextlib.suppress(ValueError, OverflowError):
        if (number := float(word)) == int(number):
            return int(number)
    return None


def parse(options: type[T], arguments: list[str], default: T, description: str, command: str) -> T:
    """Parses flags into `options`, over `default`. Raises ConfigError, of one line, for anything wrong.

    Paths become absolute, because a game's code may change the working directory.
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
            raise ConfigError(_with_hint(_one_line(errors.getvalue()), arguments, default)) from None
        raise


def parse_given(options: type, arguments: list[str], description: str, command: str) -> dict[str, Any]:
    """Returns the options that the arguments give, by name. Raises ConfigError, of one line, for anything wrong.

    With --help nothing is wrong: what cannot be parsed gives nothing.
    """
    words = [word for word in arguments if word not in HELP]
    try:
        parsed = parse(options, words, options(), description, command)
    except ConfigError:
        if words == arguments:
            raise
        return {}
    flags = flags_in(words)
    return {name: value for name, value in _values(parsed).items() if {flag_of(name), flag_of(f"no_{name}")} & flags}


def flags_in(arguments: Iterable[str]) -> set[str]:
    """Returns the flags among the arguments, with dashes and without their values."""
    return {word.partition("=")[0].replace("_", "-") for word in arguments if word.startswith("--")}


def _values(options: Any) -> dict[str, Any]:
    """Returns the values in a dataclass and in the dataclasses in it, by name."""
    values = {}
    for name, value in vars(options).items():
        values |= _values(value) if is_dataclass(value) else {name: value}
    return values


def with_values(options: T, values: dict[str, Any]) -> T:
    """Returns `options` with other values, each in the dataclass that has a field of its name."""
    changed = {name: values[name] for name in vars(options) if name in values}
    inner = {name: with_values(value, values) for name, value in vars(options).items() if is_dataclass(value)}
    return replace(options, **inner, **changed)


def _with_absolute_paths(options: T) -> T:
    """Makes the paths in a dataclass, and in those in it, absolute."""
    changed = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if "" in (value if isinstance(value, tuple) else (value,)) and value != field.default:
            flag = flag_of(field.name)
            raise ConfigError(f"{flag} '': an empty text names nothing. Leave it out, or name something.")
        if is_dataclass(value):
            changed[field.name] = _with_absolute_paths(value)
        elif field.name in PATHS and value and value != NEWEST:
            several = isinstance(value, tuple | list)
            changed[field.name] = type(value)(map(_absolute, value)) if several else _absolute(value)
    return replace(options, **changed)


def _absolute(path: str) -> str:
    with contextlib.suppress(OSError):  # the working directory is gone
        return str(Path(path).absolute())
    return path


def check_range(name: str, value: float, least: float, most: float = math.inf) -> None:
    """Raises ConfigError where the value of an option is not from `least` to `most`."""
    if not least <= value <= most or value == math.inf:
        said = f"{value:g}" if isinstance(value, float) else value
        wanted = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ConfigError(f"--{name} {said} is out of range: give a number {wanted}.")


def results_directory(named: str | None) -> Path:
    """Returns the directory that --results names, or the usual one. Raises ConfigError if it is not there."""
    results = Path(named) if named else run_directory.RESULTS
    if not results.is_dir():
        if not named:
            raise ConfigError(as_called(f"There are no runs yet (no {results}). Train one: ./run.sh --game Boxing"))
        raise ConfigError(f"--results {results}: there is no such directory.")
    return results


def check_writable(flag: str, path: Path, makes_directories: bool = False) -> None:
    """Raises ConfigError where a file, or with `makes_directories` a directory, could not be written. For use before
    what takes time."""
    if os.path.exists(path) and path.is_dir() != makes_directories:
        wanted = "no directory: name one" if makes_directories else "a directory: name a file"
        raise ConfigError(f"{flag} {path} is {wanted}.")
    if os.path.exists(path) and not makes_directories and not path.is_file():
        raise ConfigError(f"{flag} {path} is no plain file: name one.")  # a device would be replaced by one
    directory = path if os.path.isdir(path) else Path(_absolute(str(path))).parent
    while makes_directories and not os.path.exists(directory):
        directory = directory.parent
    if not os.path.isdir(directory):
        raise ConfigError(f"{flag} {path}: there is no directory {directory}.")
    if not all(os.access(one, os.W_OK) for one in {path, directory} if os.path.exists(one)):
        raise ConfigError(f"{flag} {path}: it cannot be written there. Name another place.")


def write_json(file: str, content: dict) -> None:
    """Writes a JSON file. Raises ConfigError."""
    try:
        write_whole(Path(file), json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise ConfigError(f"Cannot write {file}: {error.strerror}.") from error


def _with_hint(said: str, arguments: list[str], options: Any) -> str:
    """Returns an error with what was most likely meant by a word that is none of the options."""
    unknown = re.match(r"Unrecognized options: ([^,]+?)(?:, .*)?\. See --help\.$", said)
    word, hint = unknown[1] if unknown else "", ""
    if word in COMMANDS:
        hint = f"A command comes first: ./run.sh {word}."
    elif re.fullmatch(r"-[A-Za-z][\w-]+", word):
        hint = f"Options begin with two dashes: -{word}."
    elif word[:1].isalpha() and arguments[:1] == [word] and "game" in _values(options):
        hint = f"A game is named so: --game {word}."
    return as_called(f"{said.removesuffix('See --help.')}{hint} See --help.") if hint else said


def _one_line(box: str) -> str:
    """Returns tyro's framed message as one line: what is wrong, and the nearest flags."""
    lines = [line.strip("│|").strip() for line in box.strip().splitlines() if not line.startswith(("╭", "╰"))]
    framed = "╭" in box  # else, as in a notebook, the title and a rule of dashes are the first two lines
    text = "\n".join(lines if framed else lines[2:])
    what, _, rest = re.sub(r"^[─-]{3,}$", "\0", text, flags=re.MULTILINE).partition("\0")
    near = re.findall(r"^(--[\w-]+)", rest, re.MULTILINE) if "Perhaps you meant" in rest else []
    hint = f" Nearest: {', '.join(dict.fromkeys(near))}." if near else ""
    what = what.replace("Expected 1 values", "It takes one value")
    return " ".join(what.split()).rstrip(".") + f".{hint} See --help."
