"""The names of PettingZoo's parallel games: package.module:parallel_env, or package.module:Class."""

import functools
import inspect
from collections.abc import Callable

from ga3c.settings import named_objects

FUNCTION, CLASS = "parallel_env", "ParallelEnv"


def maker(name: str) -> Callable | None:
    """Returns what makes the parallel game of this name, whose module is imported; None if it names no such game."""
    attribute = name.partition(":")[2]
    found = named_objects.find(name, "The game") if named_objects.is_there(name) else None
    made = found.func if isinstance(found, functools.partial) else found
    is_class = inspect.isclass(made) and any(one.__name__ == CLASS for one in made.__mro__)
    is_function = callable(made) and FUNCTION in (attribute, getattr(made, "__name__", ""))
    return found if is_class or is_function else None


def shown_name(name: str) -> str:
    """Returns the plain name of a game: that of its module for PettingZoo's, else that of its class, or its id."""
    module, _, attribute = name.rpartition(":")
    of_module = attribute == FUNCTION and module != named_objects.MAIN
    return module.rpartition(".")[2] if of_module else attribute
