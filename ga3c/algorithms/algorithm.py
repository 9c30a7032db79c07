"""The contract between an algorithm and the model that it is given to."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Tensors = tuple[Any, ...]  # of TensorFlow


class Algorithm(Protocol):
    """How to act, and what to learn from what was played: pure functions of tensors."""

    learns_from: Sequence[str]
    """The fields of a rollout (`rollout.rollout_dtype`), or of a transition (`rollout.transition_dtype`), that `update`
    reads. Those of a rollout must include `valid`."""
    replays: bool
    """True if it learns from transitions that a replay memory draws, False if from rollouts. Then `initial_errors` may
    be True, too: the error of a transition is known from what `act` returns for its step."""
    network_options: dict[str, Any]
    """The arguments of `networks.build` that its network needs besides the spec of the game."""
    devices: Any
    """The devices that share each update: `alone.ALONE`, or a `devices.all_reduce.AllReduce`."""

    def act(self, outputs: Tensors, seed: Any, explore: Any) -> dict[str, Any]:
        """Returns the fields that acting adds to a rollout's rows, by name, [batch, ...] each: actions, and what
        `update` needs to know of them. outputs: those of the network. seed: int32 [2]. explore: `exploration`."""

    def exploration(self, steps: int, games: int = 0) -> Any:
        """Returns how much `act` is to explore after so many steps of play: one number, or float32 [games]."""

    def initial_state(self, weights: Tensors) -> Tensors:
        """Returns the state of the optimizer before the first update."""

    def learning_rate(self, steps: int) -> float:
        """Returns the step size after so many steps of play."""

    def update(self, apply: Callable, weights: Tensors, state: Tensors, learning_rate: Any, batch: dict) -> tuple:
        """Makes one update from a batch of fields [time, columns, ...], those that `learns_from` names.

        `apply(weights, observations)` returns the outputs of the network. If the algorithm `replays`, there is one more
        argument: `target(observations)` returns those of the target network.

        Returns new weights, the new state of the optimizer, numbers by name (float32 []; the logs have these names),
        and if it `replays` the errors of the transitions, float32 [batch], of which the replay makes priorities. If the
        network normalises values, the targets of all values come last, float32 [time, columns].
        """


class SharedOptimizer(Protocol):
    """An algorithm with which devices can make updates on their own: they share the state of its optimizer, too."""

    central: Any
    """The exchange of this device with the others (`devices.exchange.Exchange`), by whose methods the optimizer's steps
    change what all share. None: the device learns alone, or together with others."""

    @property
    def decays(self) -> tuple[float | None, ...]:
        """The decays of the running means in the optimizer's state, in their order. Each mean has a tensor for each of
        the weights. None stands for a count of steps, which is one tensor."""

    @property
    def local_steps(self) -> int:
        """The number of steps that the optimizer takes in one update."""
