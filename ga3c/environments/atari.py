"""Atari 2600 games through ale-py's native vector environment: emulation, max-pooling, resizing and stacking in C++."""

import numpy as np
from ale_py import roms
from ale_py.vector_env import AtariVectorEnv

from ga3c.config import EnvironmentSettings
from ga3c.rollout import EnvironmentSpec

# Average scores of a random and of a human player, as used for human-normalised scores throughout the field
# (Mnih et al. 2015; Wang et al. 2016): no-op starts, at most 108,000 frames.
RANDOM_AND_HUMAN_SCORES: dict[str, tuple[float, float]] = {
    "alien": (227.8, 7127.7), "amidar": (5.8, 1719.5), "assault": (222.4, 742.0), "asterix": (210.0, 8503.3),
    "asteroids": (719.1, 47388.7), "atlantis": (12850.0, 29028.1), "bank_heist": (14.2, 753.1),
    "battle_zone": (2360.0, 37187.5), "beam_rider": (363.9, 16926.5), "berzerk": (123.7, 2630.4),
    "bowling": (23.1, 160.7), "boxing": (0.1, 12.1), "breakout": (1.7, 30.5), "centipede": (2090.9, 12017.0),
    "chopper_command": (811.0, 7387.8), "crazy_climber": (10780.5, 35829.4), "defender": (2874.5, 18688.9),
    "demon_attack": (152.1, 1971.0), "double_dunk": (-18.6, -16.4), "enduro": (0.0, 860.5),
    "fishing_derby": (-91.7, -38.7), "freeway": (0.0, 29.6), "frostbite": (65.2, 4334.7), "gopher": (257.6, 2412.5),
    "gravitar": (173.0, 3351.4), "hero": (1027.0, 30826.4), "ice_hockey": (-11.2, 0.9), "jamesbond": (29.0, 302.8),
    "kangaroo": (52.0, 3035.0), "krull": (1598.0, 2665.5), "kung_fu_master": (258.5, 22736.3),
    "montezuma_revenge": (0.0, 4753.3), "ms_pacman": (307.3, 6951.6), "name_this_game": (2292.3, 8049.0),
    "phoenix": (761.4, 7242.6), "pitfall": (-229.4, 6463.7), "pong": (-20.7, 14.6), "private_eye": (24.9, 69571.3),
    "qbert": (163.9, 13455.0), "riverraid": (1338.5, 17118.0), "road_runner": (11.5, 7845.0), "robotank": (2.2, 11.9),
    "seaquest": (68.4, 42054.7), "skiing": (-17098.1, -4336.9), "solaris": (1236.3, 12326.7),
    "space_invaders": (148.0, 1668.7), "star_gunner": (664.0, 10250.0), "surround": (-10.0, 6.5),
    "tennis": (-23.8, -8.3), "time_pilot": (3568.0, 5229.2), "tutankham": (11.4, 167.6), "up_n_down": (533.4, 11693.2),
    "venture": (0.0, 1187.5), "video_pinball": (16256.9, 17667.9), "wizard_of_wor": (563.5, 4756.5),
    "yars_revenge": (3092.9, 54576.9), "zaxxon": (32.5, 9173.3),
}  # fmt: skip


# ale-py ships these too, but ends the process when it loads one.
TWO_PLAYER_GAMES = {"combat", "joust", "maze_craze", "warlords"}


def rom_names() -> list[str]:
    """The games that ale-py ships, as ROM names (ms_pacman)."""
    return [rom for rom in roms.get_all_rom_ids() if rom not in TWO_PLAYER_GAMES]


def display_name(rom: str) -> str:
    """ms_pacman -> MsPacman, the spelling of Gymnasium's ids and of the folders under results/."""
    return rom.title().replace("_", "")


def human_normalized(rom: str, score: float) -> float | None:
    """0 for a random player, 1 for a human one; None where the game has no published human score."""
    if rom not in RANDOM_AND_HUMAN_SCORES:
        return None
    random, human = RANDOM_AND_HUMAN_SCORES[rom]
    return (score - random) / (human - random)


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


class AtariEnvironments:
    """`count` copies of one Atari game.

    Observations: uint8 [count, height, width, stack], in an array that the next step overwrites.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int, threads: int = 1):
        size, stack = settings.frame_size_pixels, settings.frame_stack
        self._env = _vector_env(rom, settings, count, threads, img_height=size, img_width=size, stack_num=stack)
        self._seeds = np.arange(seed, seed + count)
        self._states = np.empty((count, size, size, stack), np.uint8)
        self._lives = np.zeros(count, np.int32)
        self._life_loss_terminates = settings.life_loss_terminates
        self.spec = EnvironmentSpec(
            name=display_name(rom),
            observation_shape=(size, size, stack),
            observation_dtype="uint8",
            actions=int(self._env.single_action_space.n),
            frames_per_step=settings.frame_skip_frames,
        )

    def reset(self) -> np.ndarray:
        observations, info = self._env.reset(seed=self._seeds)
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
        self._env.close()


class AtariScreen:
    """The colour pictures of games that AtariEnvironments plays with the same seed and actions.

    The emulator is deterministic, sticky actions included, so a second one in lockstep shows what the agent's
    own, grey and shrunken view cannot.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, seed: int, count: int = 1):
        view = {"img_height": 210, "img_width": 160, "grayscale": False, "stack_num": 1}
        self._env = _vector_env(rom, settings, count, 1, **view)
        self._seeds = np.arange(seed, seed + count)
        self.action_names = [action.name for action in self._env.ale.get_action_set()]  # FIRE, UPRIGHT, ...

    def reset(self) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        return self._env.reset(seed=self._seeds)[0][:, 0]

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        return self._env.step(actions)[0][:, 0]

    def close(self) -> None:
        self._env.close()
