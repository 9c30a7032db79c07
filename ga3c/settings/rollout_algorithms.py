"""Rows of the catalogue: algorithms that learn from rollouts, with their presets."""

from ga3c.settings.algorithm_row import AGENTS, EPSILON_GREEDY, OPTIMIZER, POLICY, RMSPROP, AlgorithmRow, Preset

_CHOICES = ("discrete", "multidiscrete")
_ANY = (*_CHOICES, "continuous")
_EACH_ON_ITS_OWN = ("synchronous", "asynchronous")
_BATCHED = {"sampling": "batched", "controller": "off", "policy_lag_limit_updates": 0.0}
_IN_LOCKSTEP = {"sampling": "synchronised", "controller": "off"}
# Stooke and Abbeel 2018, section 5.3, give no number for the random steps at the start.
_START_STEPS = {"start_steps_limit": 100}
_PAPER = {
    "input_scaling": "bytes", "t_max": 5, "minimum_batch_steps": 40,
    "return_lambda": 1.0, "normalize_advantages": False,
    "learning_rate": 3e-4, "learning_rate_decay_steps": 0,
    "entropy_weight": 0.01, "value_weight": 1.0,
    "rmsprop_epsilon": 0.1, "gradient_clip_norm": 0.0,
}  # fmt: skip
# Stooke and Abbeel 2018, section 5.3: 16 games, 5 steps, RMSProp at 7e-4 for that batch. All else is from OpenAI
# Baselines' A2C, whose loss is a mean, too. But its epsilon of 1e-5 is added outside of the root (1e-10 inside), as
# PyTorch's A2Cs do: inside it would exceed the mean square, and RMSProp would be little more than gradient descent.
_A2C = {
    "input_scaling": "bytes", "t_max": 5, "minimum_batch_steps": 80,
    "return_lambda": 1.0,
    "learning_rate": 7e-4, "learning_rate_decay_steps": 0, "learning_rate_batch_steps": 80,
    "entropy_weight": 0.01, "value_weight": 0.5,
    "rmsprop_epsilon": 1e-10, "gradient_clip_norm": 0.5,
}  # fmt: skip
_LOCKSTEP = {"rmsprop_epsilon": 1e-10, "gradient_clip_norm": 0.5}  # the defaults, for a mean over 320 steps
_A2C_VTRACE = {**_LOCKSTEP, "learning_rate_batch_steps": 320}  # the correction is of Espeholt et al. 2018, not these
# Schulman et al. 2017, table 5, with the epochs, minibatches and clipping of OpenAI Baselines' PPO2. Its value loss is
# a half of a half of the mean square: 0.25 here.
_PPO = {
    "input_scaling": "bytes", "t_max": 128, "minimum_batch_steps": 1024,
    "return_lambda": 0.95, "normalize_advantages": True,
    "epochs": 4, "minibatches": 4, "ppo_clip": 0.1,
    "learning_rate": 2.5e-4, "learning_rate_schedule": "linear", "learning_rate_decay_steps": 10_000_000,
    "adam_epsilon": 1e-5, "gradient_clip_norm": 0.5,
    "entropy_weight": 0.01, "value_weight": 0.25,
}  # fmt: skip
# Small pictures, a step size that follows the KL divergence (Schulman et al. 2017, section 4, has a penalty that does),
# and values in deviations of the returns. Found on Pong, and tried on the games that results/README.md names.
_PPO_TODAY = {
    "network": "compact", "t_max": 64, "minimum_batch_steps": 4096,
    "normalize_advantages": True, "normalize_values": True,
    "epochs": 3, "later_epochs_share": 0.5, "minibatches": 4, "ppo_clip": 0.2,
    "optimizer": "muon", "learning_rate": 5e-4, "learning_rate_schedule": "kl", "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-5, "gradient_clip_norm": 0.5,
    "entropy_weight": 0.02, "entropy_target": 0.75, "value_weight": 0.5,
}  # fmt: skip
# Schulman et al. 2017, table 3, with the loss and gradient norm of OpenAI Baselines' PPO2, as above.
_PPO_CONTINUOUS = {
    **_PPO,
    "input_scaling": "standardized", "t_max": 2048, "minimum_batch_steps": 2048,
    "epochs": 10, "minibatches": 32, "ppo_clip": 0.2,
    "learning_rate": 3e-4, "learning_rate_decay_steps": 1_000_000,
    "entropy_weight": 0.0,
}  # fmt: skip
# Stooke and Abbeel 2018, section 5.3: PPO with 256 steps, a quarter of the rate, and no schedule.
_APPO = {
    **_PPO,
    "t_max": 256, "minimum_batch_steps": 2048,
    "learning_rate": 2.5e-4 / 4, "learning_rate_schedule": "inverse", "learning_rate_decay_steps": 0,
}  # fmt: skip
# Gallici et al. 2024, Atari: epsilon falls during a tenth of 10 million steps, the rate does not.
_PQN = {
    "input_scaling": "bytes", "t_max": 32, "minimum_batch_steps": 4096,
    "return_lambda": 0.65,
    "epochs": 2, "minibatches": 32,
    "exploration_start": 1.0, "exploration_end": 0.001, "exploration_decay_steps": 1_000_000,
    "learning_rate": 2.5e-4, "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-8, "gradient_clip_norm": 10.0,
}  # fmt: skip
# One game is played beside, for its scores. Everything else was tried on Pong, with 20 games of a trained agent.
_CLONE = {
    "t_max": 16, "minimum_batch_steps": 64, "epochs": 10,
    "learning_rate": 1e-3, "learning_rate_schedule": "linear", "learning_rate_decay_steps": 0,
    "adam_epsilon": 1e-5, "gradient_clip_norm": 1.0,
    "entropy_weight": 0.0, "value_weight": 0.1,
}  # fmt: skip
_A2C_SETTINGS = (*OPTIMIZER, *POLICY, *RMSPROP, "log_epsilon", "learning_rate_batch_steps")
_PPO_SETTINGS = (
    *(*OPTIMIZER, *POLICY, "adam_epsilon", "epochs", "later_epochs_share", "minibatches", "ppo_clip"),
    *("value_clip", "kl_target", "entropy_target", "entropy_target_decay_steps"),
)

