"""A model on two parts of the CPU against one that has it all. `test_replicas` runs this in a process of its own:
TensorFlow divides the CPU before it does anything else, or not at all.
"""

import numpy as np
import pytest

from ga3c.systems.replicas import CHECK_UPDATES, Replicas  # isort: skip (first: it loads TensorFlow)
from ga3c import algorithms
from ga3c.commands.train import parse_settings
from ga3c.devices.all_reduce import Group, equal
from ga3c.devices.device import set_up_devices
from ga3c.errors import TrainingFailed
from ga3c.model import Model
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype, transition_dtype
from tests.variants import long, variants

DEVICES = set_up_devices("cpu", (0, 1), 1)
VECTORS = EnvironmentSpec("vectors", (3,), "float32", discrete(4), 1)
IMAGES = EnvironmentSpec("images", (36, 36, 2), "uint8", discrete(4), 1, 2)
COLUMNS, T_MAX = 6, 4
WHOLE = ["--minibatches", "1"]  # a minibatch is of one device's rows: with more of them, they are others
LEARNERS = {
    "a3c": ["--algorithm", "a3c"],
    "a2c": ["--preset", "a2c"],
    "a2c-vtrace": ["--preset", "a2c-vtrace"],
    "ppo": ["--preset", "ppo-paper", *WHOLE, "--no-normalize-advantages"],
    "ppo-with-target": [
        *("--preset", "ppo-paper", *WHOLE, "--no-normalize-advantages"),
        *("--entropy-target", "0.9", "--entropy-target-decay-steps", "20"),
    ],
    "pqn": ["--preset", "pqn", *WHOLE],
    "dqn": ["--preset", "dqn"],
    "c51": ["--preset", "c51"],
    "rainbow": ["--preset", "rainbow"],
}


def settings_of(flags):
    return parse_settings(["--game", "CartPole-v1", "--t-max", str(T_MAX), "--learning-rate", "0.01", *flags])[0]


def one_of(settings, spec, all_reduce=None):
    algorithm = algorithms.make(settings, spec.actions)
    if all_reduce:
        algorithm.devices = all_reduce
    return Model(spec, settings.learning, algorithm, 1, xla=False)


def both(flags, spec=VECTORS):
    """One model, and the same on two devices, ready to learn; and what they learn from."""
    settings = settings_of(flags)
    learners = one_of(settings, spec), Replicas(Group(DEVICES), lambda devices: one_of(settings, spec, devices))
    for learner in learners:
        learner.warm_up(1, 1, COLUMNS)
    return *learners, algorithms.make(settings)


def batch_for(algorithm, spec, random, columns=COLUMNS) -> dict[str, np.ndarray]:
    dtype = transition_dtype(spec, columns) if algorithm.replays else rollout_dtype(spec, T_MAX, columns)
    found = {}
    for name in algorithm.learns_from:
        kind, shape = dtype[name].base, dtype[name].shape
        if kind == np.bool_:
            found[name] = random.random(shape) < (0.7 if name == "valid" else 0.1)
        elif kind.kind == "f":
            found[name] = random.normal(size=shape).astype(kind)
        else:
            found[name] = random.integers(4, size=shape).astype(kind)
    for name in {"discount", "weight"} & found.keys():
        found[name] = np.abs(found[name])
    for name in {"observation", "last_observation", "next_observation"} & found.keys():
        if spec is IMAGES:
            found[name] = random.integers(256, size=found[name].shape, dtype=np.uint8)
    if "log_probability" in found:
        found["log_probability"] = -np.abs(found["log_probability"])
    return found


