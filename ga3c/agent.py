"""Agent: a process that steps its games, asks for actions and ships finished rollouts.

Never imports TensorFlow: agents start fast and stay small.
"""

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from multiprocessing import forkserver

import numpy as np

from ga3c import environments
from ga3c.config import EnvironmentSettings
from ga3c.inbox import ServerGone
from ga3c.prediction_queue import Order, PredictionClient
from ga3c.rollout import AgentMemory, Doing
from ga3c.training_queue import Episode, TrainingClient

NICENESS = 10  # agents yield to the server: where cores are few, no work for the model shall pile up and get old
# They reach the whole process group; what they mean is the server's business.
SERVER_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Scores:
    """True scores and lengths of the games in progress, by environment."""

    def __init__(self, envs: int):
        self._scores = np.zeros(envs)
        self._lengths = np.zeros(envs, np.int64)
        self.finished: list[Episode] = []

    def add(self, rewards: np.ndarray, moved: np.ndarray, ended: np.ndarray) -> None:
        """One step: `moved` marks environments that made a transition, `ended` those whose game is over."""
        self._scores += rewards * moved
        self._lengths += moved
        for env in np.flatnonzero(ended):
            self.finished.append(Episode(float(self._scores[env]), int(self._lengths[env])))
            self._scores[env] = self._lengths[env] = 0

    def take(self) -> list[Episode]:
        """The games that ended since the last call."""
        finished, self.finished = self.finished, []
        return finished


def play(
    envs, memory: AgentMemory, predictions: PredictionClient, training: TrainingClient, reward_clip: float
) -> None:
    """Plays until the server says that it is enough, then ships what is left of the last rollout."""
    slots = memory.slots
    t_max, count = slots["action"].shape[1:]
    scores = Scores(count)
    restarting = np.zeros(count, np.bool_)  # the game is over: the next step only starts a new one
    complete: tuple[int, int, int] | None = None  # slot, length, transitions; waits for its bootstrap value

    slot, row, transitions = training.free_slot(), 0, 0
    slots["observation"][slot, 0] = envs.reset()
    while True:
        predictions.ask(slot, row)
        memory.requested()
        memory.now(Doing.WAITING_FOR_ANSWER)
        order = predictions.wait()
        memory.now(Doing.STEPPING)
        if complete:
            # The first value of this rollout is the one that follows the rollout before it.
            slots["bootstrap_value"][complete[0]] = slots["value"][slot, 0]
            training.ship(*complete, scores.take())
            memory.shipped()
            complete = None
        if order == Order.PAUSE:
            memory.now(Doing.PAUSING)
            order = predictions.wait()
            if order == Order.GO_ON:
                continue  # with a new answer to the same row
        if order == Order.FINISH:
            if row:
                slots["bootstrap_value"][slot] = slots["value"][slot, row]
                training.ship(slot, row, transitions, scores.take())
                memory.shipped()
            return

        observations, rewards, terminated, truncated, life_lost = envs.step(slots["action"][slot, row])
        moved = ~restarting
        scores.add(rewards, moved, terminated | truncated)
        slots["reward"][slot, row] = np.clip(rewards, -reward_clip, reward_clip) if reward_clip else rewards
        slots["terminated"][slot, row] = terminated | life_lost
        slots["truncated"][slot, row] = truncated
        slots["valid"][slot, row] = moved
        moves = int(moved.sum())
        memory.add_steps(moves)
        transitions += moves
        restarting = terminated | truncated
        row += 1
        if row == t_max or restarting.all():
            complete = slot, row, transitions
            memory.now(Doing.WAITING_FOR_SLOT)
            slot, row, transitions = training.free_slot(), 0, 0
            memory.now(Doing.STEPPING)
        slots["observation"][slot, row] = observations


def end_with_server() -> None:
    """Lets the kernel kill this process when the server ends, also if it hangs or is stopped.

    Elsewhere than on Linux it ends when it next needs the server.
    """
    if sys.platform == "linux":
        # The process that agents are forked from ends when nobody holds its life-line any more, and every agent is
        # given that, too. When it ends, so do those it has forked.
        with contextlib.suppress(AttributeError, TypeError, OSError):
            os.close(forkserver._forkserver._forkserver_alive_fd)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


def main(
    settings: EnvironmentSettings,
    seed: int,
    memory: AgentMemory,
    predictions: PredictionClient,
    training: TrainingClient,
) -> None:
    """Entry point of the process. Ends when told to, or when the server is gone; says why if it fails."""
    end_with_server()
    os.nice(NICENESS)
    faulthandler.enable()
    for number in SERVER_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    try:
        envs = environments.make(settings, memory.slots["action"].shape[2], seed)
        play(envs, memory, predictions, training, settings.reward_clip)
    except ServerGone:
        os._exit(1)  # there is nobody left to report to
    except BaseException:
        memory.say_last_words(traceback.format_exc())
        os._exit(1)
