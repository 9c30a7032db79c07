"""Sets of defaults that go under one name."""

from dataclasses import replace

from ga3c.machine import usable_cores
from ga3c.settings.batches import with_batch
from ga3c.settings.run import Settings

_PAPER = {
    "input_scaling": "bytes",
    "t_max": 5,
    "minimum_batch_steps": 40,
    "return_lambda": 1.0,
    "normalize_advantages": False,
    "learning_rate": 3e-4,
    "learning_rate_decay_steps": 0,
    "entropy_weight": 0.01,
    "rmsprop_epsilon": 0.1,
    "value_weight": 1.0,
    "gradient_clip_norm": 0.0,
}
# Stooke and Abbeel 2018, section 5.3: 16 games, 5 steps, RMSProp at 7e-4 for that batch; what it does not say is as in
# OpenAI Baselines' A2C, whose loss is a mean, too. But its ε of 1e-5 is added beside the root, as in PyTorch's A2Cs:
# under it, it is more than the mean square, and RMSProp hardly more than a step down the gradient.
_A2C = {
    "algorithm": "a2c",
    "input_scaling": "bytes",
    "t_max": 5,
    "minimum_batch_steps": 80,
    "return_lambda": 1.0,
    "learning_rate": 7e-4,
    "learning_rate_decay_steps": 0,
    "learning_rate_batch_steps": 80,
    "entropy_weight": 0.01,
    "value_weight": 0.5,
    "rmsprop_epsilon": 1e-10,
    "gradient_clip_norm": 0.5,
}
# The defaults, for a mean over 320 steps in place of a sum.
_LOCKSTEP = {"algorithm": "a2c", "rmsprop_epsilon": 1e-10, "gradient_clip_norm": 0.5}
# Espeholt et al. 2018 correct for old policies in this way; the constants are ours.
_A2C_VTRACE = {**_LOCKSTEP, "algorithm": "a2c-vtrace", "learning_rate_batch_steps": 320}
# Dalton et al. 2020 (CuLE), table 3: batches and steps of what learns fastest there. The other constants are ours,
# lambda 0.95 among them: the paper's V-trace is that of Espeholt et al. 2018, which is lambda 1.
_CULE = {**_A2C_VTRACE, "t_max": 20}
# Schulman et al. 2017, table 5, with the epochs, minibatches and clipping of OpenAI Baselines' PPO2. Its value loss is
# a half of a half of the mean square: 0.25 here.
_PPO = {
    "algorithm": "ppo",
    "input_scaling": "bytes",
    "t_max": 128,
    "minimum_batch_steps": 1024,
    "return_lambda": 0.95,
    "normalize_advantages": True,
    "epochs": 4,
    "minibatches": 4,
    "ppo_clip": 0.1,
    "learning_rate": 2.5e-4,
    "learning_rate_schedule": "linear",
    "learning_rate_decay_steps": 10_000_000,
    "adam_epsilon": 1e-5,
    "entropy_weight": 0.01,
    "value_weight": 0.25,
    "gradient_clip_norm": 0.5,
}
# Schulman et al. 2017, table 3, with the loss and gradient norm of OpenAI Baselines' PPO2, as above.
_PPO_CONTINUOUS = {
    **_PPO,
    "input_scaling": "standardized",
    "t_max": 2048,
    "minimum_batch_steps": 2048,
    "epochs": 10,
    "minibatches": 32,
    "ppo_clip": 0.2,
    "learning_rate": 3e-4,
    "learning_rate_decay_steps": 1_000_000,
    "entropy_weight": 0.0,
}
# Stooke and Abbeel 2018, section 5.3: PPO of 256 steps, a rate four times smaller, and no schedule.
_APPO = {
    **_PPO,
    "algorithm": "appo",
    "t_max": 256,
    "minimum_batch_steps": 2048,
    "learning_rate": 2.5e-4 / 4,
    "learning_rate_schedule": "inverse",
    "learning_rate_decay_steps": 0,
}
# Gallici et al. 2024, Atari: epsilon falls during a tenth of 10 million steps, the rate does not.
_PQN = {
    "algorithm": "pqn",
    "input_scaling": "bytes",
    "t_max": 32,
    "minimum_batch_steps": 4096,
    "return_lambda": 0.65,
    "epochs": 2,
    "minibatches": 32,
    "exploration_start": 1.0,
    "exploration_end": 0.001,
    "exploration_decay_steps": 1_000_000,
    "learning_rate": 2.5e-4,
    "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-8,
    "gradient_clip_norm": 10.0,
}
# Mnih et al. 2015, extended data table 1. Its gradient is a sum over 32 transitions, with 0.01 added to its variance:
# of the mean that is 0.01 / 32^2.
_DQN = {
    "algorithm": "dqn",
    "input_scaling": "bytes",
    "t_max": 1,
    "minimum_batch_steps": 8,
    "exploration_start": 1.0,
    "exploration_end": 0.1,
    "exploration_decay_steps": 1_000_000,
    "learning_rate": 2.5e-4,
    "learning_rate_decay_steps": 0,
    "rmsprop_decay": 0.95,
    "rmsprop_epsilon": 1e-5,
    "gradient_clip_norm": 0.0,
}
# Bellemare et al. 2017, section 5 and appendix.
_C51 = {**_DQN, "algorithm": "c51", "exploration_end": 0.01, "adam_epsilon": 0.01 / 32}
# Hessel et al. 2018, table 1, with epsilon-greedy play in place of noisy networks: there epsilon falls within the first
# 250,000 frames.
_RAINBOW = {**_C51, "exploration_decay_steps": 62_500, "learning_rate": 6.25e-5, "adam_epsilon": 1.5e-4}
# Horgan et al. 2018, section 4.1 and appendix C. An agent ships 8 steps of each of its games at once, there 50 of its
# one: fewer cost a pod up to a fifth more for each step.
_APEX_DQN = {
    **_DQN,
    "t_max": 8,
    "exploration": "per-game",
    "learning_rate": 2.5e-4 / 4,
    "rmsprop_epsilon": 1.5e-7,
    "error_clip": 0.0,
    "gradient_clip_norm": 40.0,
}
# Section 4.2 and appendix D there, and as above where they say nothing; Adam's epsilon is of Kingma and Ba 2015.
_APEX_DPG = {
    "algorithm": "dpg",
    "input_scaling": "bytes",
    "t_max": 2,
    "minimum_batch_steps": 8,
    "learning_rate": 1e-4,
    "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-8,
    "gradient_clip_norm": 40.0,
}
_APEX_REPLAY = {
    "batch": 512,
    "steps_per_update": 0,
    "n_steps": 3,
    "priority_alpha": 0.6,
    "priority_beta": 0.4,
    "priority_beta_final": 0.4,
}
_REPLAY = {
    "fast-dqn": {"concurrent_training": True},
    "rainbow": {
        "replay_minimum_transitions": 20_000,
        "target_updates": 2_000,
        "n_steps": 3,
        "double_q": True,
        "dueling": True,
        "priority_alpha": 0.5,
        "priority_beta": 0.4,
    },
    "apex-dqn": {**_APEX_REPLAY, "replay_transitions": 2_000_000, "double_q": True, "dueling": True},
    "apex-dpg": {**_APEX_REPLAY, "batch": 256, "target_updates": 100, "replay_eviction": "priority"},
}
_LEARNING = {
    "cule": _CULE,
    "dqn": _DQN,
    "fast-dqn": _DQN,
    "c51": _C51,
    "rainbow": _RAINBOW,
    "apex-dqn": _APEX_DQN,
    "apex-dpg": _APEX_DPG,
    "paper": _PAPER,
    "a2c": _A2C,
    "lockstep": _LOCKSTEP,
    "a2c-vtrace": _A2C_VTRACE,
    "ppo": _PPO,
    "ppo-continuous": _PPO_CONTINUOUS,
    "appo": _APPO,
    "pqn": _PQN,
}
# Stooke and Abbeel 2018, section 5.3, say of the random steps at the start only that there are some.
_START_STEPS = {"start_steps_limit": 100}
_ENVIRONMENT = {
    "paper": {"life_loss_terminates": False},
    "a2c": _START_STEPS,
    "lockstep": _START_STEPS,
    "ppo-continuous": {"reward_scaling_discount": 0.99, "reward_clip": 10.0},
    "appo": _START_STEPS,
    "apex-dqn": {"episode_cap_frames": 50_000},
    "apex-dpg": {"reward_clip": 0.0},
}
_GAMES = {"a2c": 16, "ppo": 8, "ppo-continuous": 1, "appo": 8, "pqn": 128}  # of the whole run
_GAMES |= {"dqn": 8, "fast-dqn": 8, "c51": 8, "rainbow": 8}


