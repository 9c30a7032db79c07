"""The agents' processes: started, watched, replaced, told to end; and the books of what each of them made."""

import multiprocessing
import multiprocessing.forkserver
import signal
import threading
import time

import numpy as np

from ga3c import agent as agent_process
from ga3c.config import EnvironmentSettings
from ga3c.console import Console
from ga3c.prediction_queue import PredictionQueue
from ga3c.rollout import AgentMemory
from ga3c.stats import Stats
from ga3c.training_queue import TrainingQueue

STILLBORN_LIMIT = 3  # so many agents may die before their first step


class TrainingFailed(RuntimeError):
    """A part of the program failed in a way that ends the run. Its text says which and how."""


def start_forkserver() -> None:
    """Starts the small process that agents are forked from: it loads all they need, and no TensorFlow.

    Called from the main thread, early: it loads while the rest of the program does. It ignores the signals that
    reach the whole process group; the server decides when agents end.
    """
    multiprocessing.set_forkserver_preload(["ga3c.agent"])
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_IGN) for number in numbers]
    multiprocessing.forkserver.ensure_running()
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


class _Agent:
    """An agent's process and the queues' handles of it."""

    def __init__(self, process, prediction, training, memory: AgentMemory):
        self.process, self.prediction, self.training, self.memory = process, prediction, training, memory
        self.leaving = False


class AgentPool:
    """Safe to call from every thread."""

    def __init__(
        self,
        settings: EnvironmentSettings,
        predictions: PredictionQueue,
        training: TrainingQueue,
        dtype: np.dtype,
        slots: int,
        seed: int,
        first_number: int,
        console: Console,
    ):
        self._settings, self._predictions, self._training = settings, predictions, training
        self._dtype, self._slots, self._seed, self._console = dtype, slots, seed, console
        # Not forked from this process: TensorFlow's threads would not survive that.
        self._processes = multiprocessing.get_context("forkserver")
        self._agents: dict[int, _Agent] = {}
        self._ended: list[tuple[int, object]] = []  # steps made, and the handle: not all it shipped is read yet
        self._lock = threading.RLock()
        self._stillborn = 0
        self._core_seconds_ended = 0.0
        self.next_number = first_number  # agents are numbered through, over a resume too

    def add(self) -> None:
        """Starts one more agent."""
        with self._lock:
            number, self.next_number = self.next_number, self.next_number + 1
            memory = AgentMemory(self._dtype, self._slots)
            prediction, prediction_client = self._predictions.connect(memory)
            training, training_client = self._training.connect(number, memory, self._slots)
            games = self._dtype["action"].shape[1]
            process = self._processes.Process(
                target=agent_process.main,
                args=(
                    self._settings,
                    (self._seed + number * games) % 2**31,
                    memory,
                    prediction_client,
                    training_client,
                ),
                name=f"ga3c agent {number}",
                daemon=True,
            )
            process.start()
            prediction_client.close()  # the process has its own: when it dies, the connection ends
            training_client.close()
            self._agents[number] = _Agent(process, prediction, training, memory)

    def remove(self) -> None:
        """Tells the newest agent to ship what it has and to end. Does not wait for it."""
        with self._lock:
            staying = [agent for agent in self._agents.values() if not agent.leaving]
            if staying:
                staying[-1].leaving = True
                self._predictions.finish(staying[-1].prediction)

    def watch(self) -> None:
        """Replaces agents that have died. Raises TrainingFailed when that does not help."""
        with self._lock:
            for number in [n for n, agent in self._agents.items() if not agent.process.is_alive()]:
                agent = self._agents[number]
                code = agent.process.exitcode
                self._see_off(number)
                if agent.leaving:
                    continue
                self._stillborn = self._stillborn + 1 if agent.memory.steps == 0 else 0
                if self._stillborn >= STILLBORN_LIMIT:
                    raise TrainingFailed("Agents keep dying before their first step; their error stands above.")
                cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
                self._console.say(f"Agent {number} died ({cause}); a new one takes its place.")
                self.add()

    def end(self, seconds: float) -> None:
        """Lets all agents ship what they have and end; kills those that have not after so many seconds."""
        with self._lock:
            for agent in self._agents.values():
                self._predictions.finish(agent.prediction)
            deadline = time.monotonic() + seconds
            for number, agent in list(self._agents.items()):
                agent.process.join(max(0.0, deadline - time.monotonic()))
                if agent.process.is_alive():
                    agent.process.kill()
                self._see_off(number)

    def _see_off(self, number: int) -> None:
        agent = self._agents.pop(number)
        agent.process.join()
        agent.process.close()
        self._predictions.disconnect(agent.prediction)
        self._ended.append((agent.memory.steps, agent.training))
        self._core_seconds_ended += agent.memory.core_seconds

    def core_seconds(self) -> float:
        """CPU time that all agents of this start have used."""
        with self._lock:
            return self._core_seconds_ended + sum(agent.memory.core_seconds for agent in self._agents.values())

    def keep_books(self, stats: Stats) -> None:
        """Counts what ended agents made and what of it they never shipped, once all that they shipped is read."""
        with self._lock:
            for made, training in [pair for pair in self._ended if pair[1].connection.closed]:
                self._ended.remove((made, training))
                stats.agent_ended(made, made - training.shipped_steps)
