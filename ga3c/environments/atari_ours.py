"""Atari 2600 games of our own emulator, in compiled code: as `atari`, but faster."""

import numpy as np

from ga3c.atari.batch import Batch
from ga3c.atari.rules import Rules
from ga3c.emulator import divergence, step, views
from ga3c.emulator.divergence import Count
from ga3c.environments.atari import spec_of
from ga3c.settings.game import EnvironmentSettings


def rules_of(settings: EnvironmentSettings) -> Rules:
    """Returns the rules of a batch of games."""
    return Rules(
        observation="ram" if settings.observation == "ram" else "grey",
        size=settings.frame_size_pixels,
        stack_num=settings.frame_stack,
        frameskip=settings.frame_skip_frames,
        noop_max=settings.no_op_max_steps,
        use_fire_reset=settings.fire_reset,
        repeat_action_probability=settings.sticky_action_probability,
        full_action_space=settings.full_action_set,
        max_num_frames_per_episode=settings.episode_cap_frames,
    )


class OwnAtariEnvironments:
    """A batch of `count` copies of one Atari game, with the interface of `atari.AtariEnvironments`.

    The same seeds and actions give the same observations, rewards, lives and ends. Those of a GPU's batch
    (`gpu_batch.GpuBatch`) lie in its memory.
    """

    def __init__(
        self,
        rom: str,
        settings: EnvironmentSettings,
        count: int,
        seed: int,
        threads: int = 1,
        kind: type[Batch] = Batch,
    ):
        self.batch = kind(rom, rules_of(settings), np.arange(seed, seed + count), threads)
        self._life_loss_terminates = settings.life_loss_terminates
        self._shows_ram = settings.observation == "ram"
        self.action_names = self.batch.action_names
        self.spec = spec_of(rom, settings, len(self.batch.actions))

    def reset(self) -> np.ndarray:
        return self.restart(np.ones(len(self.batch.consoles.frames), bool))

    def restart(self, envs: np.ndarray) -> np.ndarray:
        """Starts a new game in the marked copies (bool [count], at least one). Returns all observations."""
        self.batch.restart(envs)
        return self._shown

    @property
    def _shown(self) -> np.ndarray:
        """The observations: pictures, or the consoles' memory. The next step overwrites them."""
        return self.batch.ram if self._shows_ram else self.batch.states

    def step(self, actions: np.ndarray):
        consoles, lives = self.batch.consoles, self.batch.consoles.lives.copy()
        self.batch.step(self.batch.actions[actions])
        life_lost = (consoles.lives < lives) & self._life_loss_terminates
        terminated, truncated = consoles.ended & step.OVER > 0, consoles.ended & step.CUT > 0
        return self._shown, consoles.rewards.copy(), terminated, truncated, life_lost

    def state(self) -> dict[str, np.ndarray]:
        """Returns the games' whole state: arrays by name, not copied, for this game and version of the emulator."""
        return self.batch.state()

    def restore(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """Restores a result of `state`. Returns all observations. See `Batch.restore`."""
        self.batch.restore(arrays)
        return self._shown

    def divergence(self, part: slice, actions: np.ndarray, by_lines: bool) -> Count:
        """Counts how much these copies, as the threads of a warp, would slow each other down in the next step."""
        records, game = self.batch.consoles.records[part].copy(), self.batch.game
        return divergence.count(records, game.rom, self.batch.actions[actions[part]], game.frame_skip, by_lines)

    def close(self) -> None:
        self.batch.close()


class OwnAtariScreen:
    """The colour pictures of games of our own emulator, before they become the grey frames that the agent sees.

    Make it before the first `reset` of the games.
    """

    def __init__(self, games: OwnAtariEnvironments):
        self._batch, self.action_names = games.batch, games.action_names
        self._batch.draw()
        count, shape = len(games.batch.consoles.frames), games.batch.picture_shape
        colours = np.ascontiguousarray(games.batch.colours.T)
        self._view = views.computed(count, colours, shape, (1, *shape, 3), views.MAX)
        self._frames = np.zeros(count, np.int64)

    def reset(self) -> np.ndarray:
        """Returns the pictures, uint8 [count, height, width, 3]."""
        return self._show(np.zeros_like(self._frames))

    def step(self, actions: np.ndarray) -> np.ndarray:
        """Returns the pictures after the games' own step, uint8 [count, height, width, 3].

        They show the last two frames of a step, but not the frame that ends a game.
        """
        return self._show(self._batch.consoles.frames)

    def _show(self, frames: np.ndarray) -> np.ndarray:
        views.see(self._view, self._batch.game, self._batch.consoles, self._frames)
        self._frames = frames.copy()
        return np.moveaxis(self._view.seen.reshape(len(frames), 3, *self._batch.picture_shape), 1, -1)

    def close(self) -> None:
        pass
