"""How good a score is: what a random player and a human have in the game, and what an agent had after as much play."""

import numpy as np

from ga3c import environments
from ga3c.environments import gymnasium, protocols
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.errors import ConfigError
from ga3c.records import run_directory
from ga3c.records.description import read_settings
from ga3c.settings.game import EnvironmentSettings
from ga3c.views.curves import exported_curve


def standing(settings: EnvironmentSettings, steps: int) -> str:
    """Whole sentences on what is known of the game, for a run of so many steps; "" where nothing is."""
    kind, name = environments.resolve(settings.game)
    if kind != "atari":
        threshold = gymnasium.solved_at(name)
        return "" if threshold is None else f"Gymnasium calls this game solved at {_number(threshold)}."
    known = RANDOM_AND_HUMAN_SCORES.get(name)
    published = "In this game a random player has {}, a human {}.".format(*map(_number, known)) if known else ""
    return " ".join(filter(None, (published, _shipped(settings, steps))))


def _shipped(settings: EnvironmentSettings, steps: int) -> str:
    """Returns the score of the agent that comes with the program under the same rules; "" where there is none."""
    agent = run_directory.PRETRAINED / run_directory.game_directory(settings.game).name
    try:
        _, million_steps, scores = exported_curve(agent)
        rules = {protocols.fingerprint(one) for one in (settings, read_settings(agent).environment)}
    except ConfigError:
        return ""
    if len(rules) > 1 or not len(scores) or steps < 1e6 * million_steps[0]:  # then it had not finished a game
        return ""
    who = "The agent that comes with the program"
    if steps > 1e6 * million_steps[-1]:
        return f"{who} ended with {_number(scores[-1])}, after {million_steps[-1]:.1f} million steps."
    return f"{who} had {_number(np.interp(steps / 1e6, million_steps, scores))} after as many steps."


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")
