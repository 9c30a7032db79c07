"""A queue whose agent plays for its scores alone: what is learned from comes from elsewhere."""

from collections import deque
from collections.abc import Callable

from ga3c.rollout import Batch
from ga3c.training_queue import ExperienceQueue, Rollout


class ScoreQueue(ExperienceQueue):
    """Serves one trainer. What the agent ships is counted and not learned from.

    A subclass says when an update is due (`_due`), what it is made of (`_draw`), and when the agent gets a slot back
    (`_agent_is_due`).
    """

    def __init__(self, count: Callable[[list[Rollout]], None]):
        """`count(rollouts)` counts what the agent has shipped."""
        super().__init__()
        self._count, self._ending = count, False
        self._held: deque[Rollout] = deque()
        self._released = self._released_steps = 0  # rollouts, and their transitions

    def end(self) -> None:
        """Gives the agent, which is told to end, its slots back."""
        self._ending = True
        self.look_again()

    @property
    def _may_release(self) -> bool:
        return bool(self._held) and (self._ending or self._agent_is_due)

    def next_batch(self) -> Batch | None:
        while not self._inbox.closed:
            self._take(wait=lambda: not (self._due or self._may_release))
            if self._due:
                return self._draw()
        while self._take(wait=lambda: True):
            pass
        return None

    def _take(self, wait: Callable[[], bool]) -> bool:
        """Takes what the agent has shipped."""
        rollouts = self._inbox.take(len, wait)
        self._count(rollouts)
        self._held += rollouts
        while self._may_release:
            rollout = self._held.popleft()
            self._released += 1
            self._released_steps += rollout.transitions
            rollout.release()
        return bool(rollouts)
