"""Checks what a game's own code returns, and names its errors in the game's words."""

import contextlib
import reprlib
import sys
from collections.abc import Iterator, Mapping

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeLimit

from ga3c.environments.action_masks import Masks, method_of
from ga3c.environments.game_fault import GameFault
from ga3c.errors import ConfigError
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings, game_arguments

LARGEST_REWARD = float(np.finfo(np.float32).max)
BOUNDS_LOOKS = 1_000  # observations of each game that are compared with the bounds of their space
OWN = "ga3c: "  # the beginning of our own lines in a game's process
NOTED: set[str] = set()  # the lines that this process has written
RESET = "reset(self, *, seed=None, options=None), which returns observation, info"
STEP = "step(self, action), which returns observation, reward, terminated, truncated, info"


@contextlib.contextmanager
def blaming(what: str) -> Iterator[None]:
    """Calls a game's own code: any exception becomes a ConfigError with `what` and the reason."""
    try:
        yield
    except ConfigError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):  # most likely Ctrl+C
            raise
        raise ConfigError(f"{what}: {reason(error)}.") from error


def reason(error: BaseException) -> str:
    """Returns the type and text of an exception in one line; for our own `GameFault` the text alone."""
    if isinstance(error, GameFault):
        return str(error)
    try:
        said = " ".join(str(error).split()).rstrip(".")
    except BaseException:  # its own text fails
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def make(name: str, settings: EnvironmentSettings, render_mode: str | None = None) -> gymnasium.Env:
    """Makes a game whose results are checked, with the arguments and the wrappers that the settings name.

    It is registered, or made by the object of its name. Of its `info` only a mask of actions is kept, as `action_masks`
    says: the rest may be anything.
    """
    options = game_arguments(settings) | ({"render_mode": render_mode} if render_mode else {})
    known = name.rpartition(":")[2]
    own = ":" in name and (named_objects.given(name) or known not in gymnasium.registry)
    made_by = EnvSpec(known, named_objects.find(name, "The game")) if own else name
    game = gymnasium.make(made_by, disable_env_checker=True, **options)  # Gymnasium's checker only warns
    for wrapper in settings.wrapper:
        game = named_objects.find(wrapper, "--wrapper")(game)
    layer = game
    while isinstance(layer, gymnasium.Wrapper) and not isinstance(layer, TimeLimit):
        layer = layer.env
    if isinstance(layer, TimeLimit):  # it unpacks the result of a step, and would fail with another message
        layer.env = _Returned(layer.env)
    return Checked(_Returned(game), name, settings.action_masks)


class _Returned(gymnasium.Wrapper):
    """Checks the arguments and the number of results of reset and step, which differ in the old Gym."""

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        try:
            result = self.env.reset(seed=seed, options=options)
        except TypeError as error:
            if "unexpected keyword argument" not in str(error) or not _is_of_the_call(error):
                raise
            raise GameFault(f"reset() takes no seed or no options ({error}): Gymnasium wants {RESET}") from error
        if not (isinstance(result, tuple) and len(result) == 2):
            raise GameFault(f"reset() returned {_what(result)}: Gymnasium wants {RESET}")
        return result

    def step(self, action):
        result = self.env.step(action)
        if not (isinstance(result, tuple) and len(result) == 5):
            old = ", as the old Gym did" if isinstance(result, tuple) and len(result) == 4 else ""
            raise GameFault(f"step() returned {_what(result)}{old}: Gymnasium wants {STEP}")
        return result


