"""The contract between an algorithm and the model that it is given to."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Tensors = tuple[Any, ...]  # of TensorFlow


class Algorithm(Protocol):
    """How to act, and what to learn from what was played: pure functions of tensors."""

    learns_from: Sequence[str]
    """The fields of a rollout (`rollout.rollout_dtype`), or of a transition (`rollout.transition_dtype`), that `update`
    reads."""
    replays: bool
    """Whether it learns from transitions that a replay memory draws, and not from rollouts."""
    network_options: dict[str, Any]
    """What its network is made with besides the spec of the game: arguments of `networks.build`."""
    devices: Any
    """The devices that share each update: `alone.ALONE`, or a `devices.replicas.AllReduce`."""

    def act(self, outputs: Tensors, seed: Any, explore: Any) -> dict[str, Any]:
        """Returns what goes into the rows that asked, by field, [batch, ...] each: actions, and what `update` will want
        to know of them. `outputs`: of the network. `seed`: int32 [2]. `explore`: what `exploration` said."""

    def exploration(self, steps: int, games: int = 0) -> Any:
        """Returns how much `act` is to explore after so many steps of play: one number, or float32 [games]."""

    def initial_state(self, weights: Tensors) -> Tensors:
        """Returns what the optimizer keeps, before the first update."""

    def learning_rate(self, steps: int) -> float:
        """Returns the step size after so many steps of play."""

    def update(self, apply: Callable, weights: Tensors, state: Tensors, learning_rate: Any, batch: dict) -> tuple:
        """Makes one update from a batch, [time, columns, ...] each. `apply(weights, observations)` gives the outputs of
        the network. Where `replays`, there is one argument more: `target(observations)`, of the target network.

        Returns new weights, the new state of the optimizer, numbers by name (float32 []; the logs have these names),
        and where `replays` the errors of the transitions (float32 [batch]), by whose size priorities go.
        """


class SharedOptimizer(Protocol):
    """What an algorithm says of its optimizer where devices make updates on their own, and share what it keeps."""

    @property
    def decays(self) -> tuple[float | None, ...]:
        """The decays of the optimizer's running means, each of which is as long as the weights. None: a count of
        steps."""

    @property
    def local_steps(self) -> int:
        """The number of steps that the optimizer takes in one update."""
