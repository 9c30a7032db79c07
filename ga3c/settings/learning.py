"""Settings of what is learned from what was played: network, targets, loss, optimizer."""

from dataclasses import dataclass
from typing import Literal

from ga3c.settings import catalogue

Network = Literal[("auto", *catalogue.NETWORKS)]
DQN_EVALUATION_EPSILON = 0.05  # Mnih et al. 2015


@dataclass(frozen=True)
class LearningSettings:
    algorithm: Literal[tuple(catalogue.ALGORITHMS)] = "a3c"
    """The algorithm decides what is learned from the games. It also sets the constants of its first
    preset, which has the same name; only that of a3c is ga3c, and that of dpg is apex-dpg."""
    preset: Literal[tuple(catalogue.PRESETS)] = "ga3c"
    """A preset is a set of defaults for one algorithm and for how games are played. Each flag that you give changes
    its value."""
    dataset: str | None = None
    """The recorded games that are imitated: the name of a Minari data set, its folder, or a file in the short form
    (./run.sh dataset). It is for --algorithm clone. Without other flags the game and the network are those of the agent
    that has played."""
    own_algorithm: str | None = None
    """An algorithm of your own learns, package.module:Class, with the settings of --algorithm. It has the members of
    ga3c/algorithms/algorithm.py, and is made with the settings and the actions of the game."""
    network: Network | str = "auto"
    """This is the neural network: auto fits it to the game and the algorithm. It can also be a function of your own,
    package.module:function, which returns a Keras model. It takes the space of observations and the actions; or the
    space alone, and then the last layers, and --memory, are added to its hidden units.
    auto: small for pictures; mlp for vectors; separate-mlp for vectors with continuous actions. An
    algorithm that learns values of actions has a network of its own.
    small: the paper's small network (section 5.1).
    compact: a network for pictures of 42x42 (--frame-size-pixels 42). It has smaller filters and does less work. With
    vectors it is as auto.
    large-stride-4: the first of the paper's four large networks; a smaller stride makes the network larger and slower.
    mlp: two fully connected layers for vectors.
    separate-mlp: the same layers twice, once for the policy and once for the value."""
    input_scaling: Literal["standardized", "bytes"] = "standardized"
    """This is how the network's input is scaled. It applies to pictures, and to vectors with separate-mlp.
    standardized: the mean that the run has seen is subtracted, and the rest is divided by the standard deviation (by
    four of them for pictures).
    bytes: pictures are scaled from 0 to 255 to 0 to 1, and vectors stay as they are."""
    memory: Literal["none", "gru", "lstm"] = "none"
    """The network remembers what it has seen in a game. The memory lies between its other layers and the outputs.
    none: it sees the newest observation alone.
    gru: gated recurrent units (Cho et al. 2014).
    lstm: long short-term memory (Hochreiter and Schmidhuber 1997). It is larger and slower than gru."""
    memory_units: int = 128
    """The memory has this many units. What lies more than --t-max steps back is remembered, but how to remember it is
    learned within --t-max steps only. It is for --memory gru or lstm."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Networks for pictures compute with these numbers. Weights, outputs and losses are always float32.
    float32: works well on every machine.
    bfloat16: updates take three fifths of the time on cores that have it (`lscpu` lists avx512_bf16 or amx_bf16), and
    longer on others."""
    t_max: int = 10
    """A rollout holds this many steps of each game (paper: t_max)."""
    minimum_batch_steps: int = 320
    """An update uses at least this many steps, rounded up to whole rollouts (paper, section 5.3: minimum training
    batch size). Where all games wait for each update, it uses one rollout of each game instead."""
    discount: float = 0.99
    """Rewards count less by this factor for each step that they lie in the future (paper: gamma)."""
    return_lambda: float = 0.95
    """This weighs long returns against short ones in the targets, from 0 to 1 (lambda of GAE). 1 is the n-step return
    of the paper."""
    vtrace_rho_limit: float = 1.0
    """A step whose action has become more likely since it was played weighs more, but at most this much (rho-bar of
    V-trace)."""
    vtrace_c_limit: float = 1.0
    """A later step corrects the value of an earlier one. The weight of this correction grows by at most this factor
    with each step between (c-bar of V-trace). It is at most --vtrace-rho-limit."""
    normalize_advantages: bool = False
    """Advantages are shifted and scaled to mean 0 and standard deviation 1 before they enter the policy's loss. ppo
    and appo do this in each minibatch, others in each batch."""
    normalize_values: bool = False
    """The network's value is a number of standard deviations from the mean of the targets so far, and so is the error
    of the value in the loss. It suits rewards that are clipped or scaled; with others the values swing at first."""
    epochs: int = 4
    """Each batch is passed over this many times. With clone it is the whole data set, unless --steps, --minutes or
    --episodes ends the run."""
    minibatches: int = 4
    """Each pass over a batch makes this many updates, each from its own part of the batch. It must divide the steps of
    the batch."""
    later_epochs_share: float = 1.0
    """Passes after the first use only this share of the batch, rounded to whole updates, at least one. Each pass draws
    its own share: steps with a large advantage, positive or negative, are drawn more often. 1 means all of it."""
    ppo_clip: float = 0.1
    """The loss gains nothing when the probability of an action changes by more than this share (epsilon of PPO)."""
    value_clip: float = 0.0
    """The loss gains nothing when a value changes by more than this. 0 means no limit, as in the paper of PPO."""
    exploration: Literal["schedule", "per-game"] = "schedule"
    """This says how many actions are random.
    schedule: all games have the same share, which falls with the steps.
    per-game: each game keeps a share of its own (Horgan et al. 2018, section 4.1). Scores are those of the games with
    5 % or less."""
    exploration_noise: float = 0.3
    """Normal noise with this standard deviation is added to each element of an action. The unit is half of the
    element's range."""
    exploration_base: float = 0.4
    """The first game takes this share of its actions at random (epsilon). Game i of N takes epsilon^(1 + alpha i / (N
    - 1)). It is for --exploration per-game."""
    exploration_exponent: float = 7.0
    """This is alpha in the formula of --exploration-base. It is for --exploration per-game."""
    exploration_levels: int = 0
    """Games share this many values of the formula of --exploration-base, in turns (Horgan et al. 2018, appendix B: 6).
    0 means that each game has its own. It is for --exploration per-game."""
    exploration_start: float = 1.0
    """This share of actions is random at the start (epsilon). It is for --exploration schedule."""
    exploration_end: float = 0.001
    """The share of random actions falls to this value in a straight line. It is for --exploration schedule."""
    exploration_decay_steps: int = 1_000_000
    """The share of random actions falls for this many steps. It is for --exploration schedule."""
    entropy_weight: float = 0.004
    """This is the weight of the policy's entropy in the loss (paper: beta). More keeps the policy more random."""
    entropy_target: float = 0.0
    """The entropy's weight grows while the policy has a smaller share of the largest entropy than this, and falls
    while it has a larger one. It begins with --entropy-weight, and stays between 0.0001 and 0.05. 0 means that the
    weight does not change. Nor does it where some actions are forbidden (--action-masks)."""
    entropy_target_decay_steps: int = 2_000_000
    """--entropy-target has fallen to a half after this many steps, and to a third after twice as many."""
    value_weight: float = 0.1
    """This is the weight of the squared error of the value in the loss."""
    optimizer: Literal["auto", "rmsprop", "adam", "muon"] = "auto"
    """This rule turns gradients into steps of the weights.
    auto: that of the algorithm: RMSProp for a3c, a2c and a2c-vtrace, centred RMSProp for dqn, RAdam for pqn, and Adam
    for others.
    rmsprop: RMSProp, with --rmsprop-decay and --rmsprop-epsilon.
    adam: Adam, with --adam-epsilon.
    muon: Muon, which changes each weight matrix by the orthogonal matrix that is nearest to the mean of its gradients,
    and Adam for all else, with --adam-epsilon."""
    learning_rate: float = 8e-4
    """This is the step size of the optimizer at the start (paper: eta)."""
    learning_rate_decay_steps: int = 1_000_000
    """The learning rate has halved after this many steps with the schedule inverse. With linear it is 0 then, unless
    --steps says when. With kl it is --kl-target that falls, to a quarter after so many steps: then the policy's own
    steps are half as long. 0 means that nothing falls, as in the paper."""
    learning_rate_schedule: Literal["inverse", "linear", "kl"] = "inverse"
    """This is how the learning rate changes.
    inverse: it falls as 1 / (1 + steps / --learning-rate-decay-steps).
    linear: it falls in a straight line to 0 at --steps, or without --steps at --learning-rate-decay-steps.
    kl: it follows --kl-target after each update, between 0.000001 and 0.01, and that target falls with
    --learning-rate-decay-steps. It is for ppo and appo."""
    kl_target: float = 0.01
    """The learning rate grows by a half while the policy moves by less than half of this in an update, and is divided
    by 1.5 while it moves by more than twice as much (KL divergence). It is for --learning-rate-schedule kl."""
    learning_rate_batch_steps: int = 0
    """--learning-rate is for batches of this many steps, and grows with the square root of the batch (Stooke and
    Abbeel 2018). 0 means that it is for any batch."""
    rmsprop_decay: float = 0.99
    """This is the decay of RMSProp's mean square (paper: alpha)."""
    rmsprop_epsilon: float = 1e-5
    """This number is added to RMSProp's mean square inside the square root (paper: epsilon of Eq. 3)."""
    adam_epsilon: float = 1e-5
    """This number is added to the root of Adam's mean square."""
    error_clip: float = 1.0
    """The slope of the loss is limited to plus or minus this (Mnih et al. 2015). 0 means no limit: the loss is half of
    the squared error."""
    gradient_clip_norm: float = 160.0
    """The gradient is scaled down to this norm where it is larger. The gradient of a3c is a sum over the batch, that
    of the others a mean. 0 means no limit, as in the paper."""
    actor_gradient_clip: float = 1.0
    """Each element of the actor's gradient is limited to plus or minus this. 0 means no limit. --gradient-clip-norm is
    for the critic."""
    log_epsilon: float = 1e-6
    """This number is added to probabilities inside logarithms (paper: epsilon of Eq. 5)."""
    record_norms: bool = False
    """The logs have the norms of all weights, and those of the weights, the gradient and the update of the first
    convolution and of the first fully connected layer (Stooke and Abbeel 2018, figures 7 and 9)."""
    seed: int = 0
    """The seed decides the first weights, the games and the sampling of actions. 0 means that one is drawn. It is
    written into config.json, and a resumed run keeps it."""

    @property
    def recurrent_size(self) -> int:
        """The number of values that the network remembers of each game: a GRU has one for each unit, an LSTM two."""
        return {"none": 0, "gru": 1, "lstm": 2}[self.memory] * self.memory_units
