"""Agent: a process that steps its games, asks for actions and ships finished rollouts.

Never imports TensorFlow: agents start fast and stay small.
"""

from ga3c.environments.games_in_play import Games
from ga3c.prediction_queue import Order, PredictionClient
from ga3c.training_queue import TrainingClient
from ga3c.transport.agent_memory import AgentMemory, Doing


def play(
    games: Games,
    memory: AgentMemory,
    predictions: PredictionClient,
    training: TrainingClient,
    seed: int,
    ships_when_complete: bool,
) -> None:
    """Plays until the server says that it is enough, then ships what is left of the last rollout.

    `seed` decides on what is random before the first request. `ships_when_complete`: a rollout goes on over the end of
    games, and is shipped when it is complete. Else it ends with all games (paper), and waits for its bootstrap value,
    which comes with the answer to the row that follows it.
    """
    slots, t_max = memory.slots, memory.slots["action"].shape[1]
    waits: tuple[int, int, int] | None = None  # the rollout that waits for its bootstrap value
    recurrent = memory.recurrent

    def ship(slot: int, length: int, transitions: int) -> None:
        training.ship(slot, length, transitions, games.finished())
        memory.shipped()

    slot, row, transitions = training.free_slot(), 0, 0
    slots["observation"][slot, 0] = games.begin(seed, alive=lambda: memory.now(Doing.STARTING))
    memory.add_steps(0)  # CPU time of the start is none of a silence
    while True:
        if recurrent and not row:
            recurrent.begin(slots, slot)
        predictions.ask(slot, row)
        memory.requested()
        memory.now(Doing.WAITING_FOR_ANSWER)
        order = predictions.wait()
        memory.now(Doing.STEPPING)
        if waits:
            before, length, moved = waits
            # The first value of this rollout is the one that follows the rollout before it.
            slots["bootstrap_value"][before] = slots["value"][slot, 0]
            ship(before, length, moved)
            waits = None
        if order == Order.PAUSE:
            memory.now(Doing.PAUSING)
            order = predictions.wait()
            if order == Order.GO_ON:
                continue  # with a new answer to the same row
        if order == Order.FINISH:
            if row:
                slots["bootstrap_value"][slot] = slots["value"][slot, row]
                slots["last_observation"][slot] = slots["observation"][slot, row]
                ship(slot, row, transitions)
            return

        observations, moved, lost = games.step(slots, slot, row)
        memory.add_steps(moved + lost)
        if recurrent:
            recurrent.stepped(slots, slot, row)
        transitions += moved
        row += 1
        if row == t_max or (games.over.all() and not ships_when_complete):
            slots["last_observation"][slot] = observations
            if ships_when_complete:
                ship(slot, row, transitions)
            else:
                waits = slot, row, transitions
            memory.now(Doing.WAITING_FOR_SLOT)
            slot, row, transitions = training.free_slot(), 0, 0
            memory.now(Doing.STEPPING)
        slots["observation"][slot, row] = observations
