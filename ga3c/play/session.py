"""A session of play: a display shows it, and a person's keys may change it."""

import numpy as np

from ga3c.play.keyboard import Keyboard
from ga3c.play.playing import Stage, moments
from ga3c.play.trained_agent import Policy
from ga3c.text import count

LOOK_SECONDS = 0.1  # a display looks this often whether it was resized, and at its keys


def play(
    stage: Stage, policy: Policy, display, keyboard: Keyboard, greedy: bool, games: float, scores: list[str]
) -> None:
    """Until so many games have ended in each game of the stage, or somebody leaves.

    `scores` gets a line for each game.
    """
    left = np.full(stage.count, float(games))
    for moment in moments(stage, policy, greedy, keyboard.action, policy.has_action_values):
        display.show(moment, f"{keyboard}{policy}")
        for game in np.flatnonzero(moment.ended & (left > 0)):
            left[game] -= 1
            scores.append(
                f"Game {len(scores) + 1}: score {moment.scores[game]:g} in {count(moment.steps[game], 'step')}"
            )
            if not display.covers_output:
                print(scores[-1], flush=True)
        if not (left > 0).any():
            return
        while display.live:
            pressed = display.keys(min(keyboard.seconds_to_wait(), LOOK_SECONDS))
            for key, down in pressed:
                keyboard.key(key, down)
            if keyboard.left:
                return
            if any(down for _, down in pressed):
                display.show(moment, f"{keyboard}{policy}")
            if not keyboard.seconds_to_wait():
                break
        keyboard.step_taken()
