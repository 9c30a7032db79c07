"""Which change of the counts comes next."""

import math

import pytest

from ga3c.controller.counts import Counts
from ga3c.controller.effects import Effect, Measurement
from ga3c.controller.proposals import COARSE, DOWN, FINE, UP, Move, Proposals, falling_behind, idling, moves

MOST = Counts(1024, 64, 64)
NOTHING_SEEN = Measurement(0.0, 100.0, 2.0, 0.0, 0.0, 32.0, math.nan, math.nan)


def test_steps_are_large_first():
    assert set(moves(Counts(8, 2, 1), COARSE, MOST).values()) == {
        Counts(16, 2, 1), Counts(4, 2, 1), Counts(8, 4, 1), Counts(8, 1, 1), Counts(8, 2, 2), Counts(4, 1, 1),
    }  # fmt: skip
    assert set(moves(Counts(8, 2, 1), FINE, MOST).values()) == {
        Counts(11, 2, 1), Counts(6, 2, 1), Counts(8, 3, 1), Counts(8, 1, 1), Counts(8, 2, 2),
    }  # fmt: skip


def test_steps_stay_within_the_bounds():
    assert set(moves(Counts(8, 1, 1), COARSE, Counts(15, 2, 1)).values()) == {Counts(4, 1, 1), Counts(8, 2, 1)}
    assert moves(Counts(1, 1, 1), COARSE, Counts(1, 1, 1)) == {}


@pytest.mark.parametrize(
    ("seen", "first", "said"),
    [
        ({}, Move("agents", UP), "little waits"),
        ({"predictor_wait": 0.4}, Move("agents", UP), "predictors wait 40 %"),
        ({"requests_waiting": 5.0}, Move("predictors", UP), "5.0 of 8 agents wait"),
        ({"requests_waiting": 5.0, "predictor_wait": 0.4}, Move("agents", UP), "predictors wait 40 %"),
        ({"prediction_batch": 120.0}, Move("predictors", UP), "full"),
        ({"rollouts_waiting": 9.0}, Move("trainers", UP), "9.0 rollouts wait"),
        ({"rollouts_waiting": 9.0, "trainer_wait": 0.5}, Move("agents", UP), "little waits"),
    ],
)
def test_the_queues_and_the_idle_threads_speak_first(seen, first, said):
    counts, seen = Counts(8, 1, 1), NOTHING_SEEN._replace(**seen)
    proposal = Proposals(MOST, 128, seed=0).next(counts, seen)
    assert proposal.counts == moves(counts, COARSE, MOST)[first]
    assert said in proposal.why


def test_a_growing_training_queue_speaks_for_fewer_agents_too():
    assert list(falling_behind(Counts(8, 1, 1), NOTHING_SEEN._replace(rollouts_waiting=9.0), 128)) == [
        Move("trainers", UP),
        Move("agents", DOWN),
    ]


def test_threads_that_would_not_be_missed():
    seen = NOTHING_SEEN._replace(predictor_wait=0.7, trainer_wait=0.5)
    assert list(idling(Counts(8, 2, 2), seen)) == [Move("agents", UP), Move("predictors", DOWN)]


def test_more_threads_for_an_empty_queue_wait_until_after_a_pause():
    counts = Counts(2, 1, 1)
    seen = NOTHING_SEEN._replace(predictor_wait=0.45, trainer_wait=0.13, requests_waiting=0.2, rollouts_waiting=0.5)
    proposals = Proposals(MOST, 128, seed=0)
    assert {setting[1:] for setting in all_in_turn(proposals, counts, seen=seen)} == {(1, 1)}
    assert proposals.after_pause(counts, NOTHING_SEEN).counts[1:] != (1, 1)
    for busy in ({"predictor_wait": 0.02}, {"requests_waiting": 1.5}):
        tried = all_in_turn(Proposals(MOST, 128, seed=0), counts, seen=seen._replace(**busy))
        assert {(1, 1), (2, 1)} == {setting[1:] for setting in tried}


def all_in_turn(proposals, counts, size=-0.2, clear=True, seen=NOTHING_SEEN):
    """Refuses one after the other, until there is nothing left."""
    effect = Effect(size, 0.02)
    tried = []
    while proposal := proposals.next(counts, seen):
        tried.append(proposal.counts)
        proposals.refuse(counts, proposal.counts, effect, clear, over_limit=False)
    return tried


def test_what_was_refused_is_not_tried_again_before_a_pause():
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(8, 1, 1)
    tried = all_in_turn(proposals, counts)
    assert len(tried) == len(set(tried))
    assert set(tried) == {Counts(16, 1, 1), Counts(4, 1, 1), Counts(8, 2, 1), Counts(8, 1, 2), Counts(11, 1, 1)}
    assert proposals.after_pause(counts, NOTHING_SEEN).counts == Counts(6, 1, 1)  # small, where the large one lost


@pytest.mark.parametrize(("size", "trials"), [(0.01, 2), (0.03, 3)])
def test_what_was_not_clear_gets_a_longer_trial_and_what_is_likely_another(size, trials):
    """The error of each is 0.02."""
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(8, 1, 1)
    tried = all_in_turn(proposals, counts, size, clear=False)
    assert Counts(6, 1, 1) in tried
    assert {tried.count(setting) for setting in tried} == {trials}


