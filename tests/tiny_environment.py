"""An environment that is solved within seconds: `--game tests.tiny_environment:Match-v0`.

The state shows one of four symbols; the action that names it earns 1. A game is 20 steps: 20 points at best,
5 for a random player.
"""

import multiprocessing
import os
import random
import signal
import subprocess
import time

import gymnasium
import numpy as np

STEPS, SYMBOLS = 20, 4


class Match(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0.0, 1.0, (SYMBOLS,), np.float32)
    action_space = gymnasium.spaces.Discrete(SYMBOLS)

    def _show(self) -> np.ndarray:
        self._symbol = int(self.np_random.integers(SYMBOLS))
        return np.eye(SYMBOLS, dtype=np.float32)[self._symbol]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return self._show(), {}

    def step(self, action):
        reward = float(action == self._symbol)
        self._step += 1
        return self._show(), reward, self._step == STEPS, False, {}


class Reach(gymnasium.Env):
    """Shows two numbers that are to be named; each step costs the squared distance. A game is 20 steps.

    Naming 0 costs 13 points a game, what is shown none. An action out of its bounds ends the game with an error.
    """

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2, 1), np.float32)

    def _show(self) -> np.ndarray:
        self._wanted = self.np_random.uniform(-1, 1, 2)
        return 300 + 100 * self._wanted  # a network that does not standardize sees two constants

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return self._show(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        reward = -float(np.square(action[:, 0] - self._wanted).sum())
        self._step += 1
        return self._show(), reward, False, self._step == STEPS, {}


class Name(Reach):
    """The same, and what is shown are the numbers themselves."""

    def _show(self) -> np.ndarray:
        return (super()._show() - 300) / 100


class Slow(gymnasium.Wrapper):
    """Sleeps in each step of a game: a run that a test waits for costs little."""

    def step(self, action):
        time.sleep(0.005)
        return super().step(action)


class Broken(Match):
    """Fails at its first step."""

    def step(self, action):
        raise ArithmeticError("broken on purpose")


class Failing(Match):
    """Fails at its tenth step, and then at a reset, as often as a test says: `left`."""

    left = 0

    def _fail(self, now):
        if now and Failing.left:
            Failing.left -= 1
            raise ArithmeticError("failed on purpose")

    def reset(self, *, seed=None, options=None):
        self._fail(Failing.left == 1)
        return super().reset(seed=seed)

    def step(self, action):
        self._fail(self._step == 10)
        return super().step(action)


class Printing(Match):
    """Prints a line at each step, as Python does and past it. At the hundredth step of all its process dies."""

    steps = 0

    def step(self, action):
        Printing.steps += 1
        print("step", Printing.steps)
        os.write(2, b"in another way\n")
        if Printing.steps == 100 and multiprocessing.parent_process():
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().step(action)


class Leaving(Match):
    """Goes to another directory, which the environment names, as it is made and in each step."""

    def __init__(self, render_mode=None):
        os.chdir(os.environ["ELSEWHERE"])

    def step(self, action):
        os.chdir(os.environ["ELSEWHERE"])
        return super().step(action)


class Endless(Match):
    """Does not come back from its tenth step."""

    def step(self, action):
        while self._step == 10:
            pass
        return super().step(action)


class Crashing(Match):
    """Its process dies at the tenth step."""

    def step(self, action):
        if self._step == 10:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().step(action)


class Parent(Match):
    """Starts a process in each of the usual ways at its first step, and says so when it is closed."""

    started = False

    def step(self, action):
        if not self.started:
            self.started = True
            subprocess.Popen(["sleep", "1000"])
            subprocess.Popen(["sleep", "1000"], start_new_session=True)
            multiprocessing.Process(target=time.sleep, args=(1000,)).start()
            if not os.fork():
                os.setsid()
                time.sleep(1000)
        return super().step(action)

    def close(self):
        if self.started:
            print("a game was closed", flush=True)


class Forever(Match):
    """A game that never ends."""

    def step(self, action):
        self._step = 0
        return super().step(action)


class Seeded(Match):
    """Shows the seed of its game, in two halves."""

    observation_space = gymnasium.spaces.Box(0.0, 2.0**16, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        self._seed = seed if seed is not None else self._seed
        super().reset(seed=seed)
        return self._show(), {}

    def _show(self):
        super()._show()
        return np.array(divmod(self._seed, 2**16), np.float32)  # a float32 does not hold all of it


class Shared(Match):
    """Shows two numbers of the random state that all code of a process shares: NumPy's and Python's."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,), np.float32)

    def _show(self):
        super()._show()
        return np.array([np.random.random(), random.random()], np.float32)


class Heavy(Match):
    """A step takes 50 ms of a core."""

    def step(self, action):
        over = time.process_time() + 0.05
        while time.process_time() < over:
            pass
        return super().step(action)


class Talking(Match):
    """Its `info` is of another kind and shape at each step and in each copy, and none at the start of a game."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options)[0], None

    def step(self, action):
        number = int(self.np_random.integers(6))
        what = [1, "red", None, 2**70, np.zeros(number), {"winner": "red", 3: [number]}][number]
        return *super().step(action)[:4], {"what": what, "episode": number}


class Strange(Match):
    """Its tenth step returns what it must not: `what` says which."""

    def __init__(self, what: str, render_mode=None):
        self._what = what

    def step(self, action):
        observation, reward, *ends = super().step(action)
        if self._step == 10:
            if self._what in ("reward", "huge"):
                reward = {"reward": float("nan"), "huge": 1e308}[self._what]
            else:
                bad = {"number": observation * np.nan, "shape": observation[:2], "dtype": observation.astype("c8")}
                observation = bad[self._what]
        return observation, reward, *ends


class Bright(Match):
    """Shows a picture of numbers from 0 to 1. At its tenth step they are 2, as often as a test says: `left`."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (24, 24), np.float32)
    left = 0

    def _show(self):
        super()._show()
        bright = self._step == 10 and Bright.left > 0
        Bright.left -= bright
        return np.full((24, 24), 2.0 if bright else self._symbol / SYMBOLS, np.float32)


gymnasium.register("Match-v0", Match)
gymnasium.register("Bright-v0", Bright)
gymnasium.register("Reach-v0", Reach)
gymnasium.register("Name-v0", Name)
gymnasium.register("Endless-v0", Endless)
gymnasium.register("Crashing-v0", Crashing)
gymnasium.register("Parent-v0", Parent)
gymnasium.register("Forever-v0", Forever)
gymnasium.register("Seeded-v0", Seeded)
gymnasium.register("Shared-v0", Shared)
gymnasium.register("Talking-v0", Talking)
gymnasium.register("Failing-v0", Failing)
gymnasium.register("Printing-v0", Printing)
gymnasium.register("Leaving-v0", Leaving)
gymnasium.register("Heavy-v0", Heavy)
for _what in ("reward", "huge", "number", "shape", "dtype"):
    gymnasium.register(f"Strange-{_what}-v0", Strange, kwargs={"what": _what})
gymnasium.register("Broken-v0", Broken)
