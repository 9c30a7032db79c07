"""Real agent processes on a tiny environment; the server is a few lines of this test."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from ga3c import environments, machine
from ga3c.errors import TrainingFailed
from ga3c.prediction_queue import PredictionQueue
from ga3c.processes import agent_pool
from ga3c.processes.agent_handle import PROGRESS_ROLLOUTS
from ga3c.processes.agent_pool import AgentPool
from ga3c.processes.agent_process import NICENESS, AgentPlan
from ga3c.rollout import rollout_dtype
from ga3c.settings.game import EnvironmentSettings
from ga3c.training_queue import TrainingQueue
from ga3c.transport.agent_memory import Doing
from tests import program
from tests.variants import long

T_MAX, GAMES, SLOTS = 5, 2, 3


class FewLines:
    """A server without a model: answers with action 0 and hands every slot back, while it is allowed to."""

    slots = SLOTS  # of each agent

    def __init__(self, game="tests.tiny_environment:Match-v0", silence_seconds=60.0, seed=1, emulator="auto"):
        settings = EnvironmentSettings(game=game, emulator=emulator)
        spec = environments.make(settings, 1, 0).spec
        self.dtype = rollout_dtype(spec, T_MAX, GAMES)
        self.predictions, self.training = PredictionQueue(), self._queue()
        self.said, self.answers, self.releases = [], threading.Event(), threading.Event()
        self.answers.set()
        self.releases.set()
        plan = AgentPlan(settings, self.dtype, self.slots, seed, silence_seconds)
        self.pool = AgentPool(plan, self.predictions, self.training, 0, self.said.append)
        self.threads = [threading.Thread(target=part, daemon=True) for part in (self._predictor, self._trainer)]
        for thread in self.threads:
            thread.start()

    def _queue(self):
        return TrainingQueue(self.dtype, 1, ("valid",))

    def _predictor(self):
        while requests := self.predictions.take(10):
            self.answers.wait()
            for request in requests:
                request.answer({"action": 0}, 0, time.monotonic())
            time.sleep(0.005)

    def _trainer(self):
        while batch := self.training.next_batch():
            self.releases.wait()
            self.training.done(batch)

    def watch(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pool.watch()
            time.sleep(0.1)

    def watch_until(self, condition, seconds=program.HANG_SECONDS):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.said
            self.pool.watch()
            time.sleep(0.1)

    def agents(self):
        """Numbers and steps of those that play."""
        return {number: agent.memory.steps for number, agent in self.pool._agents.items()}

    def shipped(self, number):
        """Rollouts; 0 if it does not play."""
        agent = self.pool._agents.get(number)
        return agent.memory.shipments if agent else 0

    def process(self, number):
        return psutil.Process(self.pool._agents[number].process.pid)

    def end(self):
        self.answers.set()
        self.releases.set()
        self.pool.end(2.0)
        self.predictions.close()
        self.training.close()
        for thread in self.threads:
            thread.join(program.HANG_SECONDS)
            assert not thread.is_alive()


@pytest.fixture
def server():
    servers = []

    def make(*arguments, **options):
        servers.append(FewLines(*arguments, **options))
        return servers[-1]

    yield make
    for each in servers:
        each.end()


def playing(few, *numbers):
    return lambda: all(few.agents().get(number, 0) > 0 for number in numbers)


@pytest.mark.skipif(not machine.can_pin(), reason="only Linux keeps processes to cores")
def test_agents_are_dealt_evenly_to_the_cores(server):
    """Also one that takes another's place, whatever its number; and those of another unit are on the other cores."""
    few, cores = server(), sorted(os.sched_getaffinity(0))
    few.pool._plan = replace(few.pool._plan, first_core=1)
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    few.process(0).kill()
    few.watch_until(playing(few, 1, 2))
    for number, place in ((1, 2), (2, 1)):
        assert few.process(number).cpu_affinity() == [cores[place % len(cores)]]


def test_a_stopped_agent_is_named_and_replaced(server):
    few = server(silence_seconds=1.0)
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    stopped = few.process(0)
    stopped.suspend()
    few.watch_until(playing(few, 1, 2))
    assert not psutil.pid_exists(stopped.pid)
    assert len(few.said) == 1
    assert "Agent 0 showed no sign of life" in few.said[0]
    assert set(few.agents()) == {1, 2}


def test_agents_yield_to_the_server_with_every_thread_that_works(server):
    few = server("Pong", emulator="ale")  # which has a thread of its own
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    process = few.process(0)
    before = {thread.id: thread.user_time for thread in process.threads()}

    def working():
        return [thread.id for thread in process.threads() if thread.user_time > before.get(thread.id, 0.0)]

    few.watch_until(lambda: len(working()) == 2)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in working()} == {min(own + NICENESS, 19)}


