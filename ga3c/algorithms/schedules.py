"""What falls with the steps of play."""

from ga3c.settings.learning import LearningSettings


def inverse(steps: int, start: float, half_steps: int) -> float:
    """start / (1 + steps / half_steps); constant where that is 0."""
    return start / (1 + steps / half_steps) if half_steps else start


def linear(steps: int, start: float, end: float, over_steps: int) -> float:
    """From start to end in a straight line over so many steps, and end from then on; constant where that is 0."""
    return start + (end - start) * min(1.0, steps / over_steps) if over_steps else start


def learning_rate(steps: int, settings: LearningSettings, run_steps: int | None) -> float:
    """After so many steps of play, of a run that ends after `run_steps`."""
    if settings.learning_rate_schedule == "linear":
        return linear(steps, settings.learning_rate, 0.0, run_steps or settings.learning_rate_decay_steps)
    return inverse(steps, settings.learning_rate, settings.learning_rate_decay_steps)
