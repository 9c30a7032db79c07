"""Objects of the user's own that settings name (package.module:name): found in their module, or handed over in Python.

A setting is a word, which a run's files can hold. An object of a module has the word package.module:name. Any other
object, such as a class of a notebook, is kept here under the word __main__:name, and reaches agents by value.
"""

import contextlib
import functools
import importlib
import re
import reprlib
import sys
import types
from collections.abc import Iterable, Iterator

from ga3c.errors import ConfigError

MAIN = "__main__"
_given: dict[str, object] = {}  # by name


def is_name(word: str | None) -> bool:
    """Returns True if a setting's value names an object, and not something that comes with the program."""
    return bool(word) and ":" in word


def is_of_no_module(name: str) -> bool:
    """Returns True if no other process can import the object."""
    return name.startswith(f"{MAIN}:")


def check_form(flag: str, name: str, wanted: str) -> None:
    """Raises ConfigError if a setting is not of the form package.module:name."""
    module, _, path = name.partition(":")
    if not all(map(str.isidentifier, (*module.split("."), *path.split(".")))) and not is_of_no_module(name):
        raise ConfigError(f"invalid choice {reprlib.repr(name)} for argument '{flag}'. Expected {wanted}. See --help.")


def name_of(thing) -> str:
    """Returns the name of an object. One that cannot be imported is kept under its name."""
    name = known_name(thing)
    if is_of_no_module(name):
        give(name, thing)
    return name


def known_name(thing) -> str:
    """Returns the name that an object has here already, or will get."""
    name = first = plain_name(thing)
    if not is_of_no_module(name):
        return name
    for known, before in reversed(_given.items()):
        if before is thing and may_have(known, thing):
            return known
    number = 1
    while name in _given and _is_another(thing, _given[name]):
        number += 1
        name = f"{first}-{number}"
    return name


def plain_name(thing) -> str:
    """Returns the name of an object, without the number that one of no module may get."""
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if module and path and module != MAIN and _part(sys.modules.get(module), path) is thing:
        return f"{module}:{path}"
    called = thing.func if isinstance(thing, functools.partial) else thing
    known = getattr(getattr(thing, "spec", None), "id", None)  # of an environment
    plain = known or getattr(called, "__name__", type(called).__name__)
    return f"{MAIN}:{re.sub(r'[^A-Za-z0-9_./-]', '', plain) or 'own'}"


def may_have(name: str, thing) -> bool:
    """Returns True if an object of no module may have got this name in another process."""
    plain = plain_name(thing)
    return is_of_no_module(plain) and re.fullmatch(rf"{re.escape(plain)}(-\d+)?", name) is not None


def _is_another(thing, before) -> bool:
    """Returns False for a newer form of the object that had its name before, as a class, a function or a registered
    vector environment of a cell that was run again. What a function makes, and any other object, may be one of many."""
    if isinstance(thing, functools.partial):
        kept = ("func", "args", "keywords")
    elif getattr(getattr(thing, "spec", None), "id", None) and getattr(thing, "unwrapped", None) is thing:
        kept = ("__class__", "spec")
    elif isinstance(thing, types.MethodType):
        kept = ("__self__", "__func__")
    elif isinstance(thing, types.FunctionType):
        if thing.__name__ == thing.__qualname__ != "<lambda>":
            return False
        kept = ("__code__", "__closure__", "__defaults__", "__kwdefaults__")
    else:
        return not isinstance(thing, type) or thing.__name__ != thing.__qualname__
    try:
        return any(getattr(thing, name) != getattr(before, name, None) for name in kept)
    except Exception:  # what they hold cannot be compared, as arrays cannot
        return thing is not before


def give(name: str, thing) -> None:
    """Keeps an object under a name, in this process."""
    _given.pop(name, None)  # the newest comes last
    _given[name] = thing


def given(name: str):
    """Returns the object that was handed over under a name; None if there is none."""
    return _given.get(name)


def is_there(name: str) -> bool:
    """Returns True if the object is there without an import."""
    module, _, path = name.partition(":")
    return name in _given or _part(sys.modules.get(module), path) is not None


def find(name: str, what: str):
    """Returns the object of a name. what: the setting that names it, for an error. Raises ConfigError.

    It imports the module. `environments.own_games` says when that may be done.
    """
    if name in _given:
        return _given[name]
    module, _, path = name.partition(":")
    if module == MAIN:
        raise ConfigError(f"{what} {name} was defined in a script or a notebook, and not in a module: {FROM_THERE}.")
    try:
        found = _part(importlib.import_module(module), path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may do anything
        said = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(f"Cannot import '{module}' of {what} {name}: {type(error).__name__}: {said}.") from error
    if found is None:
        raise ConfigError(f"{what} {name}: there is no '{path}' in the module '{module}'.")
    return found


FROM_THERE = "use it there (ga3c.load with environment=, wrapper=, network= or algorithm=), or move it into a module"


@contextlib.contextmanager
def blaming(flag: str, name: str) -> Iterator[None]:
    """Calls an object's own code: any exception becomes a ConfigError with its name and the reason."""
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(f"{flag} {name} failed: {type(error).__name__}: {said}.") from error


def check_importable(names: Iterable[str]) -> None:
    """Raises ConfigError for an object of no module: other machines could not import it."""
    for name in filter(is_of_no_module, names):
        raise ConfigError(f"--cluster does not go with {name}, which no other process can import: put it in a module.")


def _part(module, path: str):
    """Returns the part of a module that a dotted path leads to; None if there is none."""
    for word in path.split("."):
        module = getattr(module, word, None)
    return module


def packed(names: list[str]) -> bytes:
    """Returns those of the objects that no other process can import, by value. Raises ConfigError."""
    things = {name: _given[name] for name in names if name in _given}
    if not things:
        return b""
    import cloudpickle  # here alone: most runs have no such object

    try:
        return cloudpickle.dumps(things)
    except Exception as error:  # whatever an object's own code raises
        said = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(
            f"{', '.join(things)} cannot be sent to agents ({type(error).__name__}: {said}): make what it holds in its "
            "__init__, put it in a module, or train with serial=True, which starts no process."
        ) from error


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Lets a process that is started meanwhile not import the main module.

    That may be a user's script, which would train again. What the process needs of it reaches it by `packed`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def unpack(content: bytes) -> None:
    """Keeps the objects of `packed`, in another process."""
    if content:
        import pickle

        _given.update(pickle.loads(content))
