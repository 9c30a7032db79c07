"""Random steps at the start of a run, so that games are not all in the same state."""

from collections.abc import Callable

import numpy as np

from ga3c.environments.scores import Scores, absent_players, lost_steps


def random_start(
    envs, limit_steps: int, seed: int, scores: Scores, alive: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Lets each game take a random number of random steps, which nobody learns from: this decorrelates start states.

    Stooke and Abbeel 2018, section 5.3. All games step together: one that takes fewer steps begins anew when as many
    are left. A game under way counts these steps in `scores`, one that ended in them does not. `alive()` is called
    after each step. Returns the observations [env, ...], and which games are over: their next step only starts a new
    one.
    """
    count = len(scores)
    observations, over = envs.reset(), np.zeros(count, np.bool_)
    random = np.random.default_rng([seed, 1])  # with the seed alone it would be the first game's own
    players = envs.spec.players  # of one game: they begin together
    steps = np.repeat(random.integers(limit_steps + 1, size=count // players), players)
    for left in range(int(steps.max()), -1, -1):
        begin = steps == left
        if begin.any():
            observations = envs.restart(begin)
            scores.restart(begin)
            over &= ~begin
        if left:
            observations, rewards, terminated, truncated, _ = envs.step(envs.spec.random_actions(random, observations))
            scores.add(rewards, ~over, terminated | truncated)
            scores.restart(lost_steps(envs, count))
            over = terminated | truncated | absent_players(envs, count)
            alive()
    scores.take()
    return observations, over
