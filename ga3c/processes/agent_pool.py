"""Starts, watches, replaces and ends the agents' processes, and counts what each of them made."""

import contextlib
import errno
import multiprocessing
import threading
import time
from collections.abc import Callable

from ga3c.errors import TrainingFailed
from ga3c.machine import shared_memory_free
from ga3c.prediction_queue import Order, PredictionQueue
from ga3c.processes import agent_process, agents_start, family
from ga3c.processes.agent_handle import AgentHandle, cause_of_death
from ga3c.processes.agent_process import AgentPlan
from ga3c.settings import named_objects
from ga3c.stats import EndedAgents, Stats
from ga3c.transport.agent_memory import AgentMemory, Doing
from ga3c.transport.experience import Experience

# So many deaths in a row, without progress of any agent in between, end the run: by an own error, and by any cause.
ERRORS_LIMIT, DEATHS_LIMIT = 3, 8
# The wait before an agent is replaced after a second death in a row without progress, twice as long each time up to
# the limit. The first is replaced at once.
DELAY_SECONDS, DELAY_LIMIT_SECONDS = 1.0, 60.0
START_SECONDS = 60.0  # an agent that starts its games may be silent for so long at the least, and 1 s for each game
WATCH_SECONDS = 3.0  # between two looks at the agents; if it was longer, the server itself had been stopped
# An agent that is not wanted pauses for so long before it ends: a start costs seconds of a core, and the controller,
# which measures two settings in turns, often wants it again.
SPARE_SECONDS = 60.0


