"""Turns, with agents that this test makes up; and real runs in lockstep."""

import itertools
import os
import signal
from types import SimpleNamespace

import pytest

from ga3c.records import checkpoint
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.scheduling.turns import Turns
from ga3c.training_queue import TrainingQueue
from tests import program
from tests.program import TINY, Started
from tests.variants import variants

SOLVED = 17.0  # of 20 points; 5 is chance


class Agent:
    """As a `Turns` sees it: of both queues."""

    numbers = itertools.count()

    def __init__(self):
        self.gone, self.memory, self.number = False, SimpleNamespace(untrained=0), next(self.numbers)

    def asks(self, row=1):
        return SimpleNamespace(agent=self, row=row)

    def ships(self):
        self.memory.untrained = 1
        rollout = SimpleNamespace(agent=SimpleNamespace(memory=self.memory, number=self.number), dropped=False)
        rollout.drop = lambda: setattr(rollout, "dropped", True)
        return rollout


def begun(turns, count):
    """So many agents, that have all been predicted for."""
    agents = [Agent() for _ in range(count)]
    waiting = [agent.asks(0) for agent in agents]
    while waiting:
        taken = turns.choose_requests(waiting)
        assert taken
        del waiting[:taken]
    return agents


def test_nobody_begins_before_all_are_there():
    turns, agents = Turns(3, 1, lockstep=True), [Agent() for _ in range(3)]
    assert turns.choose_requests([agents[0].asks(0), agents[1].asks(0)]) == 0
    assert turns.waits_for_agents
    assert turns.choose_requests([agent.asks(0) for agent in agents]) == 3
    assert not turns.waits_for_agents


def test_unless_it_is_told_to():
    turns, agent = Turns(3, 1, lockstep=True), Agent()
    assert turns.choose_requests([agent.asks(0)]) == 0
    turns.begin()
    assert turns.choose_requests([agent.asks(0)]) == 1


@pytest.mark.parametrize("lockstep", [True, False])
def test_all_are_predicted_for_together(lockstep):
    turns = Turns(3, 1, lockstep)
    agents = begun(turns, 3)
    waiting = [agents[2].asks(), agents[0].asks()]
    assert turns.choose_requests(waiting) == 0
    assert turns.choose_requests([*waiting, agents[1].asks()]) == 3


def test_groups_take_turns():
    turns = Turns(4, 2, lockstep=True)
    agents = begun(turns, 4)
    first, second = {agents[0], agents[2]}, {agents[1], agents[3]}
    waiting = [agent.asks() for agent in (agents[1], agents[0], agents[2])]
    assert turns.choose_requests(waiting) == 2  # the other group is not complete
    assert {request.agent for request in waiting[:2]} == first
    waiting = [agent.asks(2) for agent in agents]
    assert turns.choose_requests(waiting) == 2
    assert {request.agent for request in waiting[:2]} == second


def test_in_lockstep_a_rollout_begins_after_the_update():
    turns = Turns(2, 1, lockstep=True)
    agents = begun(turns, 2)
    rollouts = [agents[0].ships()]
    assert turns.choose_rollouts(rollouts) == 0
    rollouts.append(agents[1].ships())
    waiting = [agent.asks(0) for agent in agents]
    assert turns.choose_requests(waiting) == 0
    assert turns.choose_rollouts(rollouts) == 2
    for agent in agents:
        agent.memory.untrained = 0
    assert turns.choose_requests(waiting) == 2


def test_who_is_gone_is_not_waited_for_and_who_is_new_begins_after_the_update():
    changes = []
    turns = Turns(3, 1, lockstep=True, on_change=lambda: changes.append(1))
    agents = begun(turns, 3)
    changes.clear()
    rollouts = [agent.ships() for agent in agents]
    agents[0].gone, new = True, Agent()
    waiting = [agents[0].asks(0), agents[1].asks(0), new.asks(0)]
    assert turns.choose_requests(waiting) == 0
    assert changes
    assert [request.agent for request in waiting] == [agents[1], new]
    lost = rollouts[0]
    assert turns.choose_rollouts(rollouts) == 2
    assert lost.dropped
    assert lost not in rollouts
    for agent in agents:
        agent.memory.untrained = 0
    turns.updated()
    assert turns.choose_requests([*waiting, agents[2].asks(0)]) == 3


def test_a_newcomer_is_let_in_before_the_others_begin():
    """As soon as one slot is free, some agents may play on: if the newcomer came after that, it would be behind."""
    said, rollout = [], SimpleNamespace(release=lambda: said.append("slot"))
    batch = SimpleNamespace(rollouts=[rollout], buffer=None)
    dtype = rollout_dtype(EnvironmentSpec("Test", (3,), "float32", discrete(2), 1), 5, 2)
    queue = TrainingQueue(dtype, 1, (), len, lambda: said.append("updated"), lambda: said.append("free"))
    queue.done(batch)
    assert said == ["updated", "slot", "free"]


def test_who_ends_is_answered_at_once():
    turns = Turns(2, 1, lockstep=True)
    agents = begun(turns, 2)
    turns.end()
    new = Agent()
    assert turns.choose_requests([agents[0].asks(3), new.asks(0)]) == 2
    assert turns.choose_rollouts([agent.ships() for agent in agents]) == 0  # more may come of them
    rollouts = [new.ships()]
    assert turns.choose_rollouts(rollouts) == 0
    assert not rollouts[0].dropped


