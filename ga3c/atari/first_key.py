"""Finds the first key of Montezuma's Revenge by returning to states: Go-Explore (Ecoffet et al. 2021) in the small.

python -m ga3c.atari.first_key
"""

import gymnasium
import numpy as np

import ga3c.atari  # noqa: F401  It registers the games.

GAMES, STEPS, REPEATED = 64, 30, 0.9  # steps after each return; an action is taken again with this probability
ROOM, X, Y, LIVES = 3, 42, 43, 58  # addresses of the console's memory


def find(seed: int = 0) -> tuple[int, int]:
    """Returns the steps that were played until the key was there, and the cells that were seen until then."""
    envs = gymnasium.make_vec("ga3c/MontezumaRevenge-v0", num_envs=GAMES, observation="ram", noop_max=0)
    memory, info = envs.reset(seed=seed)
    random, lives = np.random.default_rng(seed), info["lives"][0]
    archive = {(0, 0, 0): envs.clone([0])[0]}  # a state for each cell: the room, and a square of 8 by 8 pixels
    visits, actions, steps = dict.fromkeys(archive, 0), np.zeros(GAMES, int), 0
    while True:
        cells = list(archive)
        rarely = 1 / np.sqrt(1 + np.array([visits[cell] for cell in cells]))
        chosen = [cells[number] for number in random.choice(len(cells), GAMES, p=rarely / rarely.sum())]
        envs.restore(range(GAMES), [archive[cell] for cell in chosen])
        alive = np.ones(GAMES, bool)
        for _ in range(STEPS):
            again = random.random(GAMES) < REPEATED
            actions = np.where(again, actions, random.integers(envs.single_action_space.n, size=GAMES))
            memory, rewards, over, _, info = envs.step(actions)
            steps += GAMES
            alive &= ~over & (info["lives"] == lives)
            if (rewards[alive] > 0).any():
                return steps, len(archive)
            found = list(
                zip(memory[:, ROOM].tolist(), (memory[:, X] // 8).tolist(), (memory[:, Y] // 8).tolist(), strict=True)
            )
            new = {found[game]: game for game in np.flatnonzero(alive) if found[game] not in archive}
            archive |= dict(zip(new, envs.clone(list(new.values())), strict=True))
            for game in np.flatnonzero(alive):
                visits[found[game]] = visits.get(found[game], 0) + 1


if __name__ == "__main__":
    steps, cells = find()
    print(f"The key was found after {steps:,} steps, in {cells} cells.")