def _is_of_the_call(error: TypeError) -> bool:
    """Returns True if Gymnasium's call raised it, and not the game's own code."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_globals.get("__name__", "").startswith(("gymnasium.", __name__))


def _what(result) -> str:
    return f"{len(result)} values" if isinstance(result, tuple) else f"one value, of type {type(result).__name__}"


class Checked(gymnasium.Wrapper):
    """Checks the values of a game. Vector environments would convert them silently, or fail with an unclear error."""

    def __init__(self, game: gymnasium.Env, name: str, with_masks: bool = True):
        super().__init__(game)
        self._name, self._looks = name, BOUNDS_LOOKS
        self._masks = Masks(game.action_space, method_of(game)) if with_masks else Masks(None)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        observation, info = self.env.reset(seed=seed, options=options or None)
        return self._checked(observation, "reset()"), self._masks.of(info, "reset()", over=False)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not is_reward(reward):
            what = f"the reward {reprlib.repr(reward)}, which is no finite number of float32"
            raise GameFault(f"step() returned {what}: Gymnasium wants {STEP}")
        for name, value in (("terminated", terminated), ("truncated", truncated)):
            if np.ndim(value) or np.asarray(value).dtype.kind not in "biu":
                what = f"{reprlib.repr(value)} as {name}, which is not True or False"
                raise GameFault(f"step() returned {what}: Gymnasium wants {STEP}")
        observation = self._checked(observation, "step()")
        return observation, reward, terminated, truncated, self._masks.of(info, "step()", bool(terminated or truncated))

    def close(self):
        with contextlib.suppress(ConfigError), blaming("It cannot be closed"):  # the game is not needed any more
            self.env.close()

    def _checked(self, observation, method: str):
        space = self.env.observation_space
        if fault := fault_of(space, observation):
            raise GameFault(f"{method} returned an observation that {fault}: its observation_space says so")
        if self._looks:
            self._looks -= 1
            if not _is_within(space, observation):
                self._looks = 0
                _note(
                    f"The game '{self._name}' returned an observation outside its observation_space, from {method}: it "
                    "is taken as it is. Gymnasium wants it within: give the Box bounds that hold."
                )
        return observation


def fault_of(space: spaces.Space, value) -> str:
    """Returns the fault of an observation, or of a part of one; an empty text if there is none."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(space):
            return f"has not just the keys {', '.join(map(str, space))}"
        return next(filter(None, (fault_of(space[key], value[key]) for key in space)), "")
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, tuple | list) or len(value) != len(space):
            return f"has not {len(space)} parts"
        return next(filter(None, map(fault_of, space, value)), "")
    if isinstance(space, spaces.Discrete):
        first, last = int(space.start), int(space.start + space.n - 1)
        fits = np.size(value) == 1 and np.asarray(value).dtype.kind in "biu" and first <= int(value) <= last
        return "" if fits else f"is {reprlib.repr(value)}, not a whole number from {first} to {last}"
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return "" if space.contains(np.asarray(value)) else f"is {reprlib.repr(value)}, not in {reprlib.repr(space)}"
    if not isinstance(space, spaces.Box):
        return ""
    array = np.asarray(value)
    if array.shape != space.shape:
        return f"has the shape {array.shape}, not {space.shape}"
    if not np.can_cast(array.dtype, space.dtype, "same_kind"):
        return f"has the dtype {array.dtype}, which does not fit {space.dtype}"
    with np.errstate(over="ignore"):  # networks take float32
        finite = array.dtype.kind != "f" or np.isfinite(array.astype(np.float32)).all()
    return "" if finite else "holds a number that is not finite"


def _is_within(space: spaces.Space, value) -> bool:
    """Returns True if a value is within the bounds of a Box."""
    if not isinstance(space, spaces.Box) or space.dtype == np.uint8:
        return True
    return bool(((value >= space.low) & (value <= space.high)).all())


def _note(what: str) -> None:
    """Writes a line to standard error, once in each process. A run shows each line once (`records.game_output`)."""
    if (line := OWN + what) not in NOTED:
        NOTED.add(line)
        sys.stderr.write(f"{line}\n")  # in one call: other processes write here, too


def is_reward(value) -> bool:
    """Returns True if it is a finite number of float32, the dtype of rollouts."""
    try:
        return np.ndim(value) == 0 and bool(-LARGEST_REWARD <= value <= LARGEST_REWARD)
    except TypeError:  # a text, a complex number
        return False
