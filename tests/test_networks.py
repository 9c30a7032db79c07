"""The networks of the paper's section 5.1, by their numbers of parameters."""

import numpy as np
import pytest

from ga3c import networks
from ga3c.environments.observations import SMALLEST_PIXELS
from ga3c.errors import ConfigError
from ga3c.rollout import EnvironmentSpec, discrete
from tests.variants import long

ATARI = EnvironmentSpec("Pong", (84, 84, 4), "uint8", discrete(6), 4)
VECTOR = EnvironmentSpec("CartPole-v1", (10,), "float32", discrete(6), 1)

# Each layer is inputs * outputs + biases. Unpadded: a side of n pixels becomes (n - kernel) // stride + 1.
HEADS = (256 * 6 + 6) + (256 * 1 + 1)
LARGE = (4 * 8 * 8 * 32 + 32) + (32 * 4 * 4 * 32 + 32) + (32 * 4 * 4 * 64 + 64)  # the three convolutions
COUNTS = {
    # 84 -> 20 -> 9
    "small": (4 * 8 * 8 * 16 + 16) + (16 * 4 * 4 * 32 + 32) + (32 * 9 * 9 * 256 + 256) + HEADS,
    "compact": (4 * 6 * 6 * 16 + 16) + (16 * 3 * 3 * 32 + 32) + (32 * 6 * 6 * 256 + 256) + HEADS,  # 42 -> 13 -> 6
    "large-stride-4": LARGE + (64 * 3 * 3 * 256 + 256) + HEADS,  # 84 -> 20 -> 9 -> 3
    "large-stride-3": LARGE + (64 * 5 * 5 * 256 + 256) + HEADS,  # 84 -> 26 -> 12 -> 5
    "large-stride-2": LARGE + (64 * 8 * 8 * 256 + 256) + HEADS,  # 84 -> 39 -> 18 -> 8
    "large-stride-1": LARGE + (64 * 17 * 17 * 256 + 256) + HEADS,  # 84 -> 77 -> 37 -> 17
}


@pytest.mark.parametrize("name", COUNTS)
def test_image_networks(name):
    spec = ATARI._replace(observation_shape=(42, 42, 4)) if name == "compact" else ATARI
    network = networks.build(name, spec, seed=1)
    assert network.count_params() == COUNTS[name]
    logits, value = network(np.zeros((2, *spec.observation_shape), np.uint8))
    assert (logits.shape, value.shape) == ((2, 6), (2,))
    assert (logits.dtype, value.dtype) == ("float32", "float32")


def test_mlp():
    network = networks.build("mlp", VECTOR, seed=1)
    assert network.count_params() == (10 * 64 + 64) + (64 * 64 + 64) + (64 * 6 + 6) + (64 * 1 + 1)
    logits, value = network(np.zeros((3, 10), np.float32))
    assert (logits.shape, value.shape) == ((3, 6), (3,))


def test_images_reach_the_convolutions_scaled():
    """One hot pixel moves the first convolution's output only where its 8x8 window covers it."""
    network = networks.build("small", ATARI, seed=1)
    convolution = next(layer for layer in network.layers if "convolution" in layer.name)
    image = np.zeros((1, 84, 84, 4), np.uint8)
    image[0, 0, 83, 2] = 255  # top right, frame 2
    before = network.layers[0].output
    hidden = type(network)(before, convolution.output)(image).numpy()[0]
    kernel = convolution.kernel.numpy()  # the last window starts at 19 * 4 = 76: the pixel is its column 7
    np.testing.assert_allclose(hidden[0, 19], np.maximum(kernel[0, 7, 2], 0), rtol=1e-5)
    hidden[0, 19] = 0
    assert not hidden.any()


def test_auto_and_what_does_not_fit():
    assert networks.resolve("auto", ATARI) == "small"
    assert networks.resolve("auto", VECTOR) == "mlp"
    assert networks.resolve("large-stride-2", ATARI) == "large-stride-2"
    with pytest.raises(ConfigError, match="--network mlp"):
        networks.resolve("small", VECTOR)
    with pytest.raises(ConfigError, match="10x10 pixels are too small for --network large-stride-1"):
        networks.build("large-stride-1", ATARI._replace(observation_shape=(10, 10, 3)), seed=1)
    with pytest.raises(ConfigError, match=r"\(3, 64, 64\) looks as if channels came first: give \[height, width, "):
        networks.build("small", ATARI._replace(observation_shape=(3, 64, 64)), seed=1)


def test_what_counts_as_a_picture_is_what_the_smallest_network_takes():
    smallest = ATARI._replace(observation_shape=(SMALLEST_PIXELS, SMALLEST_PIXELS, 1))
    assert networks.build("small", smallest, seed=1)(np.zeros((1, *smallest.observation_shape), np.uint8))
    for shape in ((SMALLEST_PIXELS - 1, SMALLEST_PIXELS, 1), (SMALLEST_PIXELS, SMALLEST_PIXELS - 1, 1)):
        with pytest.raises(ConfigError, match="too small for --network small"):  # Keras makes one of no pixels of it
            networks.build("small", smallest._replace(observation_shape=shape), seed=1)
    with pytest.raises(ConfigError, match="30x30 pixels are too small for --network pqn: use --network pqn-mlp"):
        networks.build("pqn", smallest._replace(observation_shape=(30, 30, 1)), seed=1)


@pytest.mark.parametrize("standardize", [long(False), True])
@pytest.mark.parametrize("name", ["small", "large-stride-4", "pqn", "dqn"])
def test_half_the_bytes_give_nearly_the_same_outputs_of_what_little_moves(name, standardize):
    """Two states that differ in a few pixels: their outputs differ as in float32, not by rounding."""
    options = {"dueling": True, "support": None} if name == "dqn" else {}
    random = np.random.default_rng(2)
    states = np.repeat(random.integers(100, 200, (1, 84, 84, 4), dtype=np.uint8), 32, axis=0)
    states[:, 20:24, 20:24] = random.integers(256, size=(32, 4, 4, 4))
    outputs = []
    for precision in ("float32", "bfloat16"):
        network = networks.build(name, ATARI, 1, standardize, precision, **options)
        for weight in network.non_trainable_variables:
            weight.assign(states[0] if len(weight.shape) == 3 else 400.0)  # the mean state; the variance
        for layer in network.layers:
            assert all(weight.dtype == "float32" for weight in layer.weights)
        outputs.append(network(states)[0].numpy())
        assert outputs[-1].dtype == np.float32
    wanted, given = (output - output.mean(axis=0) for output in outputs)
    assert np.abs(given - wanted).max() < (0.03 if standardize else 0.2) * np.abs(wanted).max()
