"""The emulator's code for a GPU plays as the cores do: without one, what its compiler is given is run on a core."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ga3c.atari import chance
from ga3c.environments.atari_ours import OwnAtariEnvironments
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings

pytest.importorskip("numba_cuda", reason="ga3c/emulator/cuda/requirements.txt is not installed")

from ga3c.atari.batch import Batch
from ga3c.atari.gpu_batch import GpuBatch
from ga3c.atari.rules import Rules
from ga3c.atari.vector_env import AtariVectorEnv
from ga3c.emulator.compiled import SOURCES
from ga3c.emulator.cuda import batch, dlpack
from ga3c.emulator.handlers import handlers, handlers_by_halves
from ga3c.emulator.picture import WIDTH
from ga3c.emulator.shrink import shrink
from ga3c.emulator.threads import BOTH
from tests import cuda_code
from tests.test_batched import made, played, same
from tests.variants import long, variants

CAPABILITIES = {"A100": (8, 0), "H100": (9, 0)}
MOST_REGISTERS = {"begin": 64, "play": 255, "see": 64, "look": 64, "show": 64}  # a thread can have 255
MOST_STACK_BYTES, MOST_SPILLED_BYTES = 512, 64
GAMES = {
    "breakout": {"episode_cap_frames": 37},
    "pong": {"frame_stack": 3, "no_op_max_steps": 0},
    "seaquest": {"frame_skip_frames": 2, "frame_size_pixels": 105},
    "riverraid": {"frame_skip_frames": 1, "frame_size_pixels": 42, "episode_cap_frames": 11, "fire_reset": True},
}


def both(game: str, count: int = 3, **rules):
    settings = EnvironmentSettings(game=game, **rules)
    return [OwnAtariEnvironments(game, settings, count, 7, kind=kind) for kind in (Batch, GpuBatch)]


def compare(game: str, steps: int, **rules) -> int:
    """Plays on the cores and in a batch. Returns how many games ended."""
    ours, batched = both(game, **rules)
    np.testing.assert_array_equal(batched.reset(), ours.reset())
    random, ends, which = np.random.default_rng(0), 0, np.array([False, True, False])
    for _ in range(steps):
        actions = ours.spec.actions.random(random, 3)
        said = ours.step(actions)
        for theirs, expected in zip(batched.step(actions), said, strict=True):
            np.testing.assert_array_equal(theirs, expected)
        ends += int((said[2] | said[3]).sum())
    np.testing.assert_array_equal(batched.restart(which), ours.restart(which))
    np.testing.assert_array_equal(batched.batch.consoles.drawn, ours.batch.consoles.drawn)
    return ends


@pytest.fixture(scope="module")
def libraries():
    with cuda_code.core_as_gpu():
        return cuda_code.libraries(GpuBatch("pong", Rules(), np.zeros(1, np.int64)).gpu)


@pytest.fixture(scope="module")
def kernels(libraries):
    return SimpleNamespace(**{name: cuda_code.OnACore(library) for name, library in libraries.items()})


@pytest.fixture
def core_as_gpu(kernels, monkeypatch):
    monkeypatch.setattr(batch, "kernels", kernels)
    with cuda_code.core_as_gpu():
        yield


@pytest.fixture
def gpu(monkeypatch):
    """TensorFlow and Numba find one."""
    monkeypatch.setattr("ga3c.systems.learner.set_up_device", lambda device, threads: "cpu")
    monkeypatch.setattr("ga3c.systems.batched.count_gpus", lambda: 1)
    monkeypatch.setattr("ga3c.atari.on_gpu.numba_has_gpu", lambda: True)


@pytest.mark.parametrize("game", variants(GAMES, "seaquest", "riverraid"))
def test_code_for_the_gpu_plays_as_the_cores_do(core_as_gpu, game):
    ends = compare(game, steps=40, **GAMES[game])
    assert ends or "episode_cap_frames" not in GAMES[game]


@pytest.mark.parametrize(
    ("game", "rules"), [long("breakout", {"episode_cap_frames": 90}), ("alien", {"frame_skip_frames": 10})]
)
def test_sticky_actions_are_those_of_the_cores(core_as_gpu, monkeypatch, game, rules):
    """Numbers are drawn anew several times. In Alien a picture is not complete once: its step is played again."""
    monkeypatch.setattr(chance, "DRAWS", 50)
    monkeypatch.setattr("ga3c.atari.batch.DRAWS", 50)
    compare(game, steps=62, sticky_action_probability=0.25, **rules)


@pytest.mark.parametrize("mode", [long("NextStep"), "SameStep"])
def test_the_vector_environment_on_a_gpu_is_that_on_cores(core_as_gpu, gpu, mode):
    """What it gives is taken by DLPack; its states go on on cores, and the reverse."""
    arguments = {"num_envs": 3, "autoreset_mode": mode, "max_num_frames_per_episode": 37, "render_mode": "rgb_array"}
    ours, there = AtariVectorEnv("breakout", **arguments), AtariVectorEnv("breakout", device="cuda", **arguments)
    np.testing.assert_array_equal(np.from_dlpack(there.reset(seed=1)[0]), ours.reset(seed=1)[0])
    for number, actions in enumerate(np.random.default_rng(0).integers(4, size=(30, 3))):
        (*mine, info), (*theirs, said) = ours.step(actions), there.step(actions)
        for one, other in zip(mine, theirs, strict=True):
            assert other.dtype == one.dtype
            np.testing.assert_array_equal(np.from_dlpack(other), one)
        assert info.keys() == said.keys()
        for one, other in zip(info.get("final_obs", ()), said.get("final_obs", ()), strict=True):
            assert one is other is None or (one == other).all()
        if number % 10 == 5:
            there.restore([2, 0], ours.clone([0, 1]))
            ours.restore([0, 1, 2], there.clone())
            np.testing.assert_array_equal(there.ram, ours.ram)
            np.testing.assert_array_equal(there.render(), ours.render())
        if number == 20:
            there.ram = ours.ram = np.roll(ours.ram, 1, axis=0)


def test_between_two_levels_it_rounds_as_the_cores_do(core_as_gpu):
    """There the last bit of single precision decides, and it is another one where a product is not rounded itself."""
    ours, batched = both("breakout", count=64)
    batched.reset()
    gpu = batched.batch.gpu
    game, consoles, orders = ours.batch.game, gpu._consoles, gpu._orders
    height, width = len(consoles.seen[0]) // WIDTH, WIDTH
    consoles.seen[:] = np.random.default_rng(0).choice([0, 60, 90, 150], consoles.seen.shape)
    orders.shows[:] = BOTH
    gpu._look()
    line, totals, small = np.empty(width, np.uint32), np.empty(84, np.uint32), np.empty((84, 84), np.uint8)
    for seen, states in zip(consoles.seen.reshape(-1, height, width), consoles.states, strict=True):
        shrink(seen, game.rows, game.columns, line, totals, small)
        np.testing.assert_array_equal(states[..., -1], small)


def test_no_handler_is_behind_many_comparisons():
    source = handlers_by_halves()
    assert source.count("if opcode == ") == handlers().count("if opcode == ") > 100
    assert max(line.index("if opcode") for line in source.splitlines() if "if opcode ==" in line) == 4 * 8


@pytest.mark.parametrize(
    "words",
    [
        long(("--algorithm", "a2c")),
        long(("--algorithm", "ppo", "--t-max", 4, "--start-steps-limit", 3)),
        ("--algorithm", "dqn", "--replay-minimum-transitions", 40, "--replay-transitions", 400),
        ("--preset", "cule", "--batches", 3, "--t-max", 6),
    ],
)
def test_games_on_the_gpu_teach_what_those_on_the_cores_do(core_as_gpu, gpu, words):
    """Where the model has them from: a tensor of the memory that the games write."""
    words = *words, "--sampling", "batched", "--games", 6
    runs = [played(*words, game=["--game", "Pong", "--emulator", kind], steps=6 * 11) for kind in ("ours", "gpu")]
    assert runs[0].model.version > 1
    assert same(*runs)
    assert [run._wiring.on_gpu for run in runs] == [False, True]


def test_what_does_not_fit_into_a_gpu_is_said(core_as_gpu, gpu, monkeypatch):
    monkeypatch.setattr("ga3c.emulator.cuda.arrays.free_bytes", lambda: 900_000_000)
    words = ["--preset", "cule", "--batches", 1, "--games", 600]
    with pytest.raises(ConfigError, match=r"600 games .* take 1\.\d GB of memory, and the GPU has 0\.9 GB: use fewer"):
        made(*words, game=["--game", "Pong"])


@pytest.mark.long
def test_a_batch_plays_so_in_the_simulator():
    """There a kernel is Python, each thread of it a thread; what it calls a core does."""
    code = (
        "from tests.test_emulator_cuda import compare\n"
        "assert compare('breakout', steps=3, frame_size_pixels=11, episode_cap_frames=9)\n"
        "compare('pong', steps=1, frame_size_pixels=11)"
    )
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, check=True)


def test_the_code_for_the_gpu_is_cached_until_a_file_changes():
    for name in ("begin", "play", "see", "look", "show"):
        assert getattr(batch.kernels, name)._cache._cache_file._source_stamp == SOURCES


@pytest.mark.long
@pytest.mark.parametrize("card", CAPABILITIES)
def test_a_thread_needs_no_more_registers_and_memory_than_it_may(libraries, card):
    for name, library in libraries.items():
        code = cuda_code.ptx(library, CAPABILITIES[card])
        assert "fma." not in code, f"{name} would round otherwise than a core"
        said = cuda_code.report(code, CAPABILITIES[card])
        assert said.registers <= MOST_REGISTERS[name], name
        assert said.spilled_bytes <= MOST_SPILLED_BYTES, name
        assert said.stack_bytes <= MOST_STACK_BYTES, name


def test_a_tensor_sees_the_same_bytes():
    import tensorflow as tf

    room = np.zeros(64 + 24, np.uint8)
    start = -room.ctypes.data % 64  # TensorFlow wants it so; a GPU's memory is
    array = room[start : start + 24].reshape(2, 3, 4)
    tensor = tf.experimental.dlpack.from_dlpack(dlpack.capsule(array))
    array[1, 2, 3] = 7
    assert tensor.shape == (2, 3, 4)
    assert tensor.dtype == tf.uint8
    np.testing.assert_array_equal(tensor.numpy(), array)
    del tensor
    assert not dlpack._lent
