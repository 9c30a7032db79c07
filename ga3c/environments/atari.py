"""Atari 2600 games of ale-py's vector environment, which emulates, pools, scales and stacks frames in C++."""

from typing import Any, NamedTuple

import numpy as np
from ale_py import roms
from ale_py.vector_env import AtariVectorEnv

from ga3c.atari.names import display_name
from ga3c.emulator.game_table import GAMES
from ga3c.emulator.state import RAM_BYTES
from ga3c.layout import BYTES, Layout, Part
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.game import EnvironmentSettings

# ale-py ships these games, too, but loading one ends the process.
TWO_PLAYER_GAMES = {"combat", "joust", "maze_craze", "warlords"}


def rom_names() -> list[str]:
    """Returns the games that ale-py ships, as ROM names (ms_pacman)."""
    return [rom for rom in roms.get_all_rom_ids() if rom not in TWO_PLAYER_GAMES]


def spec_of(rom: str, settings: EnvironmentSettings, actions: int) -> EnvironmentSpec:
    """Returns the facts about an Atari game with so many actions."""
    size, stack, ram = settings.frame_size_pixels, settings.frame_stack, settings.observation == "ram"
    return EnvironmentSpec(
        name=display_name(rom),
        observation_shape=(RAM_BYTES,) if ram else (size, size, stack),
        observation_dtype="uint8",
        actions=discrete(actions),
        frames_per_step=settings.frame_skip_frames,
        stacked_frames=1 if ram else stack,
        layout=Layout((Part("ram", BYTES, (RAM_BYTES,)),)) if ram else None,
    )


class PlayedElsewhere(NamedTuple):
    """What a run knows of games of our own emulator that other processes play."""

    spec: EnvironmentSpec


def played_elsewhere(rom: str, settings: EnvironmentSettings) -> PlayedElsewhere:
    """Returns it without loading the emulator and its compiler, which take a second."""
    return PlayedElsewhere(spec_of(rom, settings, 18 if settings.full_action_set else len(GAMES[rom].actions.split())))


def options_of(settings: EnvironmentSettings) -> dict[str, Any]:
    """Returns the rules as Gymnasium's ALE/...-v5 calls them."""
    return {
        "frameskip": settings.frame_skip_frames,
        "repeat_action_probability": settings.sticky_action_probability,
        "full_action_space": settings.full_action_set,
        "max_num_frames_per_episode": settings.episode_cap_frames,
    }


def vector_options_of(settings: EnvironmentSettings) -> dict[str, Any]:
    """Returns the rules as ale-py's vector environment calls them."""
    return options_of(settings) | {
        "maxpool": settings.frame_skip_frames > 1,
        "noop_max": settings.no_op_max_steps,
        "use_fire_reset": settings.fire_reset,
        "reward_clipping": False,  # the agent clips rewards for training; scores are unclipped
        "episodic_life": False,
    }


def _vector_env(rom: str, settings: EnvironmentSettings, count: int, threads: int, **view) -> AtariVectorEnv:
    return AtariVectorEnv(rom, count, num_threads=threads, **vector_options_of(settings), **view)


def _close(env: AtariVectorEnv) -> None:
    """Closes the environment and frees its emulator; otherwise nanobind reports leaks when the program ends."""
    env.close()
    env.ale = None


class AtariEnvironments:
    """A batch of `count` copies of one Atari game.

    Observations are uint8 [count, height, width, stack], in an array that the next step overwrites.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int, threads: int = 1):
        size, stack = settings.frame_size_pixels, settings.frame_stack
        self._env = _vector_env(rom, settings, count, threads, img_height=size, img_width=size, stack_num=stack)
        self._seeds = np.arange(seed, seed + count, dtype=np.int64) % 2**31
        self._states = np.empty((count, size, size, stack), np.uint8)
        self._lives = np.zeros(count, np.int32)
        self._life_loss_terminates = settings.life_loss_terminates
        self.spec = spec_of(rom, settings, int(self._env.single_action_space.n))

    def reset(self) -> np.ndarray:
        observations, info = self._env.reset(seed=self._seeds)
        self._lives = info["lives"]
        return self._channels_last(observations)

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], at least one). Returns all observations."""
        observations, info = self._env.reset(options={"reset_mask": envs})
        self._lives = info["lives"]
        return self._channels_last(observations)

    def step(self, actions: np.ndarray):
        observations, rewards, terminated, truncated, info = self._env.step(actions)
        life_lost = (info["lives"] < self._lives) & self._life_loss_terminates
        self._lives = info["lives"]
        return self._channels_last(observations), rewards, terminated, truncated, life_lost

    def _channels_last(self, observations: np.ndarray) -> np.ndarray:
        """Moves the stack from axis 1 to the end, as CPU convolutions need it; TensorFlow takes ten times as long."""
        for frame in range(self._states.shape[-1]):  # frame by frame is five times as fast as one copy in NumPy
            self._states[..., frame] = observations[:, frame]
        return self._states

    def close(self) -> None:
        _close(self._env)


class AtariScreen:
    """The colour pictures of games that AtariEnvironments plays with the same seed and actions.

    Emulators are deterministic, sticky actions included. So a second one in lockstep shows the agent's games in colour.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, seed: int, count: int = 1):
        view = {"img_height": 210, "img_width": 160, "grayscale": False, "stack_num": 1}
        self._env = _vector_env(rom, settings, count, 1, **view)
        self._seeds = np.arange(seed, seed + count, dtype=np.int64) % 2**31
        self.action_names = [action.name for action in self._env.ale.get_action_set()]  # FIRE, UPRIGHT, ...

    def reset(self) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        return self._env.reset(seed=self._seeds)[0][:, 0]

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        return self._env.step(actions)[0][:, 0]

    def close(self) -> None:
        _close(self._env)
