"""Which values the settings may have."""

from dataclasses import asdict, fields

from ga3c.errors import ConfigError
from ga3c.settings.run import Settings

# Smallest and largest allowed value of each number; a setting not named here may take any.
_RANGES: dict[str, tuple[float, float]] = {
    "frame_skip_frames": (1, 60),
    "frame_size_pixels": (36, 256),
    "frame_stack": (1, 16),
    "no_op_max_steps": (0, 1000),
    "sticky_action_probability": (0, 1),
    "reward_clip": (0, float("inf")),
    "episode_cap_frames": (1, float("inf")),
    "agents": (0, 1024),
    "predictors": (1, 64),
    "trainers": (1, 64),
    "envs_per_agent": (1, 256),
    "controller_seconds": (0.1, float("inf")),
    "policy_lag_limit_updates": (0, float("inf")),
    "agent_silence_seconds": (0, float("inf")),
    "max_prediction_batch": (1, 8192),
    "t_max": (1, 1000),
    "minimum_batch_steps": (1, 65_536),
    "discount": (0, 1),
    "return_lambda": (0, 1),
    "entropy_weight": (0, float("inf")),
    "value_weight": (0, float("inf")),
    "learning_rate": (0, 1),
    "learning_rate_decay_steps": (0, float("inf")),
    "rmsprop_decay": (0, 1),
    "rmsprop_epsilon": (1e-12, float("inf")),
    "gradient_clip_norm": (0, float("inf")),
    "log_epsilon": (1e-12, 1),
    "seed": (0, 2**31 - 1),
    "steps": (1, float("inf")),
    "minutes": (0.01, float("inf")),
    "episodes": (1, float("inf")),
    "tensorflow_threads": (0, 1024),
    "checkpoint_seconds": (1, float("inf")),
    "checkpoints_kept": (1, 10_000),
    "log_seconds": (0.1, float("inf")),
    "stall_seconds": (0, float("inf")),
    "plot_seconds": (0, float("inf")),
}
LARGEST = 2**63  # of any: numbers that are infinite, or more than a machine counts with, are out of range


def check(settings: Settings) -> None:
    """Raises ConfigError for the first number that is out of its range."""
    for group in fields(settings):
        for name, value in asdict(getattr(settings, group.name)).items():
            low, high = _RANGES.get(name, (None, None))
            if value is None or low is None:
                continue
            if not low <= value <= min(high, LARGEST):
                flag = "--" + name.replace("_", "-")
                bounds = f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
                raise ConfigError(f"{flag} {str(value)[:30]} is out of range: give a number {bounds}.")