class AgentPool:
    """Keeps as many agents playing as `scale` last said: an `agents.Agents`. Safe to call from every thread."""

    def __init__(
        self,
        plan: AgentPlan,
        predictions: PredictionQueue,
        training: Experience,
        first_number: int,
        say: Callable[[str], None],
    ):
        self._plan, self._predictions, self._training, self._say = plan, predictions, training, say
        # Not forked from this process: TensorFlow's threads would not survive that.
        self._processes = multiprocessing.get_context("forkserver")
        self._agents: dict[int, AgentHandle] = {}
        self._ended = EndedAgents()
        self._lock = threading.RLock()
        self._wanted, self._closed = 0, False
        self._errors, self._deaths = 0, 0  # in a row
        self._delayed: list[tuple[float, int]] = []  # agents to start: when (time.monotonic()), deaths in a row
        self._cannot_start = ""  # the reason, as it was last said
        self._watched = self._woken = time.monotonic()
        self.next_number = first_number  # agents are numbered through, over a resume too

    def begin(self, model, stats: Stats) -> None:
        """Does nothing: agents play already, and the predictors answer them."""

    def watched(self) -> dict[str, float]:
        return {}

    def scale(self, count: int) -> None:
        """Starts agents, or tells the newest to ship what they have and to pause. Does not wait for either."""
        with self._lock:
            self._wanted = 0 if self._closed else count
            for agent in self._playing()[count:]:
                agent.spare_since = time.monotonic()
                agent.prediction.order(Order.PAUSE)
            self._end_spare()
            self._fill_up()

    def _end_spare(self) -> None:
        for agent in self._spare():
            if time.monotonic() - agent.spare_since >= SPARE_SECONDS:
                agent.leaving = True
                agent.prediction.order(Order.FINISH)

    def _playing(self) -> list[AgentHandle]:
        return [agent for agent in self._agents.values() if agent.is_wanted]

    def _spare(self) -> list[AgentHandle]:
        return [agent for agent in self._agents.values() if not agent.leaving and agent.spare_since is not None]

    def _fill_up(self) -> None:
        """Wakes or starts what is missing.

        Where the system refuses, it says so once and is tried again at the next watch.
        """
        for agent in self._spare()[: max(0, self._wanted - len(self._playing()))]:
            agent.spare_since = None
            agent.prediction.order(Order.GO_ON)
        del self._delayed[max(0, self._wanted - len(self._playing())) :]
        try:
            for due in [one for one in self._delayed if one[0] <= time.monotonic()]:
                self._start(deaths=due[1])
                self._delayed.remove(due)
            for _ in range(self._wanted - len(self._playing()) - len(self._delayed)):
                self._start()
            self._cannot_start = ""
        except (OSError, EOFError) as error:  # end of file: the process that they are forked from has died
            if str(error) != self._cannot_start:
                self._cannot_start = str(error)
                too_many_files = getattr(error, "errno", None) == errno.EMFILE
                more = " (allow more before the start: ulimit -n 4096)" * too_many_files
                self._say(f"Cannot start another agent for now: {error}{more}. Going on with {len(self._playing())}.")

    def _start(self, deaths: int = 0) -> None:
        number, plan = self.next_number, self._plan
        free, needed = shared_memory_free(), AgentMemory.bytes_of(plan.dtype, plan.slots)
        if free is not None and free < needed:  # a write into a page that there is no room for would end this process
            raise OSError(errno.ENOSPC, f"an agent shares {needed / 1e6:.1f} MB, and /dev/shm has less free")
        agents_start.ensure_running()
        with contextlib.ExitStack() as undo:
            memory = AgentMemory(plan.dtype, plan.slots)
            prediction, prediction_client = self._predictions.connect(memory, number)
            undo.callback(self._predictions.disconnect, prediction)
            training, training_client = self._training.connect(number, memory, plan.slots, prediction.position)
            undo.callback(self._training.disconnect, training)
            # The process gets clients of its own: when it dies, the connections end.
            with contextlib.closing(prediction_client), contextlib.closing(training_client):
                arguments = plan, number, prediction.position, memory, prediction_client, training_client
                process = self._processes.Process(
                    target=agent_process.main, args=arguments, name=f"ga3c agent {number}", daemon=True
                )
                agents_start.wake()
                with named_objects.without_main():
                    process.start()
            undo.pop_all()
        self.next_number = number + 1
        self._agents[number] = AgentHandle(process, prediction, training, memory, deaths)

    def watch(self) -> None:
        """Replaces agents that have died or hang. Called every second or so.

        Raises TrainingFailed, with an agent's own error, when that does not help.
        """
        with self._lock:
            agents_start.wake()
            now, before = time.monotonic(), self._watched
            self._watched = now
            if now - before > WATCH_SECONDS:  # everything was stopped together: let the agents go on first
                self._woken = now
            if any(agent.makes_progress for agent in self._agents.values()):
                self._errors = self._deaths = 0
            agents = len(self._agents)
            for number, agent in list(self._agents.items()):
                self._end_if_silent(agent)
                if not agent.process.is_alive():
                    self._bury(number)
            if len(self._agents) < agents:
                agents_start.end_orphans()
            self._end_spare()
            self._fill_up()

    def _end_if_silent(self, agent: AgentHandle) -> None:
        limit, doing = self._plan.silence_seconds, agent.memory.doing[0]
        if not limit:
            return
        if doing == Doing.STARTING:
            limit = max(limit, START_SECONDS + self._plan.games)
        silence = agent.silent_seconds
        if min(silence, self._watched - self._woken) > limit:
            agent.fault = f"showed no sign of life for {silence:.0f} s while {doing}"
            agent.process.kill()
            agent.process.join(0.2)

    def _bury(self, number: int) -> None:
        """Removes an agent that has died, and says so unless it was told to leave. Raises TrainingFailed."""
        agent = self._agents[number]
        code, words = agent.process.exitcode, agent.memory.last_words
        self._remove(number)
        if agent.leaving and not (words or agent.fault):
            return
        cause, deaths = agent.fault or cause_of_death(code, words), agent.deaths
        self._deaths = self._deaths + 1 if deaths else 0
        self._errors = self._errors + bool(words) if deaths else 0
        if self._errors >= ERRORS_LIMIT or self._deaths >= DEATHS_LIMIT:
            hint = "If a step of its games may take so long, raise --agent-silence-seconds." if agent.fault else ""
            trace = words.rstrip() if "\n" in words.strip() else ""  # else it is the cause
            lines = [f"Agents keep dying. The last, agent {number}, {cause}", trace, hint]
            raise TrainingFailed("\n".join(line for line in lines if line))
        replaced = "."
        if agent.is_wanted:
            seconds = min(DELAY_SECONDS * 2 ** (deaths - 2), DELAY_LIMIT_SECONDS) if deaths > 1 else 0.0
            self._delayed.append((time.monotonic() + seconds, deaths))
            replaced = "; a new one takes its place" + (f" in {seconds:g} s." if seconds else ".")
        if deaths:
            for other in self._agents.values():
                other.count_again()
        self._say(f"Agent {number} {cause}{replaced}")

    def end(self, seconds: float) -> None:
        with self._lock:
            self._wanted, self._closed = 0, True
            agents_start.wake()
            for agent in self._agents.values():
                agent.prediction.order(Order.FINISH)
            self._predictions.look_again()
            deadline = time.monotonic() + seconds
            for number, agent in list(self._agents.items()):
                agent.process.join(max(0.0, deadline - time.monotonic()))
                if agent.process.is_alive():
                    agent.process.kill()
                self._remove(number)
            agents_start.end_orphans()

    def _remove(self, number: int) -> None:
        agent = self._agents.pop(number)
        agent.process.join()
        family.end_group(agent.process.pid)
        agent.process.close()
        self._predictions.disconnect(agent.prediction)
        self._ended.add(agent.memory.steps, agent.memory.core_seconds, agent.training)

    def core_seconds(self) -> float:
        with self._lock:
            return self._ended.core_seconds + sum(agent.memory.core_seconds for agent in self._agents.values())

    def keep_books(self, stats: Stats, final: bool = False) -> None:
        with self._lock:
            self._ended.count(stats, final)

    def steps(self) -> int:
        """Returns the steps that agents have made in this start, shipped or not, without those lost with an agent.

        Asked before each prediction, so without the lock: for a moment it may miss an agent that ends.
        """
        return self._ended.trained_steps + sum(agent.memory.steps for agent in list(self._agents.values()))

    def missing(self) -> int:
        with self._lock:
            begun = sum(agent.memory.doing[0] != Doing.STARTING for agent in self._playing())
            return max(0, self._wanted - begun)

    def starting(self) -> int:
        with self._lock:
            return max(0, self.missing() - len(self._delayed))

    def report(self) -> list[str]:
        with self._lock:
            return [agent.line(number) for number, agent in self._agents.items()]
