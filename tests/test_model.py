"""Model: what it samples and learns, what it saves, and what threads see of it."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from ga3c import algorithms
from ga3c.algorithms.a3c import A3C
from ga3c.algorithms.none import NoLearning
from ga3c.algorithms.pqn import PQN
from ga3c.devices import pieces as dividing
from ga3c.devices.graph import sizes_to_compile
from ga3c.devices.pieces import PIECE_STATES, WHOLE, Pieces, pieces
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.rollout import EnvironmentSpec, discrete, rollout_dtype
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import RunSettings, Settings

ACTIONS = 3
SPEC = EnvironmentSpec("Test", (5,), "float32", discrete(ACTIONS), 1)
SETTINGS = LearningSettings(learning_rate=0.02, t_max=1)
OBSERVATIONS = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)


def model(seed=1, xla=False, settings=SETTINGS):
    return Model(SPEC, settings, A3C(Settings(learning=settings)), seed, xla)


def batch(seed=0):
    """One step in each of eight games; action 2 earns 1, the others nothing, and the game is over."""
    rng = np.random.default_rng(seed)
    record = np.zeros((), rollout_dtype(SPEC, t_max=1, envs=8))
    batch = {name: record[name] for name in A3C.learns_from}
    actions = rng.integers(ACTIONS, size=(1, 8))
    batch["observation"][:] = rng.normal(size=(1, 8, 5))
    batch["action"][:], batch["reward"][:] = actions, actions == 2
    batch["terminated"][:] = batch["valid"][:] = True
    return batch


def same(first: dict, second: dict) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_actions_are_samples_of_the_softmax():
    skewed = model()
    arrays = skewed.state()
    (bias,) = (name for name, array in arrays.items() if name[0] == "n" and array.shape == (ACTIONS,))
    arrays[bias] = np.array([0.0, 1.0, -1.0], np.float32)
    skewed.restore(arrays)
    many, calls = np.repeat(OBSERVATIONS[:1], 2000, axis=0), 10
    samples = np.array([skewed.predict(many)[0]["action"] for _ in range(calls)])
    probabilities = np.exp(skewed.decide(many)[1][0])
    probabilities /= probabilities.sum()
    assert probabilities.max() / probabilities.min() > 3
    for draws in (samples, samples[:, :200]):  # all rows, and the first ones of each call
        frequencies = np.bincount(draws.ravel(), minlength=ACTIONS) / draws.size
        deviations = np.sqrt(probabilities * (1 - probabilities) / draws.size)
        assert (abs(frequencies - probabilities) < 4 * deviations).all()
    assert len({draws.tobytes() for draws in samples}) == calls  # each call draws anew


def test_log_probabilities_are_those_of_the_sampled_actions():
    trained = model()
    for seed in range(20):
        trained.train(batch(seed))
    fields, version = trained.predict(OBSERVATIONS)
    _, logits, values = trained.decide(OBSERVATIONS)[:3]
    expected = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(fields["log_probability"], expected[np.arange(4), fields["action"]], rtol=1e-5)
    np.testing.assert_array_equal(fields["value"], values)
    assert version == trained.version == 20


def test_without_learning_weights_and_statistics_stay():
    images = SPEC._replace(observation_shape=(36, 36, 4), observation_dtype="uint8")
    player = Model(images, SETTINGS, NoLearning(Settings(learning=SETTINGS)), seed=1, xla=False)
    before = player.state()
    update = player.train({"valid": np.array([[True, True, False, True]])})
    assert (update.applied, update.numbers) == (True, {"valid_share": 0.75})
    assert same(player.state() | {"version": before["version"]}, before)


def test_training_raises_the_probability_of_what_earns_a_reward():
    learner = model()
    updates = [learner.train(batch(seed)) for seed in range(150)]
    logits, values = learner.decide(OBSERVATIONS)[1:3]
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert (probabilities[:, 2] > 0.6).all()
    assert np.isfinite(values).all()
    assert [update.version for update in updates] == list(range(150))
    entropies = [update.numbers["entropy"] for update in updates]
    assert entropies[-1] < entropies[0] <= np.log(ACTIONS) + 1e-3


def test_the_gradient_is_clipped_to_the_norm_that_is_set():
    moved = []
    for norm in (0.0, 1e-3):
        clipped = model(settings=LearningSettings(learning_rate=0.02, t_max=1, gradient_clip_norm=norm))
        before = clipped.state()
        update = clipped.train(batch())
        assert update.numbers["gradient_norm"] > 0.1  # as it was before clipping
        after = clipped.state()
        assert update.numbers["clipped_share"] == (norm > 0)
        moved.append(np.sqrt(sum(((after[n] - before[n]) ** 2).sum() for n in after if n[0] == "n")))
        assert update.numbers["update_norm"] == pytest.approx(moved[-1], rel=1e-3)
    assert moved[1] == pytest.approx(0.02 * 1e-3 / np.sqrt(0.99 + LearningSettings().rmsprop_epsilon), rel=1e-2)
    assert moved[0] > 100 * moved[1]


def test_the_learning_rate_falls_with_the_steps_of_play():
    """The same batch for new models, at the start and after as many steps as the decay says."""
    norms = []
    for steps in (0, 100):
        learner = model(settings=LearningSettings(learning_rate=0.02, t_max=1, learning_rate_decay_steps=100))
        norms.append(learner.train(batch(), steps).numbers["update_norm"])
    assert norms[1] == pytest.approx(norms[0] / 2, rel=1e-4)


def test_a_restored_model_goes_on_as_the_saved_one():
    first, second = model(seed=1), model(seed=2)
    for seed in range(3):
        first.train(batch(seed))
    second.restore(first.state())
    assert second.version == 3
    for ours, theirs in zip(first.decide(OBSERVATIONS)[1:3], second.decide(OBSERVATIONS)[1:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert first.train(batch(9)) == second.train(batch(9))
    assert same(first.state(), second.state())


def test_arrays_of_another_network_are_refused():
    algorithm, more_actions = A3C(Settings(learning=SETTINGS)), SPEC._replace(actions=discrete(ACTIONS + 1))
    ours, other = model(), Model(more_actions, SETTINGS, algorithm, 1, False)
    before = ours.state()
    incomplete = {name: array for name, array in before.items() if name != "optimizer/0"}
    count = sum(name.startswith("network/") for name in before)
    more = before | {f"network/{count}": before["network/0"]}
    network = "the network 'mlp' of this game: give --algorithm, --network, .*, --input-scaling and --protocol"
    optimizer = "the optimizer: give --algorithm, --optimizer, --learning-rate-schedule and --entropy-target as"
    for arrays, what in ((other.state(), network), (more, network), (incomplete, optimizer)):
        with pytest.raises(ConfigError, match=f"does not fit {what}"):
            ours.restore(arrays)
    assert same(ours.state(), before)


def test_warm_up_changes_nothing():
    warm = model()
    warm.train(batch(1))
    before = warm.state()
    warm.warm_up(2, 4, columns=8)
    assert same(warm.state(), before)


def test_prediction_sizes_hold_every_request():
    assert model().warm_up(8, 128, columns=8) == []  # without XLA any size will do
    sizes = sizes_to_compile(8, 128)
    assert model(xla=True).warm_up(1, 3, columns=8) == sizes_to_compile(1, 3)
    assert sizes[0] == 8
    assert sizes[-1] == 128
    assert sizes == sorted(set(sizes))
    assert not any(size % 8 for size in sizes)


def test_xla_computes_the_same():
    plain, compiled = model(), model(xla=True)
    for seed in range(2):
        ours, theirs = (model.train(batch(seed)) for model in (plain, compiled))
        assert theirs.numbers == pytest.approx(ours.numbers, rel=1e-4, abs=1e-5)
    for ours, theirs in zip(plain.decide(OBSERVATIONS)[1:3], compiled.decide(OBSERVATIONS)[1:3], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("xla", "algorithm", "device", "expected"),
    [
        ("auto", "a3c", "gpu", True),
        ("auto", "dqn", "gpu", True),
        ("auto", "a3c", "cpu", False),
        ("auto", "appo", "gpu", False),
        ("auto", "pqn", "gpu", False),
        ("on", "appo", "gpu", True),
        ("on", "a3c", "cpu", True),
        ("off", "a3c", "gpu", False),
    ],
)
def test_xla_compiles_on_a_gpu_what_does_not_loop_over_minibatches(xla, algorithm, device, expected):
    settings = Settings(learning=replace(SETTINGS, algorithm=algorithm), run=RunSettings(xla=xla))
    assert algorithms.compiled(settings, device) is expected


def test_every_prediction_is_of_the_version_that_it_names():
    """Threads predict while the model trains; between updates the trainer notes what each version says."""
    shared, seen, done = model(), [], threading.Event()

    def ask():
        fields, version = shared.predict(OBSERVATIONS)
        return fields["value"], version

    values_of = {0: ask()[0]}

    def predict():
        while not done.is_set():
            seen.append(ask())

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for seed in range(150):
        shared.train(batch(seed))
        values, version = ask()
        values_of[version] = values
    done.set()
    for thread in threads:
        thread.join()
    assert len({version for _, version in seen}) > 20
    assert len({values.tobytes() for values in values_of.values()}) == 151
    for values, version in seen:
        np.testing.assert_allclose(values, values_of[version], rtol=0, atol=1e-6)


def test_predictions_are_counted_beyond_what_a_seed_holds():
    many = model()
    many._predictions = 2**31 - 2
    for _ in range(3):
        assert len(many.predict(OBSERVATIONS)[0]["action"]) == len(OBSERVATIONS)


def test_trainers_that_train_at_once_do_not_undo_each_other():
    shared, versions = model(), []

    def train():
        versions.extend([shared.train(batch(seed)).version for seed in range(100)])

    threads = [threading.Thread(target=train) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.version == 400
    assert sorted(versions) == list(range(400)), "two updates began from the same weights"


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_an_update_that_is_not_finite_is_left_out(bad):
    trained = model()
    trained.train(batch())
    before = trained.state()
    broken = batch()
    broken["reward"][0, 3] = bad
    update = trained.train(broken)
    assert not update.applied
    assert same(trained.state(), before)
    assert trained.train(batch()).applied
    assert trained.version == 2


@pytest.mark.parametrize("algorithm", [A3C, PQN])
@pytest.mark.parametrize("states", [1, 2 * PIECE_STATES, 3 * PIECE_STATES + 1])  # of none at all a convolution fails
def test_batches_in_pieces_give_what_whole_ones_do(algorithm, states):
    settings = replace(SETTINGS, algorithm="pqn" if algorithm is PQN else "a3c", minibatches=1, epochs=1)
    spec = SPEC._replace(observation_shape=(36, 36, 1), observation_dtype="uint8")
    of = Settings(learning=settings)
    whole, parted = (Model(spec, settings, algorithm(of), 1, False, pieces) for pieces in (WHOLE, Pieces(2, 2)))
    rng = np.random.default_rng(1)
    record = np.zeros((), rollout_dtype(spec, t_max=1, envs=states))
    batch = {name: record[name] for name in algorithm(of).learns_from}
    observations = batch["observation"][0]
    observations[:], batch["reward"][:] = rng.integers(256, size=observations.shape), rng.normal(size=states)
    batch["terminated"][:] = batch["valid"][:] = True
    for _ in range(2):  # before an update and after it
        for left, right in zip(whole.decide(observations)[1:3], parted.decide(observations)[1:3], strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-2, atol=1e-3)
        assert whole.train(batch).numbers == pytest.approx(parted.train(batch).numbers, rel=1e-2, abs=1e-3)


def test_the_model_has_all_cores_where_nobody_plays(monkeypatch):
    monkeypatch.setattr(dividing, "usable_cores", lambda: 16)
    assert pieces("synchronised", threads=4) == Pieces(4, 4)
    assert pieces("alternating", threads=4) == Pieces(1, 4)
    assert pieces("asynchronous", threads=4) == pieces("serial", threads=4) == WHOLE
    assert pieces("synchronised", threads=16) == WHOLE
