"""Atari 2600 games through ale-py's native vector environment: emulation, max-pooling, resizing and stacking in C++."""

import numpy as np
from ale_py import roms
from ale_py.vector_env import AtariVectorEnv

from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings.game import EnvironmentSettings

# ale-py ships these too, but ends the process when it loads one.
TWO_PLAYER_GAMES = {"combat", "joust", "maze_craze", "warlords"}


def rom_names() -> list[str]:
    """The games that ale-py ships, as ROM names (ms_pacman)."""
    return [rom for rom in roms.get_all_rom_ids() if rom not in TWO_PLAYER_GAMES]


def display_name(rom: str) -> str:
    """ms_pacman -> MsPacman, the spelling of Gymnasium's ids and of the folders under results/."""
    return rom.title().replace("_", "")


def _vector_env(rom: str, settings: EnvironmentSettings, count: int, threads: int, **view) -> AtariVectorEnv:
    return AtariVectorEnv(
        rom,
        count,
        num_threads=threads,
        max_num_frames_per_episode=settings.episode_cap_frames,
        repeat_action_probability=settings.sticky_action_probability,
        full_action_space=settings.full_action_set,
        frameskip=settings.frame_skip_frames,
        maxpool=settings.frame_skip_frames > 1,
        noop_max=settings.no_op_max_steps,
        use_fire_reset=settings.fire_reset,
        reward_clipping=False,  # scores are the true ones; the agent clips for training
        episodic_life=False,
        **view,
    )


def _close(env: AtariVectorEnv) -> None:
    """Lets go of the emulator, too: of one that is there until the program ends, nanobind reports a page of leaks."""
    env.close()
    env.ale = None


class AtariEnvironments:
    """`count` copies of one Atari game.

    Observations: uint8 [count, height, width, stack], in an array that the next step overwrites.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int, threads: int = 1):
        size, stack = settings.frame_size_pixels, settings.frame_stack
        self._env = _vector_env(rom, settings, count, threads, img_height=size, img_width=size, stack_num=stack)
        self._seeds = np.arange(seed, seed + count, dtype=np.int64) % 2**31
        self._states = np.empty((count, size, size, stack), np.uint8)
        self._lives = np.zeros(count, np.int32)
        self._life_loss_terminates = settings.life_loss_terminates
        self.spec = EnvironmentSpec(
            name=display_name(rom),
            observation_shape=(size, size, stack),
            observation_dtype="uint8",
            actions=discrete(int(self._env.single_action_space.n)),
            frames_per_step=settings.frame_skip_frames,
            stacked_frames=stack,
        )

    def reset(self) -> np.ndarray:
        observations, info = self._env.reset(seed=self._seeds)
        self._lives = info["lives"]
        return self._channels_last(observations)

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], one at the least). Returns all observations."""
        observations, info = self._env.reset(options={"reset_mask": envs})
        self._lives = info["lives"]
        return self._channels_last(observations)

    def step(self, actions: np.ndarray):
        observations, rewards, terminated, truncated, info = self._env.step(actions)
        life_lost = (info["lives"] < self._lives) & self._life_loss_terminates
        self._lives = info["lives"]
        return self._channels_last(observations), rewards, terminated, truncated, life_lost

    def _channels_last(self, observations: np.ndarray) -> np.ndarray:
        """From [env, stack, ...]: convolutions on a CPU need it, and here it costs a tenth of what TensorFlow takes."""
        for frame in range(self._states.shape[-1]):  # plane by plane: NumPy is five times faster so
            self._states[..., frame] = observations[:, frame]
        return self._states

    def close(self) -> None:
        _close(self._env)


class AtariScreen:
    """The colour pictures of games that AtariEnvironments plays with the same seed and actions.

    The emulator is deterministic, sticky actions included, so a second one in lockstep shows what the agent's
    own, grey and shrunken view cannot.
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
