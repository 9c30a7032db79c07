"""Numbers that fall with the steps of play."""

from ga3c.settings.learning import LearningSettings


def inverse(steps: int, start: float, half_steps: int) -> float:
    """Returns start / (1 + steps / half_steps), or start where half_steps is 0."""
    return start / (1 + steps / half_steps) if half_steps else start


def linear(steps: int, start: float, end: float, over_steps: int) -> float:
    """Returns a point on the straight line from start to end over so many steps. 0 steps: it stays at start."""
    return start + (end - start) * min(1.0, steps / over_steps) if over_steps else start


def learning_rate(steps: int, settings: LearningSettings, run_steps: int | None) -> float:
    """Returns the step size after so many steps of play, in a run that ends after `run_steps`."""
    if settings.learning_rate_schedule == "linear":
        return linear(steps, settings.learning_rate, 0.0, run_steps or settings.learning_rate_decay_steps)
    return inverse(steps, settings.learning_rate, settings.learning_rate_decay_steps)
