"""GA3C (Babaeizadeh et al., ICLR 2017): agents and one model with two queues between them, and the controller."""

from ga3c.systems.wiring import Context, Wiring  # isort: skip (first: it loads TensorFlow)
from ga3c.prediction_queue import PredictionQueue
from ga3c.training_queue import TrainingQueue


def wire(context: Context) -> Wiring:
    """Nobody waits for anybody: all requests that wait are answered together, and rollouts are learned from in the
    order in which they come. The controller changes the counts."""
    return Wiring(
        predictions=PredictionQueue(enough=context.enough),
        experience=TrainingQueue(context.dtype, context.rollouts_per_batch, context.algorithm.learns_from),
        slots=context.slots,
        rollouts_per_batch=context.rollouts_per_batch,
        counts=context.counts,
        max_requests=context.max_requests,
        no_controller_because="pods keep their number" if context.settings.schedule.cluster else "",
    )
