"""A game recorded into a video file."""

from pathlib import Path

from ga3c.play.playing import Stage, moments
from ga3c.play.trained_agent import TrainedAgent

FILM_SECONDS = 120  # of play in the page at the most


def film(agent: TrainedAgent, seed: int, path: Path, most_seconds: float = FILM_SECONDS) -> str:
    """Records a game, or its first `most_seconds` of play; returns what is to be said of it."""
    from ga3c.play.displays.overlay import Overlay
    from ga3c.play.displays.video import Video

    stage = Stage(agent.settings.environment, 1, seed)
    video = Video(path, stage.steps_per_second, Overlay(stage.game, stage.action_names))
    try:
        for moment in moments(stage, agent.model.decide, False, lambda: None, agent.has_action_values):
            video.show(moment, "")
            cut = moment.steps[0] >= most_seconds * stage.steps_per_second
            if moment.ended[0] or cut:
                break
    finally:
        video.close()
        stage.close()
    end = f"its first {most_seconds:g} s, score {moment.scores[0]:g} by then" if cut else f"score {moment.scores[0]:g}"
    how = "the best actions" if agent.has_action_values else "actions sampled from the policy"
    return f"Game with seed {seed}, {how}: {end}."