ROLLOUT_ALGORITHMS = (
    AlgorithmRow(
        "a3c", "GA3C's own; its loss is a sum over the batch.", "a3c.A3C",
        settings=(*OPTIMIZER, *POLICY, *RMSPROP, "log_epsilon"),
        learns_at_once=False, samplings=AGENTS, actions=_CHOICES,
        presets=(
            Preset(
                "ga3c", "GA3C with A3C's loss, and the constants that learn best with it on a small machine, from "
                "pictures of 84x84.",
            ),
            Preset(
                "paper", "the constants of the paper, and one game for each agent.", _PAPER,
                environment={"life_loss_terminates": False},
                schedule={"envs_per_agent": 1, "predictors": 2, "trainers": 2, "policy_lag_limit_updates": 0.0},
                agents=32,
            ),
        ),
    ),
    AlgorithmRow(
        "a2c", "the loss is a mean over the batch, and all values are of the newest weights.", "a2c.A2C",
        settings=_A2C_SETTINGS,
        actions=_ANY, device_updates=_EACH_ON_ITS_OWN,
        presets=(
            Preset(
                "a2c", "16 games in lockstep, 5 steps, RMSProp at 7e-4 (Stooke and Abbeel 2018).", _A2C,
                environment=_START_STEPS, schedule=_IN_LOCKSTEP, games=16,
            ),
            Preset(
                "a3c-cores", "A3C without a GPU: each core plays one game with weights of its own, and adds what it "
                "learns to those that all share (Mnih et al. 2016).",
                {**_A2C, "minimum_batch_steps": 5, "learning_rate_batch_steps": 0},
                schedule=_IN_LOCKSTEP, unit_for_each_core=True,
            ),
            Preset(
                "lockstep", "ga3c with a2c and 32 games as one batch in the server. There is no policy lag, and "
                "the same seed gives the same weights.", _LOCKSTEP,
                environment=_START_STEPS,
                schedule={**_BATCHED, "games": 32},
            ),
        ),
    ),
    AlgorithmRow(
        "a2c-vtrace", "a2c with a correction for steps of older policies (Espeholt et al. 2018).", "a2c.A2CVtrace",
        settings=(*_A2C_SETTINGS, "vtrace_rho_limit", "vtrace_c_limit"),
        actions=_ANY, device_updates=_EACH_ON_ITS_OWN,
        presets=(
            Preset("a2c-vtrace", "ga3c with V-trace (Espeholt et al. 2018).", _A2C_VTRACE),
            Preset(
                "cule", "a2c-vtrace with 120 games as one batch in the server and 20 steps. Each step brings an update "
                "from one of 20 batches of games (Dalton et al. 2020). On a GPU --games 1200 is as in the paper. "
                "Batches and steps are the paper's; the other constants are ours, among them lambda 0.95, where the "
                "paper's V-trace has 1.", {**_A2C_VTRACE, "t_max": 20},
                schedule={**_BATCHED, "games": 120, "batches": 20},
            ),
        ),
    ),
    AlgorithmRow(
        "ppo", "proximal policy optimization, with several passes over each batch (Schulman et al. 2017).", "ppo.PPO",
        settings=_PPO_SETTINGS,
        actions=_ANY, device_updates=_EACH_ON_ITS_OWN,
        presets=(
            Preset(
                "ppo", "64 games as one batch in the server, pictures of 42x42, 64 steps, 3 epochs (two of them of "
                "half of the steps), Muon, and a step size that follows the KL divergence.", _PPO_TODAY,
                environment={"frame_size_pixels": 42},
                schedule={**_BATCHED, "games": 64},
            ),
            Preset(
                "ppo-paper", "8 games in lockstep, 128 steps, 4 epochs of 4 minibatches, clip 0.1, Adam at 2.5e-4 "
                "(Schulman et al. 2017).", _PPO, schedule=_IN_LOCKSTEP, games=8,
            ),
            Preset(
                "ppo-continuous", "ppo for continuous actions: one game, 2,048 steps, 10 epochs of 32 minibatches, "
                "clip 0.2, Adam at 3e-4 that falls to 0 in 1 million steps, and scaled rewards (Schulman et al. 2017, "
                "MuJoCo).", _PPO_CONTINUOUS, actions="continuous",
                environment={"reward_scaling_discount": 0.99, "reward_clip": 10.0}, schedule=_IN_LOCKSTEP, games=1,
            ),
        ),
    ),
    AlgorithmRow(
        "appo", "ppo with games that wait for nobody (Stooke and Abbeel 2018).", "ppo.PPO",
        settings=_PPO_SETTINGS,
        actions=_ANY, samplings=AGENTS,
        presets=(
            Preset(
                "appo", "8 games that wait for nobody, 256 steps, Adam at 6.25e-5, and the rest as ppo-paper "
                "(Stooke and Abbeel 2018).", _APPO, environment=_START_STEPS,
                schedule={"sampling": "asynchronous", "controller": "off"}, games=8,
            ),
            Preset(
                "ga3c-ppo", "GA3C's stations, about 96 games in all, and the constants of ppo, with a KL target that "
                "falls for 10 million steps, and games that begin anew after 2,000 steps without a reward or a lost "
                "life. Atari games have it where no preset, algorithm or network is named.",
                {**_PPO_TODAY, "learning_rate_decay_steps": 10_000_000},
                environment={"frame_size_pixels": 42, "stall_limit_steps": 2_000},
                schedule={"policy_lag_limit_updates": 1.5}, games_about=96,
            ),
        ),
    ),
    AlgorithmRow(
        "clone", "recorded games are imitated: those of --dataset (behaviour cloning).", "clone.Clone",
        settings=(
            *("dataset", *OPTIMIZER),
            *("normalize_values", "entropy_weight", "value_weight", "adam_epsilon", "epochs"),
        ),
        actions=_ANY, samplings=("asynchronous",),
        presets=(
            Preset(
                "clone", "10 passes over recorded games, in batches of 64 steps, Adam at 1e-3 that falls to 0. One "
                "agent plays beside, for its scores.", _CLONE,
                schedule={"agents": 1, "envs_per_agent": 4, "predictors": 1, "trainers": 1, "controller": "off"},
            ),
        ),
    ),
    AlgorithmRow(
        "pqn", "Q-learning without a replay memory (Gallici et al. 2024).", "pqn.PQN",
        settings=(
            *(*OPTIMIZER, *EPSILON_GREEDY, "return_lambda", "adam_epsilon"),
            *("epochs", "later_epochs_share", "minibatches"),
        ),
        policy=False, pictures=("pqn",), vectors=("pqn-mlp",),
        presets=(
            Preset(
                "pqn", "128 games in lockstep, 32 steps, 2 epochs of 32 minibatches, lambda 0.65, RAdam at 2.5e-4 "
                "(Gallici et al. 2024).", _PQN, schedule=_IN_LOCKSTEP, games=128,
            ),
        ),
    ),
)  # fmt: skip
NO_ALGORITHM = AlgorithmRow("none", "nothing is learned, to measure how fast games are played.", "none.NoLearning")