def test_a_load_change_makes_it_try_again():
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(8, 1, 1)
    tried = all_in_turn(proposals, counts)
    proposals.forget(Move("agents", DOWN), "the load")
    assert proposals.next(counts, NOTHING_SEEN) == (Counts(4, 1, 1), "the load")
    assert set(all_in_turn(proposals, counts)) == set(tried)


def test_more_agents_than_the_lag_allowed_wait_until_after_a_pause():
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(4, 1, 1)
    proposals.refuse(counts, Counts(8, 1, 1), Effect(0.2, 0.02), clear=False, over_limit=True)
    assert max(setting.agents for setting in all_in_turn(proposals, counts)) < 8
    proposals.forget(Move("agents", UP), "the load")
    proposals.keep(counts, Counts(6, 1, 1), Effect(0.1, 0.02), once_more=True)
    tried = all_in_turn(proposals, Counts(6, 1, 1))
    assert Counts(6, 2, 1) in tried
    assert max(setting.agents for setting in tried) == 6
    while (again := proposals.after_pause(Counts(6, 1, 1), NOTHING_SEEN).counts).agents <= 6:
        proposals.refuse(Counts(6, 1, 1), again, Effect(-0.1, 0.02), clear=True, over_limit=False)
    proposals.refuse(Counts(6, 1, 1), again, Effect(-0.1, 0.02), clear=True, over_limit=False)  # the lag is less now
    proposals.forget()
    assert Counts(12, 1, 1) in all_in_turn(proposals, Counts(6, 1, 1))


@pytest.mark.parametrize(("lag", "most"), [(3.1, 4), (2.6, 6), (2.0, 8), (math.nan, 8)])
def test_more_agents_that_are_certain_to_lag_too_much_are_not_even_tried(lag, most):
    """Four agents, and a limit of 4 updates."""
    proposals, counts = Proposals(MOST, 128, seed=0, lag_limit_updates=4.0), Counts(4, 1, 1)
    seen = NOTHING_SEEN._replace(policy_lag_updates=lag)
    assert max(setting.agents for setting in all_in_turn(proposals, counts, seen=seen)) == most
    later = NOTHING_SEEN._replace(policy_lag_updates=3.1)  # nor what was tried when the lag was less
    for _ in range(20):
        again = proposals.after_pause(counts, later).counts
        assert again.agents <= 4
        proposals.refuse(counts, again, Effect(-0.2, 0.02), clear=True, over_limit=False)


def test_agents_that_were_kept_are_not_too_many():
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(4, 1, 1)
    proposals.refuse(counts, Counts(8, 1, 1), Effect(0.2, 0.02), clear=False, over_limit=True)
    proposals.keep(counts, Counts(8, 1, 1), Effect(0.2, 0.02), once_more=True)
    assert proposals.next(Counts(8, 1, 1), NOTHING_SEEN).counts == Counts(16, 1, 1)


def test_after_a_kept_step_it_goes_on_that_way_and_not_straight_back():
    proposals = Proposals(MOST, 128, seed=0)
    proposals.keep(Counts(4, 2, 1), Counts(4, 4, 1), Effect(0.2, 0.02), once_more=True)
    assert proposals.next(Counts(4, 4, 1), NOTHING_SEEN).counts == Counts(4, 8, 1)
    assert Counts(4, 2, 1) not in all_in_turn(proposals, Counts(4, 4, 1))


def test_what_was_futile_comes_last_until_something_has_gone_up():
    few, many = Counts(8, 2, 2), Counts(16, 2, 2)
    for kept, again in ((Counts(8, 1, 2), False), (Counts(8, 4, 2), True)):
        proposals = Proposals(MOST, 128, seed=0)
        proposals.refuse(few, many, Effect(-0.1, 0.02), clear=True, over_limit=False)
        proposals.keep(few, kept, Effect(0.02, 0.02), once_more=False)
        tried = all_in_turn(proposals, kept)
        assert (kept._replace(agents=16) in tried) == again


def test_until_something_was_gained_fewer_of_everything_come_first():
    proposals, counts = Proposals(MOST, 128, seed=0), Counts(8, 2, 4)
    assert proposals.next(counts, NOTHING_SEEN).counts == Counts(4, 1, 2)
    proposals.keep(Counts(4, 2, 4), counts, Effect(0.2, 0.02), once_more=False)
    assert proposals.next(counts, NOTHING_SEEN).counts == Counts(16, 2, 4)


def test_after_a_pause_the_most_hopeful_comes_first_and_in_the_end_all_do():
    proposals, counts = Proposals(Counts(8, 2, 2), 128, seed=0), Counts(8, 1, 1)
    for trial, size in ((4, -0.3), (6, -0.1)):
        proposals.refuse(counts, Counts(trial, 1, 1), Effect(size, 0.02), True, False)
    for trial, over_limit in ((Counts(8, 2, 1), True), (Counts(8, 1, 2), False)):
        proposals.refuse(counts, trial, Effect(0.01, 0.02), True, over_limit)
    assert proposals.after_pause(counts, NOTHING_SEEN).counts == Counts(8, 1, 2)
    seen = []
    for _ in range(40):
        seen.append(proposals.after_pause(counts, NOTHING_SEEN).counts)
        proposals.refuse(counts, seen[-1], proposals.earlier(seen[-1])._replace(error=0.02), True, False)
    assert len(set(seen)) == 4
