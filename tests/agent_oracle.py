"""A trained agent's games on our console beside ALE's: memory, picture, reward, lives and end of each frame.

python -m tests.agent_oracle [GAMES [GAME ...]]

Plays so many games of each agent that comes with the program, its actions sampled from the policy, on the batch that it
was trained on. Every frame of each console of that batch is played again, by itself, beside one of ALE's.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from ale_py import Action, ALEInterface, LoggerMode, roms

from ga3c.play import trained_agent  # isort: skip (first: it loads TensorFlow)
from ga3c import environments
from ga3c.emulator import games, state
from ga3c.emulator.controllers import press
from ga3c.emulator.frame import goes_on, next_frame
from ga3c.emulator.starts import NO_OP, ORDER, Starts
from ga3c.records.run_directory import PRETRAINED

AGENTS, AT_ONCE, SEED = ("Pong", "Boxing", "Breakout", "Qbert"), 10, 1


class Difference(Exception):
    """Ours is not as ALE's."""


class Pair:
    """A console of ours and one of ALE's, frame by frame."""

    def __init__(self, rom: str, data: bytes):
        ALEInterface.setLoggerMode(LoggerMode.Error)
        self._ale = ALEInterface()
        self._ale.setFloat("repeat_action_probability", 0.0)
        self._ale.loadROM(roms.get_rom_path(rom))
        self._starts, self._reading = Starts(rom, data), games.reading(rom)
        self._memory, self._begun = self._starts.before_the_first(), 0
        self._read = np.zeros(games.STATE, np.int32)

    def begin(self) -> None:
        self._ale.reset_game()
        self.record, pictures = self._starts.after(self._memory, ORDER[self._begun])
        self._pictures = pictures.reshape(2, *self._ale.getScreenDims())
        self._memory = self.record[: state.RAM_BYTES]
        self._begun, self._last, self.frames, self.score = self._begun + 1, 1, 0, 0
        games.begin(self.record, self._reading, self._read)
        self._compare(0, (0, self._read[games.LIVES], False), self._pictures[1])

    def frame(self, action: int) -> None:
        """Raises Difference."""
        reward = self._ale.act(action)
        press(self.record.ctypes.data, action)
        self._last ^= 1 - goes_on(self.record.ctypes.data)
        picture = self._pictures[self._last]
        next_frame(self.record.ctypes.data, self._starts.rom.ctypes.data, picture.ctypes.data, self._starts.code)
        self.frames, self.score = self.frames + 1, self.score + reward
        self._compare(reward, games.read(self.record, self._reading, self._read), picture)

    def _compare(self, reward: int, read: tuple, picture: np.ndarray) -> None:
        said = reward, self._ale.lives(), self._ale.game_over()
        if said != read:
            raise Difference(f"frame {self.frames}: reward, lives, end {read} not {said}")
        if (self._memory != self._ale.getRAM()).any():
            raise Difference(f"frame {self.frames}: memory")
        if (picture != self._ale.getScreen()).any():
            raise Difference(f"frame {self.frames}: picture")


def play(game: str, count: int, at_once: int = AT_ONCE) -> Iterator[tuple[int, int]]:
    """`count` games of the agent that comes for it. Yields frames and score of each. Raises Difference."""
    agent = trained_agent.load(str(PRETRAINED / game), None, None, SEED)
    rom = environments.resolve(game)[1]
    batch = environments.make(replace(agent.settings.environment, emulator="ours"), at_once, SEED)
    numbers = [Action[name].value for name in batch.action_names]
    pairs = [Pair(rom, roms.get_rom_path(rom).read_bytes()) for _ in range(at_once)]
    left = [len(range(env, count, at_once)) for env in range(at_once)]
    consoles, no_ops = batch.batch.consoles, batch.state()["no_ops"].copy()
    observations, rewards, actions = batch.reset(), np.zeros(at_once), np.zeros(at_once, np.int64)
    begins, frames = np.ones(at_once, bool), consoles.frames.copy()
    while True:
        for env in np.flatnonzero(left):
            pair = pairs[env]
            if begins[env]:
                pair.begin()
            score, played = pair.score, no_ops[env] if begins[env] else consoles.frames[env] - frames[env]
            for _ in range(played):
                pair.frame(NO_OP if begins[env] else numbers[actions[env]])
            if pair.score - score != rewards[env] and not begins[env]:
                raise Difference(f"frame {pair.frames}: the batch's reward")
            if (pair.record != consoles.records[env])[: state.RAM_BYTES].any():
                raise Difference(f"frame {pair.frames}: the batch's memory")
            if consoles.ended[env]:
                left[env] -= 1
                yield pair.frames, pair.score
        if not any(left):
            return
        begins, frames, no_ops = consoles.ended > 0, consoles.frames.copy(), batch.state()["no_ops"].copy()
        actions = agent.model.decide(observations)[0]
        observations, rewards, *_ = batch.step(actions)


def main(count: int = 50, names: Sequence[str] = ()) -> int:
    for game in names or AGENTS:
        frames = 0
        try:
            for number, (length, score) in enumerate(play(game, count)):
                frames += length
                print(f"{game}, game {number + 1}: {length} frames, score {score}", flush=True)
        except Difference as difference:
            print(f"{game}: {difference}")
            return 1
        print(f"{game}: {count} games, {frames:,} frames, all as ALE's", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), names=sys.argv[2:]))
