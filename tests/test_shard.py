"""A shard, as an object of this process: what is sent is what is drawn, whoever sends it."""

import numpy as np
import pytest

from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from tests.test_replay import DISCOUNT, T_MAX, Player, from_list

pytest.importorskip("ray", reason="run tests/run.sh, which installs Ray")

from ga3c.cluster.packing import field_of, pack, summary
from ga3c.cluster.shard import Shard, Shards
from ga3c.replay.recipe import Recipe

ENVS, N_STEPS = 2, 2


class Sender:
    """A pod that plays made-up games."""

    def __init__(self, shard, group, number, seed):
        self.shard, self.group, self.number, self.sent = shard, group, number, 0
        self.player = Player(np.random.default_rng(seed), 4, ENVS)
        self.player.begin()

    def sends(self, rollouts, arrives=True):
        packed = []
        for _ in range(rollouts):
            record, length = self.player.rollout()
            packed.append(pack(record, length, int(record["valid"][:length].sum()), [], 4))
        first, self.sent = self.sent, self.sent + rollouts
        return self.shard.add(self.group, self.number, first, packed) if arrives else None


def shard(transitions=400, alpha=0.6):
    spec = Player(np.random.default_rng(0), 4, ENVS).spec
    recipe = Recipe(spec, 2, ENVS, transitions, N_STEPS, DISCOUNT, alpha)
    return Shard(Shards(recipe, T_MAX, 1), 0)


def check(given, senders):
    """That all of it was played."""
    known = {}
    for sender in senders:
        for game in sender.player.games:
            for row in range(len(game) - N_STEPS):
                if game[row].valid:
                    known[game[row].state.tobytes()] = from_list(game, row, N_STEPS)
    arrays = {name: array[0] for name, array in given.arrays.items()}
    for index, state in enumerate(arrays["observation"]):
        total, factor, following = known[state.tobytes()]
        assert arrays["return"][index] == pytest.approx(total, abs=1e-4)
        assert arrays["discount"][index] == pytest.approx(factor)
        assert (arrays["next_observation"][index] == following).all()


def test_what_two_pods_send_is_drawn_and_errors_find_their_batch():
    own = shard()
    senders = [Sender(own, group, 10 + group, group) for group in range(2)]
    for _ in range(5):
        sizes = [sender.sends(3) for sender in senders]
    first, second = own.draw(16, 0.4, []), own.draw(16, 0.4, [])
    assert first.ticket != second.ticket
    assert first.size == sizes[-1] > 0
    assert first.age_steps >= 0
    for given in (first, second):
        check(given, senders)
    third = own.draw(64, 0.4, [(first.ticket, np.full(16, 50, np.float32)), (second.ticket, np.zeros(16, np.float32))])
    check(third, senders)
    seen = {state.tobytes() for state in first.arrays["observation"][0]}
    again = [state.tobytes() in seen for state in third.arrays["observation"][0]]
    assert np.mean(again) > 0.5  # large errors are drawn more often
    assert set(own._drawn) == {third.ticket}


@pytest.mark.parametrize("lost", [False, True], ids=["another pod's", "some are lost"])
def test_what_does_not_go_on_is_not_joined(lost):
    own = shard()
    one = Sender(own, 0, 10, 1)
    one.sends(6)
    before = states(one)
    other = one if lost else Sender(own, 0, 11, 2)
    if lost:
        one.sends(1, arrives=False)
        before |= states(one) - {state.tobytes() for state in one.player.states}  # where it goes on
    for _ in range(6):
        other.sends(2)
    arrays = own.draw(256, 0.4, []).arrays
    pairs = zip(arrays["observation"][0], arrays["next_observation"][0], strict=True)
    sides = {(state.tobytes() in before, following.tobytes() in before) for state, following in pairs}
    assert sides == {(True, True), (False, False)}


def states(sender):
    """That it has seen, the one after its last step included."""
    return {step.state.tobytes() for game in sender.player.games for step in game} | {
        state.tobytes() for state in sender.player.states
    }


def test_the_learner_is_told_what_it_wants_to_know():
    sender = Sender(shard(), 0, 1, 3)
    record, length = sender.player.rollout()
    record["version"][:length] = np.arange(length)
    told = summary(pack(record, length, 7, [], 4))
    assert (told.length, told.transitions, list(told.fields)) == (length, 7, ["version"])
    assert field_of(told, "version", np.int64).tolist() == list(range(length))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--preset apex-dqn --replay-shards 2", "give --cluster"),
        ("--preset apex-dqn --cluster local --replay-shards 2 --checkpoint-replay", "--checkpoint-replay"),
        ("--preset apex-dqn --cluster local --replay-shards 3 --agents 2", "more --replay-shards than pods"),
        ("--cluster local --replay-shards 1", "give --cluster and --preset apex-dqn"),
    ],
)
def test_what_does_not_go_with_shards_is_one_line(flags, words):
    with pytest.raises(ConfigError, match=words):
        parse_settings(flags.split())
