"""Sets of defaults that go under one name."""

from dataclasses import replace

from ga3c.machine import usable_cores
from ga3c.settings.run import Settings


def with_presets(settings: Settings, preset: str | None, protocol: str | None) -> Settings:
    """`settings` with the defaults that `--preset` and `--protocol` stand for put in."""
    if preset == "paper":
        learning = replace(
            settings.learning,
            preset="paper",
            input_scaling="bytes",
            t_max=5,
            minimum_batch_steps=40,
            return_lambda=1.0,
            lag_correction=False,
            normalize_advantages=False,
            learning_rate=3e-4,
            learning_rate_decay_steps=0,
            entropy_weight=0.01,
            rmsprop_epsilon=0.1,
            value_weight=1.0,
            gradient_clip_norm=0.0,
        )
        schedule = replace(
            settings.schedule,
            envs_per_agent=1,
            agents=max(32, usable_cores()),
            predictors=2,
            trainers=2,
            policy_lag_limit_updates=0.0,
        )
        environment = replace(settings.environment, life_loss_terminates=False)
        settings = replace(settings, environment=environment, learning=learning, schedule=schedule)
    if protocol == "machado":
        environment = replace(
            settings.environment,
            protocol="machado",
            sticky_action_probability=0.25,
            full_action_set=True,
            no_op_max_steps=0,
            life_loss_terminates=False,
        )
        settings = replace(settings, environment=environment)
    return settings
