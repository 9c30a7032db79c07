"""The process of an agent: its plan, its start and its end."""

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import sys
import traceback
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path

import numpy as np

from ga3c import environments
from ga3c.agent import play
from ga3c.environments.game_fault import GameFault
from ga3c.environments.games_in_play import Games
from ga3c.machine import adopt_orphans, pin, signal_at_parents_end
from ga3c.prediction_queue import PredictionClient
from ga3c.processes.family import end_group
from ga3c.processes.stop_signals import STOP_SIGNALS
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings
from ga3c.training_queue import TrainingClient
from ga3c.transport.agent_memory import AgentMemory
from ga3c.transport.inbox import ServerGone

NICENESS = 10  # agents yield to the server: where cores are few, no work for the model piles up and gets old
# These often reach all processes of a run; only the server acts on them.
SERVER_SIGNALS = (*STOP_SIGNALS, signal.SIGQUIT)


@dataclass(frozen=True)
class AgentPlan:
    """All that the agents of a run have in common."""

    environment: EnvironmentSettings
    dtype: np.dtype  # of a rollout
    slots: int  # for rollouts, of each agent
    seed: int  # of the run
    silence_seconds: float  # an agent that is silent for longer is replaced; 0: never
    first_core: int | None = None  # each agent keeps to one core, from this one on; None: to none
    ships_when_complete: bool = False  # see `agent.play`
    own_objects: bytes = b""  # those that agents cannot import: `named_objects.packed`

    @property
    def games(self) -> int:
        """The number of games of an agent."""
        return self.dtype["action"].shape[1]


def end_with_server() -> None:
    """Lets the kernel kill this process when the server ends, also if it hangs or is stopped.

    On other systems than Linux it ends when it next needs the server.
    """
    if sys.platform == "linux":
        # The process that agents are forked from ends when nobody holds its life-line any more, and every agent is
        # given that, too. When it ends, so do those it has forked.
        with contextlib.suppress(AttributeError, TypeError, OSError):
            os.close(forkserver._forkserver._forkserver_alive_fd)
        signal_at_parents_end(signal.SIGKILL)


def yield_to_server() -> None:
    """Lowers the priority of all threads of this process, those of its games too: on Linux each has its own."""
    tasks = Path("/proc/self/task")
    for thread in [int(task.name) for task in tasks.iterdir()] if tasks.exists() else [0]:
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            priority = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, min(priority + NICENESS, 19))


def make_room_for_games(predictions: PredictionClient, training: TrainingClient) -> None:
    """Prepares for games that start processes: these end with the agent, and are no agents themselves."""
    # A group of its own, which ends with it; Ctrl-C in the terminal does not reach what games have started. No session
    # of its own: on Linux priorities often count within a session alone, and agents shall yield to the server.
    os.setpgrp()
    adopt_orphans()  # so that it is known whose they are
    for number in SERVER_SIGNALS:
        signal.signal(number, _ignore)  # not SIG_IGN: what a game starts would inherit that

    def leave() -> None:
        """Runs in a process that a game forks: the agent's connections must end when the agent does."""
        predictions.close()
        training.close()
        for number in SERVER_SIGNALS:
            signal.signal(number, signal.SIG_DFL)

    os.register_at_fork(after_in_child=leave)
    multiprocessing.current_process().daemon = False  # a daemon may have no children
    multiprocessing.set_start_method(None, force=True)  # the default again, not what agents are started with


def _ignore(_number, _frame) -> None:
    pass


def main(
    plan: AgentPlan,
    number: int,
    position: int,
    memory: AgentMemory,
    predictions: PredictionClient,
    training: TrainingClient,
) -> None:
    """Runs agent `number`, the whole process. Ends when told to, or when the server is gone; says why if it fails.

    `position`: as `PredictionQueue.connect` says.
    """
    agent, status = os.getpid(), 1
    seed = environments.first_seed(plan.seed, number)
    end_with_server()
    faulthandler.enable()
    with contextlib.suppress(AttributeError):  # there is none
        sys.stdout.reconfigure(line_buffering=True)  # it is a pipe: what a game printed before it died shall be known
    make_room_for_games(predictions, training)
    try:
        if plan.first_core is not None:
            pin(plan.first_core + position)
        named_objects.unpack(plan.own_objects)
        envs = environments.make_for_player(plan.environment, plan.games, seed)
        yield_to_server()  # not before: on a busy machine the games would take minutes to start
        games = Games(envs, plan.games, plan.environment)
        play(games, memory, predictions, training, seed, plan.ships_when_complete)
        envs.close()
        status = 0
    except ServerGone:  # there is nobody left to report to
        if os.getpid() == agent:
            end_group(agent)
    except BaseException as error:
        if os.getpid() == agent:  # and not a process that a game has forked and forgotten to end
            memory.say_last_words(str(error) if isinstance(error, GameFault) else traceback.format_exc())
    sys.stdout.flush()
    os._exit(status)  # at once: multiprocessing would wait for the processes of the games
