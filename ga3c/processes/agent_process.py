"""An agent's process: what it is given, and how it ends."""

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from multiprocessing import forkserver

from ga3c import environments
from ga3c.agent import play
from ga3c.prediction_queue import PredictionClient
from ga3c.settings.game import EnvironmentSettings
from ga3c.training_queue import TrainingClient
from ga3c.transport.inbox import ServerGone
from ga3c.transport.memory import AgentMemory

NICENESS = 10  # agents yield to the server: where cores are few, no work for the model shall pile up and get old


# They reach the whole process group; what they mean is the server's business.
SERVER_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


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
