"""Backpressure: agents wait for the trainers before their rollouts wait in the queue.

A rollout that waits gets older, and makes no update come sooner. So an agent gets its next slot when the trainers will
soon need what it plays. Policy lag stays near one update where agents are faster than trainers, and TPS is the same.
"""

import threading
import time
from collections.abc import Collection

LOOK_BATCHES = 5  # that are taken between two decisions
MOST_WAITING, LEAST_WAITING = 0.02, 0.005  # share of the time that a trainer waits: above, more is played; below, less


class Backpressure:
    """Decides which agents get a slot now.

    It finds the fewest rollouts that wait or are played at once, at least one update's, so that trainers hardly wait.

    An agent is the training queue's handle of it, with these members: `plays`, whether it plays now; `in_hand`, how
    many slots it has to fill; `has_spare`, whether there is one that it might get; `given_at`, when it got the last
    one; and `give()`, which gives it one.
    """

    def __init__(self, rollouts_per_batch: int, held: int):
        """`held`: slots of an agent that hold a finished rollout which is not shipped yet. They are not filled."""
        self.first = held + 1  # slots of an agent that has not begun
        self._rollouts_per_batch, self._held = rollouts_per_batch, held
        self._on_the_way = 0  # rollouts that shall wait or be played; 0: not known yet
        self._batches, self._since = 0, time.monotonic()  # of this look
        self._waited_seconds, self._waits_since = 0.0, None
        self._lock = threading.Lock()

    def share_out(self, agents: Collection, waiting: int, trainer_waits: bool) -> None:
        """Gives slots to agents, so that enough rollouts are on their way beside those that wait already.

        It is called when a trainer has taken a batch, and while one waits. Then each agent may play: no agent waits for
        a slower one.
        """
        with self._lock:
            playing = [agent for agent in agents if agent.plays]
            self._adapt(len(playing), trainer_waits)
            if trainer_waits:
                for agent in agents:  # those that pause, too: nothing tells when one has gone on
                    if not self._to_fill(agent) and agent.has_spare:
                        agent.give()
            for _ in range(self._on_the_way - waiting - sum(map(self._to_fill, playing))):
                able = [agent for agent in playing if agent.has_spare]
                if able:
                    min(able, key=lambda agent: (self._to_fill(agent), agent.given_at)).give()

    def _adapt(self, agents: int, trainer_waits: bool) -> None:
        batch, now = self._rollouts_per_batch, time.monotonic()
        self._on_the_way = self._on_the_way or max(agents, batch)
        if trainer_waits:
            self._waits_since = self._waits_since or now
            return
        if self._waits_since:
            self._waited_seconds += now - self._waits_since
            self._waits_since = None
        self._batches += 1
        if self._batches == LOOK_BATCHES:
            share = self._waited_seconds / (now - self._since)
            self._on_the_way += (share > MOST_WAITING) - (share < LEAST_WAITING)
            self._batches, self._since, self._waited_seconds = 0, now, 0.0
        self._on_the_way = min(max(self._on_the_way, batch), agents + batch)

    def _to_fill(self, agent) -> int:
        return max(0, agent.in_hand - self._held)
