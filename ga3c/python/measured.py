"""`ga3c.evaluate`: the scores of a trained agent."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ga3c.commands.command_line import check_range
from ga3c.experiments import evaluation
from ga3c.python.loaded_agent import FIRST_SEED, Agent, load
from ga3c.settings.ranges import RANGES


@dataclass(frozen=True)
class Scores:
    """The true scores of whole games."""

    scores: np.ndarray  # float64 [games], in the order of their seeds
    mean: float
    low: float | None  # of the 95 % interval of the mean; None for too few games
    high: float | None
    standard_deviation: float
    human_normalized: float | None  # None where no human score is known
    cut_off: int  # games that were cut off, as they did not end


def evaluate(
    run: Any,
    *,
    games: int = 30,
    greedy: bool = False,
    seed: int = FIRST_SEED,
    exploration: float = 0.0,
    most_steps: int = evaluation.MOST_STEPS,
) -> Scores:
    """Plays whole games with the agent of a run, each with its own seed, and returns their scores.

    Args:
        run: what `ga3c.train` or `ga3c.load` returned, or what `ga3c.load` takes.
        games: the number of games.
        greedy: take the most probable actions, and do not sample them. An agent of action values always takes the best.
        seed: the games are seeded seed, seed + 1, ...
        exploration: the share of actions that are drawn at random.
        most_steps: a game that does not end is cut off after so many steps.

    Raises ConfigError.
    """
    check_range("games", games, 1)
    check_range("seed", seed, *RANGES["seed"])
    check_range("most-steps", most_steps, 1)
    check_range("exploration", exploration, 0, 1)
    agent = (run if isinstance(run, Agent) else load(run, seed=seed)).trained
    settings = agent.settings.environment
    scores, cut_off = evaluation.play_games(
        agent.model.decide, settings, games, seed, greedy or agent.has_action_values, most_steps, exploration
    )
    found = evaluation.summary(scores, settings)
    return Scores(
        scores=np.array(scores),
        mean=found["mean"],
        low=found["low"],
        high=found["high"],
        standard_deviation=found["std"],
        human_normalized=found["human_normalized"],
        cut_off=cut_off,
    )
