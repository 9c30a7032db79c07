"""Settings of who plays and who serves: the paper's three counts, and their controller."""

from dataclasses import dataclass, field
from typing import Literal

from ga3c.machine import usable_cores


@dataclass(frozen=True)
class ScheduleSettings:
    sampling: Literal["asynchronous", "synchronised", "alternating", "batched"] = "asynchronous"
    """Who waits for whom (Stooke and Abbeel 2018, section 4.1). asynchronous: each agent asks when it is ready, and
    plays on while the model learns. synchronised: all games step together, one prediction for all. alternating: so in
    two groups, of which one steps while the other is predicted for. With both, agents wait for each update, which takes
    one rollout of each (but not with a3c), the controller is off, and there is one predictor and one trainer.
    batched (Dalton et al. 2020, CuLE): there are no agents; one thread steps all games as one batch, predicts for all
    of them at once, and learns."""
    games: int = 0
    """batched: games (paper: environments). 0: as many as --agents of --envs-per-agent games have."""
    batches: int = 1
    """batched: the games are in so many batches. After each --t-max / --batches steps (paper: steps per update, SPU)
    one of them in turn is learned from: the last --t-max steps (N-steps) of its games, the newest of which the newest
    policy took. With 1 all games are, after --t-max steps."""
    serial: bool = False
    """Play, predict and learn in one thread, without agents' processes: slower, and the same weights each time from the
    same seed and for as many steps."""
    agents: int = 0
    """Agent processes (paper: N_A). 0: one more than there are cores; as many where all wait for each other. With
    --cluster: pods."""
    cluster: str | None = None
    """Play in pods, each with a copy of the weights, over Ray (Horgan et al. 2018). local: on this machine. auto, or
    the address of a cluster that was started with `ray start`: on all of its machines."""
    experience_age_limit_updates: int = 0
    """With --cluster: what a pod has played with weights that are more updates old is lost when it comes, as after a
    network was cut. Not with a replay memory, which is learned from later in any case. 0: no limit."""
    predictors: int = 1
    """Predictor threads (paper: N_P)."""
    trainers: int = 1
    """Trainer threads (paper: N_T)."""
    envs_per_agent: int = 32
    """Games that one agent steps together; 1 is the paper's agent."""
    controller: Literal["on", "paper", "off"] = "on"
    """Change the three counts while training to raise TPS (paper, section 4.3).
    paper: by the paper's rule, one count at random by one, kept if TPS is higher. on: by measurements against noise."""
    controller_seconds: float = 60.0
    """The longest that a trial of the controller measures a new setting; paper: seconds between two decisions."""
    policy_lag_limit_updates: float = field(default_factory=lambda: 0.75 * (usable_cores() + 1))
    """The controller keeps to settings with a mean policy lag up to this, whatever their TPS; 0: no limit (paper).
    Not given: 0.75 for each core and one more, a fifth above the lag of as many agents of 32 games."""
    agent_silence_seconds: float = 5.0
    """An agent without a sign of life for so long hangs and is replaced; 0: never. More for games with slow steps."""
    max_prediction_batch: int = 128
    """States in one prediction at the most, but for the games of one agent, which stay together."""

    def first_agents(self) -> int:
        """Agents that a new run starts with.

        One more than there are cores fills the time in which the others wait; who waits for all others waits for it,
        too.
        """
        cores = usable_cores()
        return self.agents or (cores + 1 if self.sampling == "asynchronous" else max(2, cores))

    def games_of(self, agents: int) -> int:
        """In all: those of so many agents, or those that step as one batch."""
        return self.games or agents * self.envs_per_agent
