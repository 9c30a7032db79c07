"""The cost of each station alone, in core-milliseconds for each agent step: the parts of the machine's bound."""

import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ga3c import environments
from ga3c.prediction_queue import PredictionClient, PredictionQueue
from ga3c.replay.recipe import Recipe
from ga3c.replay.replay_memory import Replay
from ga3c.rollout import EnvironmentSpec, rollout_dtype, transition_dtype
from ga3c.scheduling.pace import Pace
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from ga3c.training_queue import TrainingClient, TrainingQueue
from ga3c.transport.agent_memory import AgentMemory


class Cost(NamedTuple):
    """The cost of one agent step, in milliseconds."""

    core_ms: float  # CPU time, of all threads
    wall_ms: float


def _repeat(work: Callable[[], object], steps: int, seconds: float) -> Cost:
    """Calls `work`, which is worth so many agent steps, for about so many seconds."""
    work()
    calls, core, began = 0, time.process_time(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        work()
        calls += 1
    wall, core = time.perf_counter() - began, time.process_time() - core
    return Cost(1000 * core / (calls * steps), 1000 * wall / (calls * steps))


def emulate(settings: EnvironmentSettings, t_max: int, envs: int, seconds: float) -> Cost:
    """Emulation, preprocessing, and the write of the observation into shared memory: one agent's games."""
    games = environments.make(settings, envs, seed=1)
    games.reset()
    rows = AgentMemory(rollout_dtype(games.spec, t_max, envs), 1).slots["observation"][0]
    random = np.random.default_rng(1)
    actions = [games.spec.actions.random(random, envs) for _ in range(1000)]
    step = 0

    def work() -> None:
        nonlocal step
        rows[step % t_max] = games.step(actions[step % len(actions)])[0]
        step += 1

    cost = _repeat(work, envs, seconds)
    games.close()
    return cost


def where_emulated(settings: Settings, model_on_gpu: bool) -> str:
    """Returns the remark on `emulate` where the whole program's games are on a GPU (`systems.batched`)."""
    environment = settings.environment
    may = model_on_gpu and settings.schedule.sampling == "batched" and environment.emulator in ("auto", "gpu")
    if not may or environments.gpu_obstacle(environment):
        return ""
    return "The whole program plays on the GPU; emulation alone, and so the bound, is measured on the cores.\n"


def predict(model, spec: EnvironmentSpec, envs: int, mean_batch: float, seconds: float) -> Cost:
    """`Model.predict`. Batches are multiples of an agent's games; a mean size in between is interpolated.

    (The time of a prediction is a straight line over its size, so the mean size is all that counts.)
    """
    below = max(1, int(mean_batch // envs))
    costs = []
    for requests in (below, below + 1):
        states = _observations(spec, (requests * envs,))
        costs.append(np.array(_repeat(lambda states=states: model.predict(states), 1, seconds / 2)))
    share = min(max(mean_batch / envs - below, 0.0), 1.0)
    size = (below + share) * envs
    return Cost(*((1 - share) * costs[0] + share * costs[1]) / size)


def train(model, spec: EnvironmentSpec, t_max: int, columns: int, seconds: float) -> Cost:
    """`Model.train`, of a full batch of rollouts of one game each."""
    batch = _rollout(spec, t_max, columns)
    return _repeat(lambda: model.train(batch), t_max * columns, seconds)


def as_played(settings: Settings, measured: dict[str, float]) -> Settings:
    """Returns the costs where nobody waits for updates: the measured program says how many steps there are to one."""
    if settings.replay.steps_per_update or not measured["updates_per_second"]:
        return settings
    steps = max(1, round(measured["trained_steps_per_second"] / measured["updates_per_second"]))
    return replace(settings, replay=replace(settings.replay, steps_per_update=steps))


def train_transitions(model, spec: EnvironmentSpec, batch: int, steps_per_update: int, seconds: float) -> Cost:
    """`Model.train`, of a batch of transitions."""
    record = np.zeros((), transition_dtype(spec, batch))
    arrays = {name: record[name] for name in record.dtype.names}
    for name in ("observation", "next_observation"):
        arrays[name][:] = _observations(spec, (1, batch))
    arrays["weight"][:] = 1
    return _repeat(lambda: model.train(arrays), steps_per_update, seconds)


def replay(spec: EnvironmentSpec, settings: Settings, agents: int, seconds: float) -> Cost:
    """A replay memory with `replay_minimum_transitions` in it: rollouts of all agents stored, the batches that are due
    for them drawn, and their new priorities."""
    wanted, learning, envs = settings.replay, settings.learning, settings.schedule.envs_per_agent
    room, alpha = wanted.replay_minimum_transitions, wanted.priority_alpha
    recipe = Recipe(spec, agents, envs, room, wanted.n_steps, learning.discount, alpha)
    memory = Replay(recipe, lambda: wanted.priority_beta)
    rollout, steps = _rollout(spec, learning.t_max, envs), agents * envs * learning.t_max
    pace, errors = Pace(wanted.replay_minimum_transitions, wanted.steps_per_update), np.ones(wanted.batch, np.float32)
    for group in range(agents):
        memory.begin(group, rollout["observation"][0])

    def work() -> None:
        for group in range(agents):
            memory.add(group, rollout, learning.t_max)
        memory.offer()
        pace.played(steps)
        while pace.due:
            memory.learned(memory.draw(wanted.batch), errors)
            pace.updated()

    while not pace.has_minimum:
        work()
    return _repeat(work, steps, seconds)


def _rollout(spec: EnvironmentSpec, t_max: int, columns: int) -> dict[str, np.ndarray]:
    """The fields of a full one."""
    record = np.zeros((), rollout_dtype(spec, t_max, columns))
    fields = {name: record[name] for name in record.dtype.names}
    fields["observation"][:] = _observations(spec, (t_max, columns))
    fields["valid"][:] = True
    return fields


def _observations(spec: EnvironmentSpec, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 255, (*shape, *spec.observation_shape)).astype(spec.observation_dtype)


def queue(spec: EnvironmentSpec, t_max: int, envs: int, slots: int, seconds: float) -> Cost:
    """The messages of one agent that plays nothing: requests, answers, rollouts, slots, and the wake-ups."""
    dtype = rollout_dtype(spec, t_max, envs)
    memory = AgentMemory(dtype, slots)
    predictions, training = PredictionQueue(), TrainingQueue(dtype, slots - 2, ("valid",))
    _, prediction_client = predictions.connect(memory)
    _, training_client = training.connect(0, memory, slots)
    arguments = memory, prediction_client, training_client
    agent = multiprocessing.get_context("forkserver").Process(target=_ask_and_ship, args=arguments, daemon=True)
    agent.start()
    prediction_client.close()
    training_client.close()
    threads = [
        threading.Thread(target=_answer, args=(predictions, envs)),
        threading.Thread(target=_take, args=(training,)),
    ]
    while not memory.steps:  # it has started
        (request,) = predictions.take(1)
        _reply(request, envs)
    for thread in threads:
        thread.start()
    before = memory.steps, memory.core_seconds, time.process_time(), time.perf_counter()
    time.sleep(seconds)
    after = memory.steps, memory.core_seconds, time.process_time(), time.perf_counter()
    steps, agent_core, server_core, wall = (b - a for a, b in zip(before, after, strict=True))
    agent.kill()
    agent.join()
    predictions.close()
    training.close()
    for thread in threads:
        thread.join()
    return Cost(1000 * (agent_core + server_core) / steps, 1000 * wall / steps)


def _ask_and_ship(memory: AgentMemory, predictions: PredictionClient, training: TrainingClient) -> None:
    """An agent's messages, without its games."""
    t_max, envs = memory.slots["action"].shape[1:]
    while True:
        slot = training.free_slot()
        for row in range(t_max):
            predictions.ask(slot, row)
            predictions.wait()
            memory.add_steps(envs)
        training.ship(slot, t_max, t_max * envs, [])


def _answer(queue: PredictionQueue, envs: int) -> None:
    while requests := queue.take(1):
        _reply(requests[0], envs)


def _reply(request, envs: int) -> None:
    zeros = np.zeros(envs, np.float32)
    request.answer(dict.fromkeys(("action", "log_probability", "value"), zeros), 0, time.monotonic())


def _take(queue: TrainingQueue) -> None:
    while batch := queue.next_batch():
        queue.done(batch)
