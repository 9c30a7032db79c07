"""Settings of Q-learning from a replay memory."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ReplaySettings:
    replay_transitions: int = 1_000_000
    """The replay memory holds this many transitions. Then the oldest go. It is shared evenly between the agents."""
    replay_eviction: Literal["oldest", "priority"] = "oldest"
    """This says which transitions go when the memory is full.
    oldest: those that were played first.
    priority: those with a small priority, by chance, after every 100 updates (Horgan et al. 2018, appendix D). The
    memory has room for twice as many, and none stays for longer than that room lasts."""
    eviction_alpha: float = -0.4
    """A transition goes with a chance proportional to its priority to this power. It is for --replay-eviction
    priority."""
    replay_minimum_transitions: int = 50_000
    """The first update waits until the replay memory holds this many transitions. A resumed run plays as many again,
    unless --checkpoint-replay has kept them."""
    prefetch_batches: int = 0
    """A thread draws this many batches ahead while the model learns (Horgan et al. 2018: 16). Each takes 29 MB at 512
    transitions of an Atari game. On cores alone this makes nothing faster. 0 means none. It is for --steps-per-update
    0."""
    replay_shards: int = 0
    """This many processes on the learner's machine hold the replay memory. Pods send to them directly, and the learner
    draws from them in turn. 0 means that the learner's own process holds it. It is for --cluster."""
    checkpoint_replay: bool = False
    """The replay memory is saved in the run's directory beside the checkpoints. It may take gigabytes there."""
    replay_compression: bool = False
    """Pictures in the replay memory are compressed (LZ4). Those of Pong take a twentieth of the memory, those of
    Q*bert a quarter. Drawing a batch takes three to eight times as long (512 transitions of Pong 5 ms instead of
    2)."""
    batch: int = 32
    """Each update uses this many transitions. With the preset of an algorithm, the learning rate, --steps-per-update
    and --target-updates follow it (Stooke and Abbeel 2018, section 5.4.1)."""
    steps_per_update: int = 4
    """One update is made for each of this many steps that are played. 0 means that updates and play do not wait for
    each other (Horgan et al. 2018)."""
    target_updates: int = 2_500
    """The network is copied into the target network after this many updates."""
    n_steps: int = 1
    """A target is made of this many rewards and the value of the state after them."""
    double_q: bool = False
    """The newest network chooses the action whose value the target network gives (van Hasselt et al. 2016)."""
    dueling: bool = False
    """The network has separate outputs for the value of a state and the advantages of actions (Wang et al. 2016)."""
    atoms: int = 51
    """The distribution of returns has this many values (Bellemare et al. 2017)."""
    value_limit: float = 10.0
    """The values of the distribution lie evenly between minus this and this."""
    priority_alpha: float = 0.0
    """Transitions with large errors are drawn more often, in proportion to the error to this power (Schaul et al.
    2016). 0 means that all are drawn equally often."""
    priority_beta: float = 0.4
    """This share of the bias from drawing by priority is corrected at the start. It is for --priority-alpha above
    0."""
    priority_beta_final: float = 1.0
    """The corrected share of the bias reaches this value in a straight line: at --steps, or without --steps after 50
    million steps. It is for --priority-alpha above 0."""
    concurrent_training: bool = False
    """Play and learning go on at the same time (Daley and Amato 2021). The target network plays. After
    --target-updates both wait until all that was played is stored, and the newest network is copied."""
    secondary_batch: int = 0
    """A second network learns from what the run plays, with batches of this many transitions (Stooke and Abbeel 2018,
    section 5.4.2). It begins with the same weights, and learns from each transition as often. It is a run of its own
    in RUN/secondary, and its scores are of games that it plays itself. 0 means none."""
