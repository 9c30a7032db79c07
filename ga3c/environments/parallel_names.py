"""The names of PettingZoo's parallel games: package.module:parallel_env, or package.module:Class."""

import inspect
from collections.abc import Callable

from ga3c.settings import named_objects

FUNCTION, CLASS = "parallel_env", "ParallelEnv"


def maker(name: str) -> Callable | None:
    """Returns what makes the parallel game of this name, whose module is imported; None if it names no such game."""
    attribute = name.partition(":")[2]
    found = named_objects.find(name, "The game") if named_objects.is_there(name) else None
    is_class = inspect.isclass(found) and any(one.__name__ == CLASS for one in found.__mro__)
    return found if is_class or (callable(found) and attribute == FUNCTION) else None


def shown_name(name: str) -> str:
    """Returns the canonical name of a parallel game: that of its module, or of its class."""
    module, _, attribute = name.partition(":")
    return module.rpartition(".")[2] if attribute == FUNCTION else attribute
