"""The rows of the catalogue of algorithms, and the settings that algorithms of one kind have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AGENTS = ("asynchronous", "synchronised", "alternating")  # values of --sampling with which agents play
POLICY_PICTURES = ("small", "compact", "large-stride-4", "large-stride-3", "large-stride-2", "large-stride-1")
POLICY_VECTORS = ("mlp", "separate-mlp")

OPTIMIZER = (
    *("discount", "optimizer", "record_norms", "gradient_clip_norm"),
    *("learning_rate", "learning_rate_decay_steps", "learning_rate_schedule"),
)
RMSPROP = ("rmsprop_decay", "rmsprop_epsilon")
POLICY = (
    *("return_lambda", "normalize_advantages", "normalize_values", "entropy_weight", "value_weight"),
    *("memory", "memory_units"),
)
EPSILON_GREEDY = (
    *("exploration", "exploration_base", "exploration_exponent", "exploration_levels"),
    *("exploration_start", "exploration_end", "exploration_decay_steps"),
)
REPLAY = (
    *("replay_transitions", "replay_eviction", "replay_minimum_transitions", "prefetch_batches", "checkpoint_replay"),
    *("replay_compression", "batch", "steps_per_update", "target_updates", "n_steps", "priority_alpha"),
    *("eviction_alpha", "replay_copies", "priority_beta", "priority_beta_final", "concurrent_training"),
)


@dataclass(frozen=True)
class Preset:
    """A set of defaults for one algorithm, by the names of the settings. What it does not name keeps its default."""

    name: str
    """The word for --preset."""
    text: str
    """Its line in the help."""
    learning: Mapping[str, Any] = field(default_factory=dict)
    replay: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    actions: str = "discrete"
    """The kind of actions that its values are for."""
    games: int = 0
    """Games of all agents together. There are at most as many agents as cores, and all have equally many games."""
    games_about: int = 0
    """Games of all agents together, about, with one agent more than there are cores: with more games, what is learned
    from would be older."""
    agents: int = 0
    """Agents at the least. There are as many as cores where those are more."""
    unit_for_each_core: bool = False
    """Each core is a device that plays one game and learns on its own, as an agent of A3C does."""
    batch_rates: Mapping[int, float] = field(default_factory=dict)
    """The learning rate for each --batch. Between two of them it lies on a straight line of both logarithms, and beyond
    the first and the last it stays. Empty: it is the same for every batch."""
    adam_epsilon_of_one: float | None = None
    """Adam's epsilon for a batch of one transition. None: the preset's own epsilon times its batch."""

    @property
    def waits_for_nothing(self) -> bool:
        """True if it learns from a replay, and neither play nor updates wait for the other."""
        return self.replay.get("steps_per_update") == 0


@dataclass(frozen=True)
class AlgorithmRow:
    """An algorithm: where its code is, what it works with, and which settings it reads."""

    name: str
    """The word for --algorithm."""
    text: str
    """Its line in the help."""
    made_by: str
    """The module in `ga3c.algorithms` and the class in it, which is made with the settings and the game's actions."""
    settings: tuple[str, ...] = ()
    """The settings that it reads and that some other algorithms do not. A flag for another one is refused."""
    presets: tuple[Preset, ...] = ()
    """The first is that of --algorithm without --preset."""
    replays: bool = False
    """True if it learns from transitions of a replay memory, False if from rollouts."""
    learns_at_once: bool = True
    """True if it learns as soon as a rollout is complete. Else it first needs the prediction for the state after that,
    so agents play on while it learns."""
    policy: bool = True
    """True if its network gives a policy, from which actions are sampled. Else it gives values of actions."""
    actions: tuple[str, ...] = ("discrete",)
    """The kinds of actions that it chooses: discrete, multidiscrete (several choices at once), continuous."""
    pictures: tuple[str, ...] = POLICY_PICTURES
    """The networks for games that show pictures. The first is the default; none: it cannot learn from pictures."""
    vectors: tuple[str, ...] = POLICY_VECTORS
    """The networks for other games. The first is the default, with continuous actions the last."""
    samplings: tuple[str, ...] = (*AGENTS, "batched")
    """The values of --sampling that it works with."""
    device_updates: tuple[str, ...] = ("synchronous",)
    """The values of --device-updates that it works with."""