@pytest.mark.parametrize("name", ["SIGSTOP", long("SIGKILL")])
def test_without_the_process_that_agents_are_forked_from(server, name):
    few = server()
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))

    def hit_parent():
        few.process(max(few.agents())).parent().send_signal(getattr(signal, name))

    agent = few.process(0)
    hit_parent()
    with contextlib.suppress(psutil.NoSuchProcess):  # it ends with its parent
        agent.kill()
    few.watch_until(lambda: 0 not in few.agents() and len(few.agents()) == 2)
    assert any(line.startswith("Agent 0 died") for line in few.said)
    hit_parent()
    few.pool.scale(3)
    few.watch_until(lambda: sum(steps > 0 for steps in few.agents().values()) == 3)
    hit_parent()  # now it ends


@pytest.mark.parametrize("event", ["answers", long("releases")])
def test_an_agent_that_waits_for_an_answer_or_a_slot_is_not_at_fault(server, event):
    few = server(silence_seconds=0.5)
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    getattr(few, event).clear()
    few.watch(2.0)
    getattr(few, event).set()
    few.watch(1.0)
    assert few.said == []
    assert set(few.agents()) == {0, 1}


def test_while_a_slot_is_on_its_way_back_its_agent_is_not_at_fault(server):
    few = server(silence_seconds=0.5)
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    agent, has_core = few.pool._agents[0], threading.Event()
    send = agent.training.send
    agent.training.send = lambda message: (has_core.wait(), send(message))
    few.watch_until(lambda: agent.memory.doing[0] == Doing.WAITING_FOR_SLOT)
    few.watch(1.5)
    has_core.set()
    assert few.said == []
    steps = few.agents()[0]
    few.watch_until(lambda: few.agents()[0] > steps)


@pytest.mark.parametrize("event", [long("answers"), "releases"])
def test_one_that_was_stopped_while_it_waited_is_noticed_once_it_is_served(server, event):
    few = server(silence_seconds=1.0)
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    getattr(few, event).clear()
    time.sleep(0.2)  # what was under way is over
    few.watch_until(lambda: few.pool._agents[0].waits_for_server)
    few.process(0).suspend()
    few.watch(0.5)
    getattr(few, event).set()
    few.watch_until(playing(few, 1))
    assert "Agent 0 showed no sign of life" in few.said[0]


def test_after_everything_was_stopped_together_nobody_is_at_fault(server):
    few = server(silence_seconds=1.0)
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    few.process(0).suspend()
    time.sleep(agent_pool.WATCH_SECONDS + 0.5)  # the server, too, does nothing
    few.pool.watch()
    few.process(0).resume()
    few.watch(1.5)
    assert few.said == []


def test_a_hanging_agent_that_shall_leave_is_killed(server):
    few = server(silence_seconds=1.0)
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    few.process(1).suspend()
    few.pool.scale(1)
    few.watch_until(lambda: set(few.agents()) == {0})
    assert "no sign of life" in few.said[0]
    assert "takes its place" not in few.said[0]


def test_an_agent_that_is_not_wanted_pauses_and_plays_on_when_it_is(server):
    few = server(silence_seconds=1.0)
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    first = few.process(1)
    few.pool.scale(1)
    few.watch_until(lambda: "pausing" in few.pool.report()[1])
    steps = few.agents()
    few.watch(2.0)  # for longer than an agent may be silent
    few.watch_until(lambda: few.agents()[0] > steps[0])
    assert few.agents()[1] == steps[1]
    few.pool._plan = replace(few.pool._plan, silence_seconds=60.0)
    first.suspend()
    few.pool.scale(3)
    assert few.pool.starting() == 1
    few.watch(0.5)  # it is given time to wake
    first.resume()
    few.watch_until(lambda: few.agents()[1] > steps[1] and playing(few, 2)())
    assert few.process(1) == first
    assert few.said == []


def test_one_that_pauses_for_long_ends(server, monkeypatch):
    few = server()
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    monkeypatch.setattr(agent_pool, "SPARE_SECONDS", 5.0)
    few.pool.scale(1)
    few.watch(0.5)
    assert set(few.agents()) == {0, 1}
    few.watch_until(lambda: set(few.agents()) == {0})
    assert few.said == []


def test_one_that_dies_while_it_pauses_is_not_replaced(server):
    few = server()
    few.pool.scale(2)
    few.watch_until(playing(few, 0, 1))
    few.pool.scale(1)
    few.watch_until(lambda: "pausing" in few.pool.report()[1])
    few.process(1).kill()
    few.watch_until(lambda: set(few.agents()) == {0})
    few.watch(0.5)
    assert set(few.agents()) == {0}
    assert few.said == ["Agent 1 died (SIGKILL)."]