def close(one, other) -> None:
    one, other = one.state(), other.state()
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_allclose(other[name], array, rtol=2e-3, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("name", variants(LEARNERS, "a2c", "ppo", "rainbow"))
def test_two_devices_with_half_of_the_batch_each_learn_what_one_does_with_all_of_it(name):
    one, two, algorithm = both(LEARNERS[name])
    random = np.random.default_rng(3)
    for _ in range(3):
        batch = batch_for(algorithm, VECTORS, random)
        first, second = (learner.train(batch, 100) for learner in (one, two))
        assert first.applied
        assert second.applied
        np.testing.assert_allclose(second.numbers["gradient_norm"], first.numbers["gradient_norm"], rtol=1e-3)
        if algorithm.replays:
            np.testing.assert_allclose(second.errors, first.errors, rtol=1e-3, atol=1e-5)
        close(one, two)
    assert equal([model.state() for model in two._models])


def test_they_know_as_much_of_their_images_as_one():
    one, two, algorithm = both(["--algorithm", "a3c"], IMAGES)
    random = np.random.default_rng(3)
    for _ in range(3):
        batch = batch_for(algorithm, IMAGES, random)
        for learner in (one, two):
            learner.train(batch)
    close(one, two)
    observations = random.integers(256, size=(5, *IMAGES.observation_shape), dtype=np.uint8)
    ours, theirs = (learner.predict(observations)[0]["value"] for learner in (one, two))
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def test_each_draws_random_numbers_of_its_own_and_the_first_those_of_one():
    one, two, _ = both(LEARNERS["a2c"])
    states = np.zeros((64, 3), np.float32)
    for _ in range(2):
        alone, first, second = (model.predict(states)[0]["action"].tolist() for model in (one, *two._models))
        assert alone == first != second
        two.chance = one.chance  # as where games go on that were saved
    found, network = two.network_state(), one.network_state()
    assert all(np.array_equal(network[name], array) for name, array in found.items())


@pytest.mark.parametrize("columns", [long(1), 3])
def test_parts_that_are_not_equal(columns):
    one, two, algorithm = both(LEARNERS["a2c"])
    batch = batch_for(algorithm, VECTORS, np.random.default_rng(3), columns)
    batch["valid"][:] = True
    for learner in (one, two):
        assert learner.train(batch).applied
    close(one, two)


@pytest.mark.parametrize("name", ["a2c", long("dqn")])
def test_after_a_thousand_updates_they_are_equal_bit_for_bit(name):
    _, two, algorithm = both(LEARNERS[name])
    random, first = np.random.default_rng(3), two.state()
    batches = [batch_for(algorithm, VECTORS, random) for _ in range(50)]
    for update in range(CHECK_UPDATES):
        two.train(batches[update % len(batches)])
        if update % 100 == 50:
            two.copy_to_target(update)
    assert two.version == CHECK_UPDATES
    states = [model.state() for model in two._models]
    assert equal(states)
    assert not equal([first, states[0]])


def test_an_update_that_is_not_finite_on_one_device_is_left_out_on_all():
    _, two, algorithm = both(LEARNERS["a2c"])
    batch = batch_for(algorithm, VECTORS, np.random.default_rng(3))
    batch["reward"][:, -1] = np.nan
    batch["valid"][:] = True
    before = two.state()
    assert not two.train(batch).applied
    assert equal([before, *(model.state() for model in two._models)])


def test_weights_that_differ_are_noticed():
    _, two, algorithm = both(LEARNERS["a2c"])
    other, _, _ = both([*LEARNERS["a2c"], "--seed", "2"])
    batch = batch_for(algorithm, VECTORS, np.random.default_rng(3))
    two.train(batch)
    other.train(batch)
    two._models[1].restore(other.state())
    two._checked = -1  # as after a resume
    with pytest.raises(TrainingFailed, match="differ after 1 updates"):
        two.train(batch)


def test_one_that_fails_ends_the_others():
    """The last: no collective works in this process afterwards."""
    _, two, algorithm = both(LEARNERS["a2c"])
    batch = batch_for(algorithm, VECTORS, np.random.default_rng(3))

    def fail(*_):
        raise MemoryError("none left")

    two._models[1].train = fail
    with pytest.raises(TrainingFailed, match="CPU:1 failed: none left"):
        two.train(batch)
