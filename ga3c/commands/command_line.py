"""Command lines from dataclasses (tyro): a field is a flag, the text below it is its help."""

import contextlib
import io
import re
from dataclasses import replace
from types import NoneType, UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin

import tyro

from ga3c.errors import ConfigError

T = TypeVar("T")
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


def parse(options: type[T], arguments: list[str], default: T, description: str, command: str) -> T:
    """Parses flags into `options`, over `default`. Raises ConfigError, of one line, for anything wrong."""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), _types:
            return tyro.cli(
                tyro.conf.OmitArgPrefixes[options],
                prog=f"./run.sh {command}",
                description=description,
                args=arguments,
                default=default,
                config=(tyro.conf.HelptextFromCommentsOff,),
            )
    except SystemExit as end:
        if end.code:
            raise ConfigError(_one_line(errors.getvalue())) from None
        raise


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
    return " ".join(what.split()).rstrip(".") + f".{hint} See --help."
