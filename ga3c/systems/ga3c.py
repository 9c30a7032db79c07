"""GA3C (Babaeizadeh et al., ICLR 2017): agents and one model with two queues between them, and the controller."""

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.scheduling.backpressure import Backpressure
from ga3c.training_queue import TrainingQueue


def wire(context: Context) -> Wiring:
    """No agent waits for another: all requests that wait are answered together, and rollouts are learned from in the
    order in which they come. With a limit of the policy lag, agents wait for trainers that do not keep up. The
    controller changes the counts."""
    rollouts, schedule = context.rollouts_per_batch, context.settings.schedule
    # Pods have no slots here, and a limit of their own.
    bounded = schedule.policy_lag_limit_updates and not schedule.cluster
    backpressure = Backpressure(rollouts, held=0 if context.ships_when_complete else 1) if bounded else None
    training = TrainingQueue(context.dtype, rollouts, context.algorithm.learns_from, backpressure=backpressure)
    return Wiring(
        predictions=PredictionQueue(enough=context.enough),
        experience=training,
        slots=context.slots,
        columns=rollouts * context.envs,
        counts=context.counts,
        max_requests=context.max_requests,
        no_controller_because="pods keep their number" if schedule.cluster else "",
        ending=training.end_backpressure,
    )
