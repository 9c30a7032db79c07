"""CuLE's system (Dalton et al. 2020): all games step as one batch in the server, which predicts for them and learns.

There are no agents and no queues: one thread steps the games (in as many pieces as there are cores), makes one
prediction for all of them, and writes what they play where the model reads it. So the same seed gives the same weights,
bit for bit.

With several batches of games (Fig. 6b) one batch learns every SPU steps, in turn, from the N steps that it has played
since its last turn. So updates are smaller and more frequent than one from all games. The newest SPU steps in an update
were taken by the newest policy, those before them by the policy before, and so on: policy lag is 0 to `--batches` - 1
updates, which V-trace corrects.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ga3c.systems.one_thread import OneThreadWiring  # isort: skip (first: it loads TensorFlow)
from ga3c import environments, machine
from ga3c.controller.counts import Counts
from ga3c.devices.device import count_gpus
from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.settings.run import Settings
from ga3c.systems.multi_batch import MultiBatch, MultiBatchOnGPU
from ga3c.systems.serial import with_replay
from ga3c.systems.slots import LAST, OwnMemory, Slots
from ga3c.systems.wiring import Context
from ga3c.text import count
from ga3c.training_queue import TrainingQueue
from ga3c.transport.inbox import Inbox


def wire(context: Context, inbox: Inbox) -> OneThreadWiring:
    """One batch of games learns from where its rollout lies; several take turns; or a replay is drawn from.

    Raises ConfigError where the algorithm learns too late, the machine is too small, or `--emulator gpu` is not
    possible.
    """
    if not (context.ships_when_complete or context.algorithm.replays):
        raise ConfigError(
            "--sampling batched needs an algorithm that learns from 'last_observation', not from "
            "'bootstrap_value': it learns before the next prediction is made."
        )
    settings, batches = context.settings, context.settings.schedule.batches
    games, rows = settings.schedule.games_of(context.agents), settings.learning.t_max // batches
    device, fields = games_device(settings), context.algorithm.learns_from
    dtype = context.dtype_of(rows, games)
    _check_fits(dtype, batches, games, device.on_gpu)
    wiring = OneThreadWiring(
        games=games,
        memory=OwnMemory(Slots(dtype, batches, device.on_gpu and not context.algorithm.replays)),
        experience=None,
        columns=games // batches,
        counts=Counts(0, 1, 1),
        how=_how(settings, games, device.words),
        threads=usable_cores(),
        on_gpu=device.on_gpu,
    )
    if context.algorithm.replays:
        return with_replay(wiring, context, inbox, batches * dtype.itemsize)
    if batches == 1:
        return replace(wiring, experience=TrainingQueue(dtype, 1, fields, inbox=inbox))
    kind = MultiBatchOnGPU if device.on_gpu else MultiBatch
    return replace(wiring, experience=kind(dtype, batches, fields, inbox))


class GamesDevice(NamedTuple):
    """The device that steps the games."""

    on_gpu: bool
    words: str  # for the console


def games_device(settings: Settings) -> GamesDevice:
    """Returns the device. Raises ConfigError where a GPU is asked for and cannot step the games."""
    wish, run = settings.environment.emulator, settings.run
    if wish not in ("auto", "gpu") or run.device == "cpu" or run.devices:
        return GamesDevice(False, "")
    if count_gpus():
        obstacle = environments.gpu_obstacle(settings.environment)
    elif wish == "auto":
        return GamesDevice(False, "")
    else:
        obstacle = "TensorFlow finds no GPU here, see nvidia-smi"
    if obstacle and wish == "gpu":
        raise ConfigError(f"--emulator gpu is not possible: {obstacle}. Use --emulator auto or ours.")
    return GamesDevice(not obstacle, f" on the cores, because {obstacle}" if obstacle else " on the GPU")


def _check_fits(dtype: np.dtype, slots: int, games: int, on_gpu: bool) -> None:
    """Raises ConfigError where rollouts and games do not fit into memory."""
    last = dtype[LAST].itemsize
    slots_bytes = slots * (dtype.itemsize - last) + last
    rooms = [("this machine", machine.memory_available(), machine.GAME_BYTES)]
    if on_gpu:  # the last update, from a rollout that is not complete, may use the main memory
        from ga3c.emulator.cuda import arrays, batch

        rooms.append(("the GPU", arrays.free_bytes(), batch.CONSOLE_BYTES + last // games))
    for where, there, game_bytes in rooms:
        taken = slots_bytes + games * game_bytes + machine.SERVER_BYTES
        if there is not None and taken > there:
            raise ConfigError(
                f"{count(games, 'game')} and what is played take {taken / 1e9:.1f} GB of memory, and {where} has "
                f"{there / 1e9:.1f} GB: use fewer --games."
            )


def _how(settings: Settings, games: int, device: str) -> str:
    """Returns the console's line on the system."""
    t_max, batches = settings.learning.t_max, settings.schedule.batches
    begin = f"Batched: {count(games, 'game')} in one batch{device}, no agents"
    if batches == 1:
        return f"{begin}. No controller."
    spu_steps = t_max // batches
    often = "each step" if spu_steps == 1 else f"every {spu_steps} steps"
    turns = f"{batches} batches of {games // batches} learn in turn, one {often}, from {t_max} steps"
    return f"{begin}; {turns}. No controller."
