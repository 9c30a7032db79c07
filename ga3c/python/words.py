"""Arguments of Python calls as words of the command line, so that both have the same settings and the same errors."""

import contextlib
import functools
import inspect
import json
import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import VectorEnv

from ga3c.environments import own_games
from ga3c.errors import ConfigError
from ga3c.records import chosen_runs
from ga3c.records.description import read_settings
from ga3c.settings import flag_of, named_objects
from ga3c.settings.catalogue import ALGORITHMS
from ga3c.settings.run import RunSettings

IN_ONE_BATCH = "lockstep"  # the default's constants, for games that step as one batch


def words_of(environment: Any, network: Any, algorithm: Any, settings: dict[str, Any]) -> list[str]:
    """Returns the words of `train` for the arguments of `ga3c.train`. Raises ConfigError."""
    if asked := {"help", "help_all"} & settings.keys():
        raise ConfigError(f"{asked.pop()} is for the command: ./run.sh --help-all names all settings.")
    if settings.get("resume"):
        _hand_over_again(environment, network, algorithm, settings)
    named = {} if environment is None else _of_environment(environment, settings)
    if network is not None:
        named["network"] = _name(network)
    if algorithm is not None:
        named |= _of_algorithm(algorithm, settings)
    elif "games" in named and not any(settings.get(one) for one in ("preset", "resume", "start_from")):
        named["preset"] = IN_ONE_BATCH
    if doubled := sorted(named.keys() & settings.keys()):
        raise ConfigError(f"{doubled[0]} is said twice: leave one out.")
    return [word for name, value in (named | settings).items() for word in _words(name, value)]


def _hand_over_again(environment: Any, network: Any, algorithm: Any, settings: dict[str, Any]) -> None:
    """Puts objects of no module under the names that they have in the run that goes on."""
    wrappers = settings.get("wrapper") or ()
    several = wrappers if isinstance(wrappers, list | tuple) else [wrappers]
    things = {"game": [environment], "wrapper": several, "network": [network], "own_algorithm": [algorithm]}
    game = environment if isinstance(environment, str | None) else named_objects.known_name(environment)
    with contextlib.suppress(ConfigError):  # the call that follows finds the same
        named, place = settings["resume"], settings.get("run_dir")
        named = "newest" if isinstance(named, bool | np.bool_) else named
        asked = RunSettings(run_dir=place, resume=os.fspath(named) if isinstance(named, os.PathLike) else str(named))
        known = own_games.named(read_settings(chosen_runs.find(asked, game)))
        for setting, handed in things.items():
            names = [name for name, of in known.items() if of == setting]
            for name, thing in zip(names, handed, strict=False):
                if thing is not None and not isinstance(thing, str) and named_objects.may_have(name, thing):
                    named_objects.give(name, thing)


def _of_environment(environment: Any, settings: dict[str, Any]) -> dict[str, Any]:
    if isinstance(environment, gymnasium.Env):
        raise ConfigError(
            f"The environment {type(environment).__name__} is made already, and agents need one for each game: give "
            "the class, or a function that makes one."
        )
    named = {"game": _name(environment)}
    if isinstance(environment, VectorEnv):
        if settings.get("sampling", "batched") != "batched":
            raise ConfigError("A vector environment is stepped as one batch: leave sampling out.")
        for name in ("wrapper", "environment_arguments"):
            if settings.get(name):
                raise ConfigError(f"A vector environment is made already: leave {name} out, and make it with that.")
        named["games"] = environment.num_envs
        if "sampling" not in settings:
            named["sampling"] = "batched"
    return named


def _of_algorithm(algorithm: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings for an algorithm by name, or for an object: then also that of which it has the settings."""
    if isinstance(algorithm, str) and not named_objects.is_name(algorithm):
        return {"algorithm": algorithm}
    own = {"own_algorithm": _name(algorithm)}
    return own if "preset" in settings else own | {"algorithm": _kin(algorithm)}


def _kin(algorithm: Any) -> str:
    """Returns the algorithm of the catalogue that an object descends from, or else is most like."""
    if isinstance(algorithm, str):
        own_games.import_named(algorithm, "algorithm")
        algorithm = named_objects.find(algorithm, "The algorithm")
    if isinstance(algorithm, functools.partial):
        algorithm = algorithm.func
    kinds = inspect.getmro(algorithm if isinstance(algorithm, type) else type(algorithm))
    made_by = {row.made_by: name for name, row in reversed(ALGORITHMS.items())}
    for kind in kinds:
        if name := made_by.get(f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"):
            return name
    if getattr(algorithm, "replays", False):
        return "dqn"
    return "a3c" if "bootstrap_value" in getattr(algorithm, "learns_from", ()) else "a2c"


def _name(thing: Any) -> str:
    if isinstance(thing, str):
        return thing
    if not callable(thing) and not hasattr(thing, "update") and not isinstance(thing, VectorEnv):
        raise ConfigError(f"{thing!r} is no name, class or function.")
    return named_objects.name_of(thing)


def _words(name: str, value: Any) -> list[str]:
    """Returns the words for one setting; none for None, which leaves it out."""
    flag = flag_of(name)
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (name == "resume" and value is False):
        return []
    if isinstance(value, bool):
        return [flag_of(name if value else f"no_{name}")]
    if name in ("wrapper", "track"):
        return [flag, *map(_name, value if isinstance(value, list | tuple) else [value])]
    if name == "environment_arguments" and not isinstance(value, str):
        return [f"{flag}={_json(value)}"]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    word = str(value)
    return [f"{flag}={word}"] if word.startswith("-") else [flag, word]


def _json(arguments: Any) -> str:
    try:
        return json.dumps(arguments)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"environment_arguments cannot be written as JSON ({error}): hand over functools.partial(ENVIRONMENT, ...)."
        ) from error
