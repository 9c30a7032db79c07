"""Atari games of ale-py that show the console's memory. Its vector environment shows pictures alone."""

from typing import NamedTuple

import numpy as np
from ale_py import Action, ALEInterface, LoggerMode, roms

from ga3c.environments.atari import spec_of
from ga3c.settings.game import EnvironmentSettings


class _Console(NamedTuple):
    ale: ALEInterface
    random: np.random.BitGenerator  # draws the no-ops


class RamAtariEnvironments:
    """A batch of `count` copies of one Atari game, with the interface of `atari.AtariEnvironments`.

    The same seeds and actions give the same rewards, lives and ends. Observations are uint8 [count, 128], in an array
    that the next step overwrites.
    """

    def __init__(self, rom: str, settings: EnvironmentSettings, count: int, seed: int):
        self._settings = settings
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self._consoles = [self._console(rom, number % 2**31) for number in range(seed, seed + count)]
        ale = self._consoles[0].ale
        self._actions = ale.getLegalActionSet() if settings.full_action_set else ale.getMinimalActionSet()
        self.spec = spec_of(rom, settings, len(self._actions))
        self._memory = np.zeros((count, *self.spec.observation_shape), np.uint8)
        self._lives, self._frames = np.zeros(count, np.int32), np.zeros(count, np.int64)
        self._over = np.zeros(count, np.bool_)

    def _console(self, rom: str, seed: int) -> _Console:
        ale = ALEInterface()
        ale.setFloat("repeat_action_probability", self._settings.sticky_action_probability)
        ale.setInt("random_seed", seed)
        ale.loadROM(roms.get_rom_path(rom))
        return _Console(ale, np.random.RandomState(seed)._bit_generator)

    def reset(self) -> np.ndarray:
        return self.restart(np.ones(len(self._consoles), np.bool_))

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], at least one). Returns all observations."""
        fire = self._settings.fire_reset and Action.FIRE in self._actions
        for env in np.flatnonzero(envs):
            ale, random = self._consoles[env]
            no_ops = int(random.random_raw()) * self._settings.no_op_max_steps >> 32
            ale.reset_game()
            for frame in range(max(no_ops, fire)):
                ale.act(Action.FIRE if fire and frame == 0 else Action.NOOP)
            self._lives[env], self._frames[env], self._memory[env] = ale.lives(), 0, ale.getRAM()
        self._over[envs] = False
        return self._memory

    def step(self, actions: np.ndarray):
        over, lives = self._over.copy(), self._lives.copy()
        rewards, terminated, truncated = np.zeros(len(over), np.int32), np.zeros_like(over), np.zeros_like(over)
        if over.any():
            self.restart(over)
            lives[over] = self._lives[over]
        for env in np.flatnonzero(~over):
            ale, action = self._consoles[env].ale, self._actions[actions[env]]
            for _ in range(self._settings.frame_skip_frames):
                rewards[env] += ale.act(action)
                self._frames[env] += 1
                terminated[env] = ale.game_over()
                truncated[env] = self._frames[env] >= self._settings.episode_cap_frames
                if terminated[env] or truncated[env]:
                    break
            self._lives[env], self._memory[env] = ale.lives(), ale.getRAM()
        self._over = terminated | truncated
        life_lost = (self._lives < lives) & self._settings.life_loss_terminates
        return self._memory, rewards, terminated, truncated, life_lost

    def close(self) -> None:
        self._consoles = []
