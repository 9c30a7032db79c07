"""Turns: which agents are predicted for together and when, and which rollouts are learned from together.

Synchronised sampling (Stooke and Abbeel 2018, section 4.1) makes one prediction for all agents once the last of them
has asked. Alternating sampling does so for each of two groups: one steps while the other is predicted for.

In lockstep an agent begins a rollout only when its last one is trained on, and an update takes one rollout of every
agent: each step is played with the weights of the last update, and policy lag is 0. An agent that replaces a dead one
begins after the next update. Nobody waits for an agent that is gone: what it shipped is lost with it. What is taken
together is in the order of the agents' numbers, so that timing decides nothing.
"""

from collections.abc import Callable


class Turns:
    """The rules by which both queues choose. They get what waits, the oldest first, and may sort or drop it.

    An agent is the prediction queue's handle of it. Each of the two rules runs in one thread at a time.
    """

    def __init__(self, agents: int, groups: int, lockstep: bool, on_change: Callable[[], None] = lambda: None):
        """The first prediction waits for so many `agents`. With 0 `groups` nobody waits for another agent.
        `on_change()` is called when other agents play than before: the rule for rollouts must be asked again."""
        self._on_change = on_change
        self._expected, self._groups, self._lockstep = agents, groups, lockstep
        self._players: dict = {}  # agent -> its group; replaced, never changed: the other thread reads it
        self._newcomers: dict = {}  # agents that may not play yet are its keys, in the order in which they came
        self._updated = False  # since the newcomers came
        self._served = -1  # the group that was predicted for last
        self._ending = False

    def end(self) -> None:
        """Answers each agent at once from now on: they are told to end."""
        self._ending = True

    def updated(self) -> None:
        """Called when an update has been made of all that was shipped, before agents may begin the next rollout: a
        newcomer that came after they have begun would be in the middle of it, and all would wait for each other."""
        self._updated = True

    def choose_requests(self, waiting: list) -> int:
        """Sorts the requests that wait, and returns how many are answered now."""
        waiting[:] = [request for request in waiting if not request.agent.gone]
        if self._ending:
            return len(waiting)
        due = {r.agent for r in waiting if not (self._lockstep and r.row == 0 and r.agent.memory.untrained)}
        if not self._groups:
            waiting.sort(key=lambda request: request.agent not in due)
            return len(due)
        self._admit([request.agent for request in waiting])
        for group in sorted(range(self._groups), key=lambda one: one == self._served):
            members = [agent for agent, of in self._players.items() if of == group]
            if members and due.issuperset(members):
                self._served = group
                waiting.sort(key=lambda request: (self._players.get(request.agent) != group, request.agent.number))
                return len(members)
        return 0

    def begin(self) -> None:
        """Stops waiting for agents that are not there yet."""
        self._expected = 1

    @property
    def waits_for_agents(self) -> bool:
        """True while some agents are there and nothing was predicted yet."""
        return bool(self._newcomers) and not self._players

    def _admit(self, asking: list) -> None:
        """Removes agents that are gone, and adds those that may begin."""
        players = {agent: group for agent, group in self._players.items() if not agent.gone}
        newcomers = dict.fromkeys(a for a in [*self._newcomers, *asking] if a not in players and not a.gone)
        updated = self._updated
        if updated:  # else a call of `updated` that comes now would be lost
            self._updated = False
        if updated or (bool(players) and not self._lockstep) or (not players and len(newcomers) >= self._expected):
            for agent in sorted(newcomers, key=lambda one: one.number):
                sizes = [list(players.values()).count(group) for group in range(self._groups)]
                players[agent] = sizes.index(min(sizes))
            newcomers, self._expected = {}, 1
        changed, self._players, self._newcomers = players.keys() != self._players.keys(), players, newcomers
        if changed:
            self._on_change()

    def choose_rollouts(self, waiting: list) -> int:
        """Returns how many of the rollouts that wait are learned from now: one of every agent, or none."""
        if self._ending:  # what is left is learned from when the queue is closed
            return 0
        if not self._groups:
            return len(waiting)
        players = {id(agent.memory) for agent in self._players}
        for rollout in [rollout for rollout in waiting if id(rollout.agent.memory) not in players]:
            rollout.drop()
            waiting.remove(rollout)
        waiting.sort(key=lambda rollout: rollout.agent.number)
        return len(waiting) if len(waiting) == len(players) else 0