def test_all_games_of_all_agents_have_seeds_of_their_own(server):
    few = server("tests.tiny_environment:Seeded-v0")
    few.pool.scale(3)
    few.watch_until(playing(few, 0, 1, 2))

    def seeds(few, number):
        return {tuple(game) for game in few.pool._agents[number].memory.slots["observation"][0, 0].tolist()}

    own = set.union(*(seeds(few, number) for number in range(3)))
    assert len(own) == 3 * GAMES
    neighbour = server("tests.tiny_environment:Seeded-v0", seed=2)  # a run of the next seed has other games
    neighbour.pool.scale(3)
    neighbour.watch_until(playing(neighbour, 0, 1, 2))
    assert not own & set.union(*(seeds(neighbour, number) for number in range(3)))
    few.process(1).kill()
    few.watch_until(playing(few, 3))
    assert not own & seeds(few, 3)


def test_what_games_draw_from_the_state_that_a_process_shares_is_an_agents_own(server):
    """Of a seed and a number, and not of the process that all agents are forked from."""

    def first_shown(seed):
        few = server("tests.tiny_environment:Shared-v0", seed=seed)
        few.answers.clear()
        few.pool.scale(2)
        few.watch_until(lambda: all(agent.waits_for_server for agent in few.pool._agents.values()))
        few.process(1).kill()
        few.watch_until(lambda: set(few.agents()) == {0, 2} and few.pool._agents[2].waits_for_server)
        return [few.pool._agents[number].memory.slots["observation"][0, 0].tolist() for number in (0, 2)]

    shown = first_shown(1)
    numbers = np.ravel(shown + first_shown(2))
    assert len(set(numbers)) == len(numbers) == 2 * 2 * GAMES * 2
    assert first_shown(1) == shown


def test_what_the_start_of_an_agent_took_is_known_before_its_first_step(server):
    """Else it would count as silence of its first step, where cores are short."""
    few = server()
    few.answers.clear()
    few.pool.scale(1)
    few.watch_until(lambda: few.pool._agents[0].waits_for_server)
    assert few.agents() == {0: 0}
    assert few.pool._agents[0].memory.core_seconds > 0


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="no other system says who wants a core")
def test_an_agent_that_gets_no_core_is_slow_and_not_dead(server):
    """It shares a core with a program that takes nearly all of it, and is silent for long."""
    few, core = server("tests.tiny_environment:Heavy-v0", silence_seconds=0.5), min(os.sched_getaffinity(0))
    few.pool.scale(1)
    few.watch_until(playing(few, 0))

    def put_last(process):
        for thread in psutil.Process(process).threads():
            os.sched_setaffinity(thread.id, {core})
            os.sched_setscheduler(thread.id, os.SCHED_IDLE, os.sched_param(0))

    put_last(few.process(0).pid)
    code = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code]) as busy:
        try:
            agent = few.pool._agents[0]
            few.watch_until(lambda: time.monotonic() - agent.memory.doing[1] > 4 * few.pool._plan.silence_seconds)
        finally:
            busy.kill()
    assert few.said == []
    steps = few.agents()[0]
    few.watch_until(lambda: few.agents()[0] > steps)
    assert few.said == []


def test_an_endless_loop_in_a_game_is_noticed(server):
    few = server("tests.tiny_environment:Endless-v0", silence_seconds=1.0)
    few.pool.scale(1)
    few.watch_until(lambda: few.said)
    assert "no sign of life" in few.said[0]
    assert "stepping its games" in few.said[0]


def test_agents_that_fail_end_it_with_their_own_traceback(server):
    few = server("tests.tiny_environment:Broken-v0")
    few.pool.scale(1)
    with pytest.raises(TrainingFailed) as failed:
        few.watch(program.HANG_SECONDS)
    assert "ArithmeticError: broken on purpose" in str(failed.value)
    assert 'raise ArithmeticError("broken on purpose")' in str(failed.value)
    assert len(few.said) == agent_pool.ERRORS_LIMIT - 1


def test_what_a_game_must_not_return_ends_it_in_one_line(server):
    few = server("tests.tiny_environment:Strange-reward-v0")
    few.pool.scale(1)
    with pytest.raises(TrainingFailed, match=r"agent 2, failed: step\(\) returned the reward nan, ") as failed:
        few.watch(program.HANG_SECONDS)
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize("game", [long("Crashing"), "Endless"])
def test_agents_that_die_soon_after_their_first_step_are_replaced_later_each_time_and_end_it(server, monkeypatch, game):
    monkeypatch.setattr(agent_pool, "DEATHS_LIMIT", 4)
    monkeypatch.setattr(agent_pool, "DELAY_SECONDS", 0.5)
    few = server(f"tests.tiny_environment:{game}-v0", silence_seconds=1.0)
    few.pool.scale(1)
    few.watch_until(lambda: len(few.said) == 2)
    assert (few.agents(), few.pool.missing(), few.pool.starting()) == ({}, 1, 0)  # it waits: nobody starts
    with pytest.raises(TrainingFailed, match="The last, agent 3,") as failed:
        few.watch(program.HANG_SECONDS)
    ends = [line.partition(";")[2] for line in few.said]
    assert ends == [" a new one takes its place" + when for when in (".", " in 0.5 s.", " in 1 s.")]
    what = {"Crashing": "died (SIGSEGV)", "Endless": "raise --agent-silence-seconds"}[game]
    assert what in str(failed.value)