def with_presets(settings: Settings, preset: str | None, protocol: str | None, batch: int | None = None) -> Settings:
    """`settings` with the defaults that `--preset`, `--protocol` and, with a replay, `--batch` stand for put in."""
    preset = "apex-dpg" if preset == "dpg" else preset  # an algorithm of one preset alone
    if preset in _LEARNING:
        learning = replace(settings.learning, preset=preset, **_LEARNING[preset])
        settings = replace(settings, learning=learning, schedule=replace(settings.schedule, **_schedule(preset)))
    if preset in _REPLAY:
        settings = replace(settings, replay=replace(settings.replay, **_REPLAY[preset]))
    if batch and settings.learning.algorithm in ("dqn", "c51") and settings.replay.steps_per_update:
        settings = with_batch(settings, batch)
    if environment := _ENVIRONMENT.get(preset):
        settings = replace(settings, environment=replace(settings.environment, **environment))
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


def _schedule(preset: str) -> dict:
    """Scheduling settings of a preset. The number of games is part of the algorithm; they fill as many cores as go."""
    if preset == "paper":
        counts = {"envs_per_agent": 1, "agents": max(32, usable_cores()), "predictors": 2, "trainers": 2}
        return {**counts, "policy_lag_limit_updates": 0.0}
    if preset in ("apex-dqn", "apex-dpg"):
        return {"controller": "off"}
    if preset == "lockstep":
        return {"sampling": "batched", "games": 32, "controller": "off", "policy_lag_limit_updates": 0.0}
    if preset == "cule":  # one step for each update
        batched = {"sampling": "batched", "games": 120, "batches": 20}
        return {**batched, "controller": "off", "policy_lag_limit_updates": 0.0}
    if preset not in _GAMES:
        return {}
    sampling = "asynchronous" if preset == "appo" else "synchronised"
    return {"sampling": sampling, **agents_of(_GAMES[preset]), "controller": "off"}


def agents_of(games: int) -> dict[str, int]:
    """Settings for so many games in as many agents as there are cores, or fewer: all have the same number."""
    agents = max(count for count in range(1, usable_cores() + 1) if games % count == 0)
    return {"agents": agents, "envs_per_agent": games // agents}
