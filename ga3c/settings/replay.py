"""Settings of Q-learning from a replay memory."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ReplaySettings:
    replay_transitions: int = 1_000_000
    """Of dqn, c51 and dpg, as all that follows: transitions that the replay holds; then the oldest go. Of each agent it
    holds as many."""
    replay_eviction: Literal["oldest", "priority"] = "oldest"
    """Which go when there are more. oldest: those that were played first. priority: after every 100 updates, by chance,
    those with a large priority later (Horgan et al. 2018, appendix D). It may hold more in between, has room for twice
    as many, and none is kept for longer than that room lasts."""
    eviction_alpha: float = -0.4
    """priority: in proportion to the priority to this power."""
    replay_minimum_transitions: int = 50_000
    """Transitions in the replay before the first update. A resumed run plays so many before it learns on,
    unless --checkpoint-replay has kept them."""
    prefetch_batches: int = 0
    """With --steps-per-update 0: a thread draws so many batches ahead while the model learns (Horgan et al. 2018: 16).
    On cores alone nothing is gained or lost: to draw a batch takes less than a hundredth of an update. Each takes 29 MB
    at 512 transitions of an Atari game. 0: none."""
    replay_shards: int = 0
    """With --cluster: keep the replay in so many processes on the learner's machine, to which pods send by themselves;
    the learner draws from them in turn. 0: in the learner's own."""
    checkpoint_replay: bool = False
    """Keep the replay in the run's directory, beside the checkpoints: it may take gigabytes there."""
    replay_compression: bool = False
    """Keep pictures compressed (LZ4). Pong's take a twentieth of the memory then, Q*bert's a quarter; to draw a batch
    takes three to eight times as long (512 transitions of Pong 5 ms instead of 2)."""
    batch: int = 32
    """Transitions in one update. With a preset the step size, --steps-per-update and --target-updates go with
    it (Stooke and Abbeel 2018, section 5.4.1)."""
    steps_per_update: int = 4
    """Steps that are played for each update. 0: updates follow each other from the minimum on, agents play on
    meanwhile, and neither waits for the other (Horgan et al. 2018)."""
    target_updates: int = 2_500
    """Updates between two copies of the network into that which the targets are taken from."""
    n_steps: int = 1
    """Rewards of so many steps, and the value of the state after them, make a target."""
    double_q: bool = False
    """dqn, c51: the newest network chooses the action whose value the target takes (van Hasselt et al. 2016)."""
    dueling: bool = False
    """dqn, c51: the network tells the value of a state from the advantages of actions (Wang et al. 2016)."""
    atoms: int = 51
    """c51: values that the distribution of a return is made of (Bellemare et al. 2017),"""
    value_limit: float = 10.0
    """c51: evenly spaced from minus this to this."""
    priority_alpha: float = 0.0
    """Transitions with large errors are drawn more often, with the error to this power (Schaul et al. 2016).
    0: all as often."""
    priority_beta: float = 0.4
    """How much of the bias that this brings is taken out again at the start,"""
    priority_beta_final: float = 1.0
    """and at --steps, or without it after 50 million steps; in between on a straight line."""
    concurrent_training: bool = False
    """dqn, c51: play and learn at the same time (Daley and Amato 2021): the network of the targets plays, and after
    --target-updates both wait until what was played is in the replay and the newest network is copied."""
    secondary_batch: int = 0
    """dqn, c51: a second network, with the same weights at first, learns with batches of so many transitions from what
    the run plays, and each transition as often (Stooke and Abbeel 2018, section 5.4.2). It is a run of its own in
    RUN/secondary; its scores are of games that it plays itself and nobody learns from. 0: none."""
