"""Rows of the catalogue: algorithms that learn from a replay memory, with their presets."""

from ga3c.settings.algorithm_row import AGENTS, EPSILON_GREEDY, OPTIMIZER, REPLAY, RMSPROP, AlgorithmRow, Preset

_IN_LOCKSTEP = {"sampling": "synchronised", "controller": "off"}
_EACH_ON_ITS_OWN = ("synchronous", "asynchronous")
_DQN_RATES = {32: 2.5e-4, 512: 7.5e-4, 1024: 1.5e-3}  # Stooke and Abbeel 2018, section 5.4.1
# Mnih et al. 2015, extended data table 1. Its gradient is a sum over 32 transitions, with 0.01 added to its variance:
# of the mean that is 0.01 / 32^2.
_DQN = {
    "input_scaling": "bytes", "t_max": 1, "minimum_batch_steps": 8,
    "exploration_start": 1.0, "exploration_end": 0.1, "exploration_decay_steps": 1_000_000,
    "learning_rate": 2.5e-4, "learning_rate_decay_steps": 0,
    "rmsprop_decay": 0.95, "rmsprop_epsilon": 1e-5, "gradient_clip_norm": 0.0,
}  # fmt: skip
_C51 = {**_DQN, "exploration_end": 0.01, "adam_epsilon": 0.01 / 32}  # Bellemare et al. 2017, section 5 and appendix
# Hessel et al. 2018, table 1, with epsilon-greedy play in place of noisy networks: there epsilon falls within the first
# 250,000 frames.
_RAINBOW = {**_C51, "exploration_decay_steps": 62_500, "learning_rate": 6.25e-5, "adam_epsilon": 1.5e-4}
# Horgan et al. 2018, section 4.1 and appendix C. An agent ships 8 steps of each of its games at once, where the paper's
# ships 50 of its one game: fewer steps cost a pod up to a fifth more for each step.
_APEX_DQN = {
    **_DQN,
    "t_max": 8,
    "exploration": "per-game",
    "learning_rate": 2.5e-4 / 4,
    "rmsprop_epsilon": 1.5e-7, "gradient_clip_norm": 40.0,
    "error_clip": 0.0,
}  # fmt: skip
# Horgan et al. 2018, section 4.2 and appendix D, and as _APEX_DQN where these say nothing; Adam's epsilon is from
# Kingma and Ba 2015.
_APEX_DPG = {
    "input_scaling": "bytes", "t_max": 2, "minimum_batch_steps": 8,
    "learning_rate": 1e-4, "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-8, "gradient_clip_norm": 40.0,
}  # fmt: skip
_APEX_REPLAY = {
    "batch": 512, "steps_per_update": 0, "n_steps": 3, "prefetch_batches": 16,
    "priority_alpha": 0.6, "priority_beta": 0.4, "priority_beta_final": 0.4,
}  # fmt: skip
_RAINBOW_REPLAY = {
    "replay_minimum_transitions": 20_000, "target_updates": 2_000, "n_steps": 3,
    "double_q": True, "dueling": True,
    "priority_alpha": 0.5, "priority_beta": 0.4, "priority_error": "kl",
}  # fmt: skip
_Q_SETTINGS = (*OPTIMIZER, *REPLAY, *EPSILON_GREEDY, "double_q", "dueling", "secondary_batch")

REPLAY_ALGORITHMS = (
    AlgorithmRow(
        "dqn", "Q-learning from a replay memory (Mnih et al. 2015).", "dqn.DQN",
        settings=(*_Q_SETTINGS, *RMSPROP, "error_clip"),
        replays=True, policy=False, pictures=("dqn",), vectors=("dqn-mlp",),
        device_updates=_EACH_ON_ITS_OWN,
        presets=(
            Preset(
                "dqn", "8 games in lockstep, an update from 32 of a million transitions for each 4 steps, RMSProp at "
                "2.5e-4 (Mnih et al. 2015).", _DQN, schedule=_IN_LOCKSTEP, games=8, batch_rates=_DQN_RATES,
            ),
            Preset(
                "fast-dqn", "dqn with --concurrent-training (Daley and Amato 2021).", _DQN,
                {"concurrent_training": True}, schedule=_IN_LOCKSTEP, games=8, batch_rates=_DQN_RATES,
            ),
            Preset(
                "apex-dqn", "many games with an epsilon each, and updates from 512 of 2 million transitions, neither "
                "of which waits for the other. It is double and dueling, with 3 steps, priorities, and RMSProp at "
                "6.25e-5 (Horgan et al. 2018).", _APEX_DQN,
                {**_APEX_REPLAY, "replay_transitions": 2_000_000, "double_q": True, "dueling": True},
                environment={"episode_cap_frames": 50_000}, schedule={"controller": "off"}, batch_rates=_DQN_RATES,
            ),
        ),
    ),
    AlgorithmRow(
        "c51", "dqn that learns the distribution of returns (Bellemare et al. 2017).", "dqn.C51",
        settings=(*_Q_SETTINGS, "adam_epsilon", "atoms", "value_limit", "priority_error"),
        replays=True, policy=False, pictures=("dqn",), vectors=("dqn-mlp",),
        device_updates=_EACH_ON_ITS_OWN,
        presets=(
            Preset(
                "c51", "dqn with the distribution of returns and Adam at 2.5e-4 (Bellemare et al. 2017).", _C51,
                schedule=_IN_LOCKSTEP, games=8, batch_rates={255: 2.5e-4, 256: 4.2e-4},
            ),
            Preset(
                "rainbow", "c51 with --double-q, --dueling, --n-steps 3 and priorities, Adam at 6.25e-5 (Hessel et al. "
                "2018, without noisy networks).", _RAINBOW, _RAINBOW_REPLAY,
                schedule=_IN_LOCKSTEP, games=8, adam_epsilon_of_one=0.005,
            ),
        ),
    ),
    AlgorithmRow(
        "dpg", "continuous actions, learned from a replay memory (Lillicrap et al. 2016, Horgan et al. 2018).",
        "dpg.DPG",
        settings=(*OPTIMIZER, *REPLAY, "adam_epsilon", "exploration_noise", "actor_gradient_clip"),
        replays=True, policy=False, pictures=(), vectors=("dpg-mlp",), actions=("continuous",), samplings=AGENTS,
        presets=(
            Preset(
                "apex-dpg", "apex-dqn for continuous actions: dpg, updates from 256 of a million transitions, Adam at "
                "1e-4.", _APEX_DPG,
                {**_APEX_REPLAY, "batch": 256, "target_updates": 100, "replay_eviction": "priority"},
                actions="continuous",
                environment={"reward_clip": 0.0}, schedule={"controller": "off"},
            ),
        ),
    ),
)  # fmt: skip
