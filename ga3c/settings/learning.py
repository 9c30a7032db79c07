"""Settings of what is learned from what was played: network, targets, loss, optimizer."""

from dataclasses import dataclass
from typing import Literal

Network = Literal[
    "auto", "small", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1", "mlp", "separate-mlp",
    "pqn", "pqn-mlp", "dqn", "dqn-mlp", "dpg-mlp",
]  # fmt: skip
DQN_EVALUATION_EPSILON = 0.05  # Mnih et al. 2015
REPLAYING = ("dqn", "c51", "dpg")  # algorithms that learn from a replay memory


@dataclass(frozen=True)
class LearningSettings:
    algorithm: Literal["a3c", "a2c", "a2c-vtrace", "ppo", "appo", "pqn", "dqn", "c51", "dpg", "none"] = "a3c"
    """What is learned from what was played. a3c: GA3C's, a sum over the batch. a2c: the same as a mean, with the values
    of the newest weights. a2c-vtrace: that, for steps of older policies (Espeholt et al. 2018).
    ppo: proximal policy optimization, several passes over each batch (Schulman et al. 2017). appo: the same, of games
    that nobody waits for (Stooke and Abbeel 2018). pqn: Q-learning without replay (Gallici et al. 2024).
    dqn: Q-learning from a replay memory (Mnih et al. 2015). c51: the same, of the distribution of returns (Bellemare et
    al. 2017). dpg: from a replay memory, too, for continuous actions (Lillicrap et al. 2016, Horgan et al. 2018).
    none: nothing, to measure how fast games are played (Stooke and Abbeel 2018, section 5.2)."""
    preset: Literal["default", "lockstep", "paper", "a2c", "a2c-vtrace", "ppo", "ppo-continuous", "appo", "pqn", "dqn",
                    "fast-dqn", "c51", "rainbow", "apex-dqn", "apex-dpg", "cule"] = "default"  # fmt: skip
    """Defaults of the learning and scheduling settings. lockstep: those of the default, with a2c and 32 games as one
    batch in the server: no policy lag, and the same weights from the same seed. paper: the paper's constants and one
    game for each agent. The others stand for the algorithm of their name and the constants of its paper; --algorithm
    sets them, too.
    a2c: 16 games in lockstep, 5 steps, RMSProp at 7e-4 (Stooke and Abbeel 2018).
    a2c-vtrace: the default with V-trace for what older policies played (Espeholt et al. 2018).
    cule: the same, of 20 steps, with 120 games as one batch in the server, and an update after each step, with one of
    20 batches of them in turn (Dalton et al. 2020). With a GPU --games 1200 is as in the paper.
    ppo: 8 games in lockstep, 128 steps, 4 epochs of 4 minibatches, clip 0.1, Adam at 2.5e-4 (Schulman et al. 2017).
    ppo-continuous: ppo for games with continuous actions: one game, 2,048 steps, 10 epochs of 32 minibatches, clip 0.2,
    Adam at 3e-4 that falls to 0 in 1 million steps, rewards scaled (Schulman et al. 2017, MuJoCo).
    appo: 8 games that nobody waits for, 256 steps, Adam at 6.25e-5, else as ppo (Stooke and Abbeel 2018).
    pqn: 128 games in lockstep, 32 steps, 2 epochs of 32 minibatches, lambda 0.65, RAdam at 2.5e-4 (Gallici et al.
    2024).
    dqn: 8 games in lockstep, 32 transitions of a million in an update for each 4 steps, RMSProp at 2.5e-4 (Mnih et al.
    2015). fast-dqn: the same, with --concurrent-training (Daley and Amato 2021).
    c51: as dqn, with Adam at 2.5e-4 (Bellemare et al. 2017). rainbow: c51 with --double-q, --dueling, --n-steps 3 and
    priorities, Adam at 6.25e-5 (Hessel et al. 2018; without noisy networks).
    apex-dqn: games as by default, each with an epsilon of its own, and updates of 512 transitions of 2 million, none
    waiting for the other; double, dueling, 3 steps, priorities, RMSProp at 6.25e-5 (Horgan et al. 2018).
    apex-dpg: the same for games with continuous actions: dpg, updates of 512 transitions of a million, Adam at 1e-4."""
    network: Network = "auto"
    """The paper's small or large networks (section 5.1), or a small fully connected one (mlp; separate-mlp: one for the
    policy and one for the value).
    auto: small for images, mlp for vectors, separate-mlp for vectors and continuous actions; with pqn its own, pqn and
    pqn-mlp; with dqn and c51 dqn and dqn-mlp; with dpg dpg-mlp."""
    input_scaling: Literal["standardized", "bytes"] = "standardized"
    """What images are to the network. standardized: less the mean state of the run, over four standard deviations.
    bytes: 0 to 255 becomes 0 to 1. With separate-mlp, vectors: standardized: each number less its mean, over its
    standard deviation, 10 at the most; bytes: as they are."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """What networks for images compute with; weights, outputs and losses are float32 always. bfloat16: updates take
    three fifths of the time on cores that have it (`lscpu` says avx512_bf16 or amx_bf16), and longer on others."""
    t_max: int = 10
    """Steps of one rollout (paper: t_max)."""
    minimum_batch_steps: int = 320
    """Steps in one model update (paper, section 5.3: minimum training batch size), rounded up to whole rollouts.
    A rollout that the end of its only game cut short counts as a whole one."""
    discount: float = 0.99
    """Discount of future rewards for each step (paper: gamma)."""
    return_lambda: float = 0.95
    """Weight of longer returns against shorter ones in the targets (lambda of GAE). 1: the n-step return (paper)."""
    vtrace_rho_limit: float = 1.0
    """a2c-vtrace: the most that a step counts which is more likely now than when it was taken (rho-bar)."""
    vtrace_c_limit: float = 1.0
    """a2c-vtrace: the same where a step passes on what came after it (c-bar). At most --vtrace-rho-limit."""
    normalize_advantages: bool = False
    """Advantages of a batch (ppo, appo: of a minibatch) get mean 0 and deviation 1 before they enter the policy's
    loss."""
    epochs: int = 4
    """ppo, appo, pqn: passes over each batch."""
    minibatches: int = 4
    """ppo, appo, pqn: updates in each pass, with a part of the batch each."""
    ppo_clip: float = 0.1
    """ppo, appo: the policy's loss does not ask a step's probability to change by more than this share (epsilon)."""
    value_clip: float = 0.0
    """ppo, appo: nor the value's loss a value by more than this. 0: by whatever it likes (paper of PPO)."""
    exploration: Literal["schedule", "per-game"] = "schedule"
    """pqn, dqn, c51: how many actions are any action. schedule: in all games one share, which falls with the steps.
    per-game: in each game a share of its own, which stays (Horgan et al. 2018, section 4.1); scores are those of the
    games with 5 % or less."""
    exploration_noise: float = 0.3
    """dpg: deviation of the noise on each element of an action, in halves of its range."""
    exploration_base: float = 0.4
    """per-game: share of random actions in the first game (epsilon); of N games number i has
    epsilon^(1 + alpha i / (N - 1)),"""
    exploration_exponent: float = 7.0
    """per-game: with this alpha."""
    exploration_start: float = 1.0
    """schedule: share of actions that are any action at the start (epsilon),"""
    exploration_end: float = 0.001
    """schedule: and from the end of its fall on, in a straight line."""
    exploration_decay_steps: int = 1_000_000
    """schedule: steps until the end of that fall."""
    entropy_weight: float = 0.004
    """Weight of the policy's entropy in the loss (paper: beta)."""
    value_weight: float = 0.1
    """Weight of the squared value error in the loss."""
    learning_rate: float = 8e-4
    """Step size of RMSProp (paper: eta), of ppo and appo that of Adam, of pqn that of RAdam, of c51
    and dpg that of Adam."""
    learning_rate_decay_steps: int = 1_000_000
    """The step size falls as 1 / (1 + steps / this), so to a half after so many. 0: it stays (paper)."""
    learning_rate_schedule: Literal["inverse", "linear"] = "inverse"
    """inverse: the step size falls as --learning-rate-decay-steps says. linear: in a straight line to 0 at --steps,
    and where that is not given after --learning-rate-decay-steps."""
    learning_rate_batch_steps: int = 0
    """a2c: --learning-rate is for batches of so many steps, and grows with the square root of the batch (Stooke and
    Abbeel 2018). 0: it is for any batch."""
    rmsprop_decay: float = 0.99
    """Decay of RMSProp's mean square (paper: alpha)."""
    rmsprop_epsilon: float = 1e-5
    """Added to the mean square inside the square root (paper: epsilon of Eq. 3)."""
    adam_epsilon: float = 1e-5
    """ppo, appo, pqn, c51, dpg: added to the root of Adam's mean square."""
    error_clip: float = 1.0
    """dqn: the slope of a transition's loss is its error, and this at the most (Mnih et al. 2015). 0: the loss is half
    the square of any error."""
    gradient_clip_norm: float = 160.0
    """The gradient, of a3c summed over the batch, is scaled down to this norm; 0: never (the paper needs none)."""
    actor_gradient_clip: float = 1.0
    """dpg: each element of the actor's gradient is clipped to plus or minus this; 0: never. --gradient-clip-norm is the
    critic's."""
    log_epsilon: float = 1e-6
    """Added to probabilities inside logarithms (paper: epsilon of Eq. 5)."""
    seed: int = 0
    """Seeds the weights, the games and the sampling of actions.
    0: one is drawn, written into config.json, and kept over a resume."""
