"""Settings of who plays and who serves: the paper's three counts, and their controller."""

from dataclasses import dataclass, field
from typing import Literal

from ga3c.machine import usable_cores


@dataclass(frozen=True)
class ScheduleSettings:
    sampling: Literal["asynchronous", "synchronised", "alternating", "batched"] = "asynchronous"
    """This says who waits for whom (Stooke and Abbeel 2018, section 4.1).
    asynchronous: each agent asks for an action when it is ready, and plays on while the model learns.
    synchronised: all games step together, with one prediction for all, and wait for each update.
    alternating: the same in two groups of agents. One group steps while the actions of the other are predicted.
    batched: one thread steps all games as one batch, predicts for all of them, and learns. There are no agents (Dalton
    et al. 2020, CuLE)."""
    games: int = 0
    """This is the number of games with --sampling batched. 0 means as many as --agents times --envs-per-agent."""
    batches: int = 1
    """The games of --sampling batched are divided into this many batches, which are learned from in turn. An update
    comes after every --t-max / --batches steps, and uses the last --t-max steps of one batch. 1 means that all games
    are learned from after --t-max steps."""
    serial: bool = False
    """One thread plays, predicts and learns, without agent processes. This is slower, and the same seed gives the same
    weights each time."""
    agents: int = 0
    """This is the number of agent processes, or of pods with --cluster (paper: N_A). 0 means one more than there are
    cores, or one for each core, and at least two, where all agents wait for each other."""
    cluster: str | None = None
    """Agents play in pods over Ray, each with a copy of the weights (Horgan et al. 2018). Say local for pods on this
    machine. Say auto, or the address of a cluster that was started with `ray start`, for all of its machines. Not
    given: no pods."""
    experience_age_limit_updates: int = 0
    """Experience that was played with weights older than this many updates is dropped when it arrives. 0 means no
    limit. It does not go with a replay memory. It is for --cluster."""
    predictors: int = 1
    """This is the number of threads that predict actions (paper: N_P)."""
    trainers: int = 1
    """This is the number of threads that train (paper: N_T)."""
    envs_per_agent: int = 32
    """Each agent steps this many games together. The paper's agents have 1."""
    controller: Literal["on", "paper", "off"] = "on"
    """The controller changes the numbers of agents, predictors and trainers while the run trains, to make it faster
    (paper, section 4.3). It works with --sampling asynchronous, without --serial, --cluster or a replay memory.
    on: it keeps a change that measurably helps.
    paper: it changes one number at random and keeps the change if TPS is higher.
    off: the numbers stay."""
    controller_seconds: float = 60.0
    """The controller measures a change for this many seconds at most. With --controller paper it decides once in this
    many seconds."""
    policy_lag_limit_updates: float = field(default_factory=lambda: 0.75 * (usable_cores() + 1))
    """The controller avoids numbers with a mean policy lag above this many updates, and agents wait while trainers do
    not keep up with them. 0 means no limit, as in the paper, and no waiting. Not given: what the preset says: 1.5 for
    ga3c-ppo; for ga3c 0.75 times (cores + 1)."""
    pin_agents: bool = False
    """Each agent keeps to one core, and agents are dealt evenly to the cores (Stooke and Abbeel 2018, section 4.1). It
    works on Linux, for agents in processes of this machine."""
    agent_silence_seconds: float = 5.0
    """An agent that gives no sign of life for this many seconds is replaced. 0 means never. Games with slow steps need
    more."""
    max_prediction_batch: int = 128
    """One prediction holds the states of this many games at most. The games of one agent always stay together."""

    @property
    def one_thread(self) -> bool:
        """True if one thread plays, predicts and learns, so that there are no agents."""
        return self.serial or self.sampling == "batched"

    def first_agents(self) -> int:
        """Returns the number of agents that a new run starts with.

        One agent more than there are cores uses the time in which others wait. Where all wait for each other, it would
        only be one more to wait for.
        """
        cores = usable_cores()
        return self.agents or (cores + 1 if self.sampling == "asynchronous" else max(2, cores))

    def games_of(self, agents: int) -> int:
        """Returns the number of all games: those of so many agents, or those that step as one batch."""
        return self.games or agents * self.envs_per_agent
