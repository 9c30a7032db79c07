"""dm_control's tasks (Tassa et al. 2018) as Gymnasium environments: cartpole-swingup, humanoid-walk, and so on.

Importing this registers them; MuJoCo and dm_control are loaded when the first is made.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from ga3c.errors import ConfigError
from ga3c.installation import how_to_install

MODULE = __name__
# The tasks of each domain. They stand here, so that a name is known without loading dm_control.
_TASKS = {
    "acrobot": "swingup swingup_sparse",
    "ball_in_cup": "catch",
    "cartpole": "balance balance_sparse swingup swingup_sparse two_poles three_poles",
    "cheetah": "run",
    "dog": "stand walk trot run fetch",
    "finger": "spin turn_easy turn_hard",
    "fish": "upright swim",
    "hopper": "stand hop",
    "humanoid": "stand walk run run_pure_state",
    "humanoid_CMU": "stand walk run",
    "manipulator": "bring_ball bring_peg insert_ball insert_peg",
    "pendulum": "swingup",
    "point_mass": "easy hard",
    "quadruped": "walk run escape fetch",
    "reacher": "easy hard",
    "stacker": "stack_2 stack_4",
    "swimmer": "swimmer6 swimmer15",
    "walker": "stand walk run",
}
# lqr is left out: its actions have no bounds.
NAMES = tuple(f"{domain}-{task}" for domain, tasks in _TASKS.items() for task in tasks.split())
HEIGHT_PIXELS, WIDTH_PIXELS = 480, 640


class ControlTask(gymnasium.Env):
    """A task of dm_control. Its time limit truncates an episode.

    Observations are all of the task's, in its order, float32 [n]. Actions within [-1, 1] are scaled to the bounds of
    the actuators. Rewards are the task's own, 0 to 1 in each step.
    """

    metadata: ClassVar[dict] = {"render_modes": ["rgb_array"]}

    def __init__(self, domain: str, task: str, render_mode: str | None = None):
        """Raises ConfigError where dm_control is not installed."""
        suite = _suite(drawn=render_mode is not None)
        self._random = np.random.RandomState()  # the task draws from it
        self._task = suite.load(domain, task, task_kwargs={"random": self._random})
        self._names = list(self._task.observation_spec())
        sizes = [int(np.prod(one.shape)) for one in self._task.observation_spec().values()]
        actions = self._task.action_spec()
        self._low, self._high = actions.minimum, actions.maximum
        self.observation_space = spaces.Box(-np.inf, np.inf, (sum(sizes),), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, actions.shape, np.float32)
        self.render_mode = render_mode
        self.metadata = self.metadata | {"render_fps": 1 / self._task.control_timestep()}

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        if seed is not None:
            self._random.seed(seed)
        return self._flat(self._task.reset().observation), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        share = (np.asarray(action, np.float64) + 1) / 2
        after = self._task.step(self._low + share * (self._high - self._low))
        # dm_control has discount 1 at a time limit, and 0 at a true end.
        terminated = after.last() and after.discount == 0
        return self._flat(after.observation), float(after.reward), terminated, after.last() and not terminated, {}

    def _flat(self, observation: dict) -> np.ndarray:
        return np.concatenate([np.ravel(observation[name]) for name in self._names]).astype(np.float32)

    def render(self) -> np.ndarray:
        """Returns the picture of the task's first camera, uint8 [height, width, 3]."""
        return self._task.physics.render(HEIGHT_PIXELS, WIDTH_PIXELS, camera_id=0)

    def close(self) -> None:
        self._task.close()


def _suite(drawn: bool):
    """Returns dm_control's suite, which chooses its renderer when it is loaded.

    Unless it is drawn, it is loaded without OpenGL, which crashes beside TensorFlow.
    """
    try:
        with contextlib.nullcontext() if drawn else _without_opengl():
            from dm_control import suite
    except ModuleNotFoundError as error:
        does = how_to_install("control")
        raise ConfigError(f"dm_control's tasks need {error.name}, which is not installed: {does}.") from error
    return suite


@contextlib.contextmanager
def _without_opengl() -> Iterator[None]:
    before = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "disable"
    try:
        yield
    finally:
        del os.environ["MUJOCO_GL"]
        if before is not None:
            os.environ["MUJOCO_GL"] = before


for _name in NAMES:
    _domain, _, _task = _name.partition("-")
    gymnasium.register(_name, f"{MODULE}:ControlTask", kwargs={"domain": _domain, "task": _task})
