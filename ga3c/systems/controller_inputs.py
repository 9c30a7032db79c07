"""The inputs of the controller: the rule that decides on the counts, and the signals that it sees."""

from ga3c import machine
from ga3c.controller.counts import Counts, Rule, Signals
from ga3c.controller.paper_rule import PaperRule
from ga3c.controller.tuner import Tuner
from ga3c.machine import usable_cores
from ga3c.settings.schedule import ScheduleSettings
from ga3c.stats import Stats

AGENTS_PER_CORE_LIMIT, THREADS_LIMIT = 16, 64  # how far the controller goes


def rule_of(schedule: ScheduleSettings, counts: Counts, seed: int, slots_bytes: int) -> Rule:
    """Returns the rule that `--controller` names. `slots_bytes`: memory of the slots of one agent."""
    if schedule.controller == "paper":
        return PaperRule(counts, schedule.controller_seconds, seed)
    fit = machine.check_agents_fit(counts.agents, slots_bytes, schedule.envs_per_agent)
    agents = max(counts.agents, min(fit, AGENTS_PER_CORE_LIMIT * usable_cores()))
    most = Counts(agents, THREADS_LIMIT, THREADS_LIMIT)
    lag, batch = schedule.policy_lag_limit_updates, schedule.max_prediction_batch
    return Tuner(
        counts, schedule.controller_seconds, lag_limit_updates=lag, most=most, max_prediction_batch=batch, seed=seed
    )


def signals_of(stats: Stats, waiting: tuple[int, int], agents_starting: int) -> Signals:
    """Returns the signals. `waiting`: requests and rollouts in the queues."""
    totals, timings = vars(stats.totals()), stats.timings()
    return Signals(
        **{name: totals[name] for name in Signals._fields if name in totals},
        predictor_wait_seconds=timings.predictor_waiting,
        trainer_wait_seconds=timings.trainer_waiting,
        prediction_queue=waiting[0],
        training_queue=waiting[1],
        agents_starting=agents_starting,
    )
