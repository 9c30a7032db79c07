"""The parts of a script that depend on the game: how it is made, started and stepped."""

import re
import sysconfig
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from typing import NamedTuple

import gymnasium

from ga3c import environments
from ga3c.environments import atari, control, parallel_names
from ga3c.play.trained_agent import TrainedAgent
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings, game_arguments


class ScriptGame(NamedTuple):
    """The parts of a script that depend on the game."""

    packages: str
    imports: str
    make: str
    reset: str
    step: str
    observation: str = "observation"
    reward: str = "float(reward)"
    over: str = "bool(terminated or truncated)"
    own_modules: str = ""
    best: str = 'decided["action"][0]'  # the action that the agent names, as the game wants it


def game_of(agent: TrainedAgent) -> ScriptGame | None:
    """Returns the parts for the agent's game; None for a game that cannot be made without this program."""
    settings = agent.settings.environment
    kind, name = environments.resolve(settings.game)
    if kind == "atari":
        return _ram(name, settings) if settings.observation == "ram" else _pictures(name, settings)
    if name.startswith(f"{control.MODULE}:"):
        return None if settings.wrapper else _control(name)
    handed_over = [one for one in (name, *settings.wrapper) if named_objects.is_of_no_module(one)]
    if handed_over or parallel_names.maker(name):
        return None
    game, space = _gymnasium(name, settings), "env.action_space"
    if not agent.games.spec.actions.continuous:
        return game
    # Bounds of float64 may lie between two numbers of float32.
    return game._replace(best=f"np.clip({game.best}, {space}.low, {space}.high).astype({space}.dtype)")


def _pictures(rom: str, settings: EnvironmentSettings) -> ScriptGame:
    """ale-py's vector environment makes the same observations: it skips, scales and stacks the frames."""
    options = {
        "img_height": settings.frame_size_pixels,
        "img_width": settings.frame_size_pixels,
        "stack_num": settings.frame_stack,
        **atari.vector_options_of(settings),
    }
    arguments = "".join(f"    {name}={value!r},\n" for name, value in options.items())
    return ScriptGame(
        "ale-py gymnasium",
        "from ale_py.vector_env import AtariVectorEnv",
        f"env = AtariVectorEnv(\n    {rom!r}, 1,\n{arguments})",
        "observation, info = env.reset(seed=np.array([seed + game]))",
        "observation, reward, terminated, truncated, info = env.step(np.array([action]))",
        "np.moveaxis(observation[0], 0, -1)",
        "float(reward[0])",
        "bool(terminated[0] or truncated[0])",
    )


def _ram(rom: str, settings: EnvironmentSettings) -> ScriptGame | None:
    if settings.fire_reset:
        return None
    name = atari.display_name(rom)
    options = {"obs_type": "ram", **atari.options_of(settings)}
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    reset = ["observation, info = env.reset(seed=seed + game)"]
    if settings.no_op_max_steps:
        reset += [
            f"for _ in range(random.integers({settings.no_op_max_steps})):",
            "    env.unwrapped.ale.act(0)",
            "observation = env.unwrapped.ale.getRAM()",
        ]
    made = f'gymnasium.register_envs(ale_py)\nenv = gymnasium.make("ALE/{name}-v5", {arguments})'
    return ScriptGame("ale-py gymnasium", "import ale_py\nimport gymnasium", made, "\n    ".join(reset), _STEP)


_STEP = "observation, reward, terminated, truncated, info = env.step(action)"


def _gymnasium(name: str, settings: EnvironmentSettings) -> ScriptGame:
    """A registered game, or one that a class or a function of a module makes, in its wrappers."""
    module, _, known = name.rpartition(":")
    arguments = [f"{key}={value!r}" for key, value in game_arguments(settings).items()]
    imports = []
    if known in gymnasium.registry:
        imports.append("import gymnasium")
        made = f"gymnasium.make({', '.join([repr(name), *arguments])})"
        entry = str(gymnasium.registry[known].entry_point)
    else:
        imports.append(f"import {module}")
        made, entry = f"{module}.{known}({', '.join(arguments)})", ""
    for wrapper in settings.wrapper:
        imports.append(f"import {wrapper.partition(':')[0]}")
        made = f"{wrapper.replace(':', '.')}({made})"
    extra = re.match(r"gymnasium\.envs\.(mujoco|box2d)", entry)
    packages, own_modules = [f"'gymnasium[{extra[1]}]'" if extra else "gymnasium"], []
    distributions, installed = packages_distributions(), sysconfig.get_path("purelib")
    for package in dict.fromkeys(re.split("[.:]", one)[0] for one in (name, *settings.wrapper) if ":" in one):
        spec = find_spec(package)
        if package in distributions and spec and str(spec.origin).startswith(installed):
            packages += distributions[package][:1]
        else:
            own_modules.append(package)
    return ScriptGame(
        " ".join(dict.fromkeys(packages)),
        "\n".join(dict.fromkeys(imports)),
        f"env = {made}",
        "observation, info = env.reset(seed=seed + game)",
        _STEP,
        own_modules=" and ".join(own_modules),
    )


def _control(name: str) -> ScriptGame:
    domain, _, task = name.partition(":")[2].partition("-")
    return ScriptGame(
        "dm-control",
        "from dm_control import suite",
        f'env = suite.load("{domain}", "{task}", task_kwargs={{"random": seed}})\n'
        "low, high = env.action_spec().minimum, env.action_spec().maximum",
        "moment = env.reset()",
        "moment = env.step(low + (action + 1) / 2 * (high - low))",
        "np.concatenate([np.ravel(one) for one in moment.observation.values()])",
        "moment.reward",
        "moment.last()",
    )
