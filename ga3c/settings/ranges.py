"""The values that the settings may have."""

import reprlib
from dataclasses import asdict, fields

from ga3c.errors import ConfigError
from ga3c.settings import combinations, flag_of
from ga3c.settings.run import Settings

MANY = 1e15  # the limit of numbers that need none: up to it counts in floating point stay exact
LONG = 1e9  # seconds, 30 years: the system cannot wait for longer

# Smallest and largest allowed value of each number.
RANGES: dict[str, tuple[float, float]] = {
    "frame_skip_frames": (1, 60),
    "frame_size_pixels": (36, 256),
    "frame_stack": (1, 16),
    "no_op_max_steps": (0, 1000),
    "start_steps_limit": (0, 100_000),
    "sticky_action_probability": (0, 1),
    "stall_limit_steps": (0, MANY),
    "reward_clip": (0, MANY),
    "reward_scaling_discount": (0, 1),
    "reward_scaling_limit": (0, MANY),
    "episode_cap_frames": (1, 2**31 - 1),
    "games": (0, 65_536),
    "batches": (1, 4096),
    "agents": (0, 1024),
    "predictors": (1, 64),
    "trainers": (1, 64),
    "envs_per_agent": (1, 256),
    "experience_age_limit_updates": (0, MANY),
    "controller_seconds": (0.1, LONG),
    "policy_lag_limit_updates": (0, MANY),
    "agent_silence_seconds": (0, LONG),
    "max_prediction_batch": (1, 8192),
    "t_max": (1, 4096),
    "minimum_batch_steps": (1, 65_536),
    "memory_units": (1, 4096),
    "discount": (0, 1),
    "return_lambda": (0, 1),
    "vtrace_rho_limit": (0, MANY),
    "vtrace_c_limit": (0, MANY),
    "epochs": (1, 1000),
    "later_epochs_share": (0, 1),
    "minibatches": (1, 65_536),
    "ppo_clip": (0, MANY),
    "value_clip": (0, MANY),
    "exploration_noise": (0, MANY),
    "exploration_base": (0, 1),
    "exploration_exponent": (0, MANY),
    "exploration_levels": (0, MANY),
    "exploration_start": (0, 1),
    "exploration_end": (0, 1),
    "exploration_decay_steps": (0, MANY),
    "entropy_weight": (0, MANY),
    "entropy_target": (0, 1),
    "entropy_target_decay_steps": (1, MANY),
    "value_weight": (0, MANY),
    "learning_rate": (0, 1),
    "learning_rate_decay_steps": (0, MANY),
    "kl_target": (1e-6, MANY),
    "learning_rate_batch_steps": (0, MANY),
    "rmsprop_decay": (0, 1),
    "rmsprop_epsilon": (1e-12, MANY),
    "adam_epsilon": (1e-12, MANY),
    "error_clip": (0, MANY),
    "gradient_clip_norm": (0, MANY),
    "actor_gradient_clip": (0, MANY),
    "log_epsilon": (1e-12, 1),
    "seed": (0, 2**31 - 1),
    "device_exchange_minibatches": (0, MANY),
    "device_pull_steps": (0, MANY),
    "replay_transitions": (1, 1e9),
    "replay_copies": (1, 64),
    "replay_minimum_transitions": (1, 1e9),
    "prefetch_batches": (0, 64),
    "replay_shards": (0, 64),
    "eviction_alpha": (-10, 0),
    "batch": (1, 65_536),
    "steps_per_update": (0, 1_000_000),
    "target_updates": (1, MANY),
    "n_steps": (1, 1000),
    "atoms": (2, 1001),
    "value_limit": (1e-3, MANY),
    "secondary_batch": (0, 65_536),
    "priority_alpha": (0, 10),
    "priority_beta": (0, 1),
    "priority_beta_final": (0, 1),
    "steps": (1, MANY),
    "minutes": (0.01, LONG),
    "episodes": (1, MANY),
    "tensorflow_threads": (0, 1024),
    "checkpoint_seconds": (1, LONG),
    "checkpoints_kept": (1, 10_000),
    "checkpoint_steps": (0, MANY),
    "log_seconds": (0.1, LONG),
    "stall_seconds": (0, LONG),
    "plot_seconds": (0, LONG),
}


def check(settings: Settings) -> None:
    """Raises ConfigError for the first number that is out of its range, and for settings that do not go together."""
    for group in fields(settings):
        for name, value in asdict(getattr(settings, group.name)).items():
            low, high = RANGES.get(name, (None, None))
            if value is None or low is None:
                continue
            if not low <= value <= high:
                said = f"{value:g}" if isinstance(value, float) else reprlib.repr(value)
                raise ConfigError(f"{flag_of(name)} {said} is out of range: give a number from {low:g} to {high:g}.")
    combinations.check(settings)