def test_without_lockstep_nobody_waits_for_the_update():
    turns = Turns(2, 1, lockstep=False)
    agents = begun(turns, 2)
    for agent in agents:
        agent.ships()
    new = Agent()
    assert turns.choose_requests([agent.asks(0) for agent in (*agents, new)]) == 3


def test_an_update_of_before_lets_nobody_in_during_the_rollout():
    turns = Turns(2, 1, lockstep=True)
    agents = begun(turns, 2)
    turns.updated()
    assert turns.choose_requests([agent.asks(0) for agent in agents]) == 2
    new = Agent()
    waiting = [agent.asks(1) for agent in agents] + [new.asks(0)]
    assert turns.choose_requests(waiting) == 2
    assert new not in [request.agent for request in waiting[:2]]
    assert not turns.waits_for_agents  # the others play


def test_who_has_died_before_the_first_prediction_is_not_there():
    turns, agents = Turns(2, 1, lockstep=True), [Agent() for _ in range(3)]
    assert turns.choose_requests([agents[0].asks(0)]) == 0
    agents[0].gone = True
    assert turns.choose_requests([agents[1].asks(0)]) == 0
    assert turns.choose_requests([agents[1].asks(0), agents[2].asks(0)]) == 2


def test_when_all_have_died_the_first_new_one_begins():
    turns = Turns(2, 1, lockstep=True)
    for agent in begun(turns, 2):
        agent.gone = True
    assert turns.choose_requests([Agent().asks(0)]) == 1


SHORT_SIGHTED = ["--discount", 0.5, "--return-lambda", 0]  # which is all that this game asks for
QUICK = ["--learning-rate", 0.01, "--rmsprop-decay", 0.9, "--rmsprop-epsilon", 1e-5, "--entropy-weight", 0.01]
RUNS = {
    "ppo synchronised": ["ppo", "--t-max", 32, "--learning-rate", 0.003],
    "pqn alternating": ["pqn", "--t-max", 20, "--exploration-decay-steps", 20_000, *SHORT_SIGHTED],
    "a2c-vtrace alternating": ["a2c-vtrace", *QUICK, *SHORT_SIGHTED],
    "a3c synchronised": ["a3c", *SHORT_SIGHTED],
    "appo asynchronous": ["appo", "--t-max", 32, "--learning-rate", 0.003],
}


@pytest.mark.parametrize("which", variants(RUNS, "a2c-vtrace alternating", "appo asynchronous"))
def test_real_runs_learn_and_in_lockstep_no_step_is_older_than_the_last_update(tmp_path, which):
    algorithm, *more = RUNS[which]
    sampling = which.split()[-1]
    arguments = ["--preset", "ga3c", "--algorithm", algorithm, "--sampling", sampling, *more]
    arguments += ["--start-steps-limit", 50]
    arguments += ["--run-dir", tmp_path / "run", "--log-seconds", 0.5, "--seed", 1]
    started = Started(tmp_path / "log", *TINY, *arguments, code=program.PATIENT_STOP)
    solved = lambda row: float(row["mean_score"] or "nan") > SOLVED  # noqa: E731
    started.wait_for(lambda: any(map(solved, program.rows(tmp_path / "run" / "throughput.csv"))))
    assert started.stop() == 130, started.log.read_text()
    assert ("Controller: off" in started.log.read_text()) == (sampling != "asynchronous")
    assert "8 games in 2 processes with up to 50 random steps each" in started.log.read_text()
    games = program.rows(tmp_path / "run" / "episodes.csv")
    assert {int(row["length_steps"]) for row in games} == {20}
    rows = program.rows(tmp_path / "run" / "throughput.csv")
    if algorithm != "a3c" and sampling != "asynchronous":
        assert {float(row["max_policy_lag_updates"]) for row in rows} == {0.0}
    assert int(rows[-1]["steps"]) == int(rows[-1]["trained_steps"])
    assert int(rows[-1]["lost_steps"]) == 0


def test_in_lockstep_a_killed_agent_is_replaced_a_killed_run_goes_on_and_policy_lag_stays_0(tmp_path):
    arguments = ["--algorithm", "ppo", "--preset", "ga3c", "--sampling", "alternating", "--log-seconds", 0.5]
    arguments += ["--checkpoint-seconds", 1]
    started = Started(tmp_path / "log", *TINY, *arguments, "--run-dir", tmp_path / "run")

    def trained():
        return [int(row["trained_steps"]) for row in program.rows(tmp_path / "run" / "throughput.csv")] or [0]

    def goes_on():
        before = trained()[-1]
        started.wait_for(lambda: trained()[-1] > before + 1_000)

    goes_on()
    for deaths, number in enumerate((signal.SIGKILL, signal.SIGSTOP), start=1):  # dead; and hanging
        os.kill(started.agents()[0].pid, number)
        started.wait_for(lambda: started.log.read_text().count("takes its place") == deaths)  # noqa: B023
        goes_on()
    assert "The learning rate falls" not in started.log.read_text()
    assert started.stop(signal.SIGKILL) == -signal.SIGKILL
    assert not started.left_over()
    started = Started(tmp_path / "again", "--resume", tmp_path / "run", "--learning-rate-schedule", "linear")
    goes_on()
    assert "falls to 0 at 1,000,000 steps" in started.log.read_text()
    assert started.stop() == 130
    rows = program.rows(tmp_path / "run" / "throughput.csv")
    assert {float(row["max_policy_lag_updates"]) for row in rows} <= {0.0}
    totals = checkpoint.load_newest(tmp_path / "run" / "checkpoints")[2]["totals"]
    assert totals["made_steps"] == totals["trained_steps"] + totals["lost_steps"]
