"""Each implementation of a protocol has all its members, and its methods take what the protocol's take."""

import ast
import inspect
import itertools
import textwrap

import pytest

from ga3c.algorithms.a2c import A2C, A2CVtrace
from ga3c.algorithms.a3c import A3C
from ga3c.algorithms.algorithm import Algorithm, SharedOptimizer
from ga3c.algorithms.dpg import DPG
from ga3c.algorithms.dqn import C51, DQN
from ga3c.algorithms.none import NoLearning
from ga3c.algorithms.ppo import PPO
from ga3c.algorithms.pqn import PQN
from ga3c.cluster.pod_pool import PodPool
from ga3c.cluster.sharded import ShardedReplay
from ga3c.processes.agent_pool import AgentPool
from ga3c.processes.agents import Agents
from ga3c.replay.asynchronous_queue import AsynchronousReplayQueue
from ga3c.replay.replay_queue import ConcurrentReplayQueue, ReplayQueue
from ga3c.replay.secondary_queue import SecondaryQueue
from ga3c.systems import System
from ga3c.systems.multi_batch import MultiBatch
from ga3c.systems.one_thread import OneThread
from ga3c.systems.serial import BlockwiseReplayQueue
from ga3c.systems.stations import Stations
from ga3c.systems.units import Units
from ga3c.training_queue import TrainingQueue
from ga3c.transport.experience import Experience

QUEUES = [TrainingQueue, ReplayQueue, ConcurrentReplayQueue, AsynchronousReplayQueue, BlockwiseReplayQueue]
IMPLEMENTATIONS = {
    System: [Stations, OneThread, Units],
    Agents: [AgentPool, PodPool],
    Experience: [*QUEUES, SecondaryQueue, MultiBatch, ShardedReplay],
    Algorithm: [A3C, A2C, A2CVtrace, PPO, PQN, DQN, C51, DPG, NoLearning],
    SharedOptimizer: [A3C, A2C, A2CVtrace, PPO, DQN, C51],
}
EXTRA = {(one, "update"): {"target": None} for one in (DQN, C51, DPG)}  # what learns from a replay gets one more
PAIRS = [(protocol, one) for protocol, ones in IMPLEMENTATIONS.items() for one in ones]


def attributes(implementation: type) -> set[str]:
    """Names of all that an instance has: of its classes, and what their methods set."""
    names = set(dir(implementation))
    for own in implementation.__mro__:
        if own.__module__.startswith("ga3c"):
            for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(own)))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    names.add(node.attr)
    return names


def required(method) -> list:
    """Stand-ins for the arguments that each caller gives, self included."""
    parameters = inspect.signature(method).parameters.values()
    return [None for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize(("protocol", "implementation"), PAIRS, ids=lambda one: one.__name__)
def test_nothing_is_missing(protocol, implementation):
    members = {name for name in (*vars(protocol), *inspect.get_annotations(protocol)) if not name.startswith("_")}
    assert members
    assert members - attributes(implementation) == set()
    for name in members:
        wanted, found = vars(protocol).get(name), inspect.getattr_static(implementation, name, None)
        if inspect.isfunction(wanted) and isinstance(found, staticmethod):
            inspect.signature(found).bind(*required(wanted)[1:])  # raises TypeError, as the next does
        elif inspect.isfunction(wanted) and inspect.isfunction(found):
            inspect.signature(found).bind(*required(wanted), **EXTRA.get((implementation, name), {}))


@pytest.mark.parametrize("protocol", IMPLEMENTATIONS, ids=lambda one: one.__name__)
def test_each_member_says_what_it_is(protocol):
    """A method in its docstring, an attribute in the text that follows it."""
    body = ast.parse(textwrap.dedent(inspect.getsource(protocol))).body[0].body
    for node, after in itertools.pairwise(body):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), node.target.id
    assert all(ast.get_docstring(node) for node in body if isinstance(node, ast.FunctionDef))