def test_agents_that_are_killed_after_real_work_are_replaced_at_once(server):
    few = server()
    few.pool.scale(1)
    for number in range(agent_pool.DEATHS_LIMIT + 2):
        few.watch_until(lambda number=number: few.shipped(number) >= PROGRESS_ROLLOUTS)
        os.kill(few.process(number).pid, signal.SIGKILL)
    few.watch_until(playing(few, agent_pool.DEATHS_LIMIT + 2))
    deaths = range(agent_pool.DEATHS_LIMIT + 2)
    assert few.said == [f"Agent {number} died (SIGKILL); a new one takes its place." for number in deaths]


def test_while_others_play_one_that_never_does_ends_nothing(server, monkeypatch):
    monkeypatch.setattr(agent_pool, "DELAY_LIMIT_SECONDS", 0.2)
    few = server()
    few.pool.scale(2)
    for number in range(1, agent_pool.DEATHS_LIMIT + 2):
        few.watch_until(lambda number=number: number in few.agents())
        os.kill(few.process(number).pid, signal.SIGKILL)
        few.watch_until(lambda number=number: number not in few.agents())
        shipped = few.shipped(0)
        few.watch_until(lambda shipped=shipped: few.shipped(0) >= shipped + PROGRESS_ROLLOUTS)
    few.watch_until(playing(few, 0, agent_pool.DEATHS_LIMIT + 2))


def test_agents_that_never_come_to_play_end_it(server, monkeypatch):
    """Killed each time while they start their games, as where there is too little memory."""
    monkeypatch.setattr(agent_pool, "DELAY_SECONDS", 0.0)
    few = server()
    few.answers.clear()  # without an answer nobody makes a step
    few.pool.scale(1)

    def kill_each():
        for number in range(2 * agent_pool.DEATHS_LIMIT):
            os.kill(few.process(number).pid, signal.SIGKILL)
            few.watch_until(lambda number=number: number + 1 in few.agents())

    with pytest.raises(TrainingFailed, match="Agents keep dying"):
        kill_each()
    assert max(few.agents(), default=0) < agent_pool.DEATHS_LIMIT
    assert len(few.said) == agent_pool.DEATHS_LIMIT - 1


def test_where_too_few_files_may_be_open_it_says_what_to_do(server):
    few, limits = server(), resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))  # no new one
        few.pool.scale(1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    (line,) = few.said
    assert "Too many open files" in line
    assert "ulimit -n" in line
    few.watch_until(playing(few, 0))


def test_where_no_process_can_be_started_it_goes_on_with_those_there_are(server, monkeypatch):
    few = server()
    few.pool.scale(1)
    few.watch_until(playing(few, 0))

    def refuse(_):
        raise OSError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patch:
        patch.setattr("multiprocessing.context.ForkServerProcess.start", refuse)
        few.pool.scale(3)
        few.watch(0.5)
        assert set(few.agents()) == {0}
        assert len(few.said) == 1
        assert "temporarily unavailable" in few.said[0]
    few.watch_until(lambda: len(few.agents()) == 3 and all(few.agents().values()))
    assert len(few.said) == 1


def test_where_shared_memory_is_full_it_goes_on_with_those_there_are(server, monkeypatch):
    """To write into a page that there is no room for would end the server by a signal."""
    few = server()
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    with monkeypatch.context() as patch:
        patch.setattr(agent_pool, "shared_memory_free", lambda: 1000)
        few.pool.scale(2)
        few.watch(0.5)
        assert set(few.agents()) == {0}
        assert "/dev/shm has less free" in few.said[0]
        assert len(few.said) == 1
    few.watch_until(lambda: len(few.agents()) == 2)


def test_the_report_says_who_waits(server):
    few = server()
    few.pool.scale(1)
    few.watch_until(playing(few, 0))
    few.answers.clear()
    time.sleep(0.2)  # what was under way is over
    few.watch_until(lambda: "has not served it" in few.pool.report()[0])
    assert "Agent 0: waiting for actions" in few.pool.report()[0]
