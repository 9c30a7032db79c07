"""Settings of Q-learning from a replay memory."""

from dataclasses import dataclass
from typing import Literal

BETA_STEPS = 50_000_000  # beta reaches its last value then, if the run has no end: Rainbow's 200 million frames


@dataclass(frozen=True)
class ReplaySettings:
    replay_transitions: int = 1_000_000
    """The replay memory holds this many transitions, an equal number from each agent. When it is full, the oldest
    go."""
    replay_copies: int = 1
    """Each transition enters the replay memory this many times, so old ones go sooner (Horgan et al. 2018, appendix A).
    All copies count in --replay-transitions. It is for --steps-per-update 0."""
    replay_eviction: Literal["oldest", "priority"] = "oldest"
    """This says which transitions go when the memory is full.
    oldest: those that were played first.
    priority: after every 100 updates some are drawn and removed, most often those with a small priority (Horgan et
    al. 2018, appendix D). The memory has room for twice as many transitions, and overwrites the oldest of those."""
    eviction_alpha: float = -0.4
    """The chance that a transition is removed is in proportion to its priority to this power. It is for
    --replay-eviction priority."""
    replay_minimum_transitions: int = 50_000
    """The first update waits until the replay memory holds this many transitions. A resumed run plays as many again,
    unless --checkpoint-replay has kept them."""
    prefetch_batches: int = 0
    """A thread draws this many batches ahead while the model learns (Horgan et al. 2018: 16). A batch of 512
    transitions of an Atari game takes 29 MB. Without a GPU this makes nothing faster. 0 means none. It is for
    --steps-per-update 0 without --replay-shards, which draw ahead themselves."""
    replay_shards: int = 0
    """This many processes on the learner's machine hold the replay memory. Pods send to them directly, and the learner
    draws from them in turn. 0 means that the learner's own process holds it. It is for --cluster."""
    checkpoint_replay: bool = False
    """The replay memory is saved in the run's directory beside the checkpoints. It may take gigabytes there."""
    replay_compression: bool = False
    """Pictures in the replay memory are compressed (LZ4). Those of Pong take a twentieth of the memory, those of
    Q*bert a quarter. Drawing a batch takes three to eight times as long (of 512 transitions of Pong 5 ms instead
    of 2)."""
    batch: int = 32
    """Each update uses this many transitions. With a preset whose play and updates wait for each other, the learning
    rate, --steps-per-update and --target-updates follow it (Stooke and Abbeel 2018, section 5.4.1)."""
    steps_per_update: int = 4
    """One update follows this many steps of play. 0 means that updates and play do not wait for each other (Horgan et
    al. 2018)."""
    target_updates: int = 2_500
    """The network is copied into the target network after this many updates."""
    n_steps: int = 1
    """The target of a value is this many rewards and the value of the state after them."""
    double_q: bool = False
    """In a target the newest network chooses the action, and the target network gives its value (van Hasselt et al.
    2016)."""
    dueling: bool = False
    """The network has separate outputs for the value of a state and the advantages of actions (Wang et al. 2016)."""
    atoms: int = 51
    """The distribution of returns has this many values (Bellemare et al. 2017)."""
    value_limit: float = 10.0
    """The values of the distribution are evenly spaced from minus this to plus this."""
    priority_alpha: float = 0.0
    """The chance that a transition is drawn is in proportion to its error to this power (Schaul et al. 2016). 0 means
    that all are drawn equally often."""
    priority_error: Literal["cross-entropy", "kl"] = "cross-entropy"
    """This is the error of a transition with a distribution of values.
    cross-entropy: the loss itself. It is never 0 where the target is no single value.
    kl: the cross entropy minus the entropy of the target, as in Rainbow (Hessel et al. 2018): the KL divergence."""
    priority_beta: float = 0.4
    """Drawing by priority biases an update. This share of the bias is corrected at the start. It is for
    --priority-alpha above 0."""
    priority_beta_final: float = 1.0
    """The corrected share of the bias goes to this value in a straight line. It reaches it at --steps, or without
    --steps after 50 million steps. It is for --priority-alpha above 0."""
    concurrent_training: bool = False
    """Agents play with the target network while the newest one learns (Daley and Amato 2021). After --target-updates
    updates both wait: what was played is stored, and the newest network is copied into the target network."""
    secondary_batch: int = 0
    """A second network learns from what the run plays, with batches of this many transitions (Stooke and Abbeel 2018,
    section 5.4.2). It begins with the weights of the first, and learns from each transition as often as that. It is a
    run of its own in RUN/secondary, and has the scores of games that it plays itself. 0 means none."""
