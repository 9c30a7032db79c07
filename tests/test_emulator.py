"""Our Atari 2600 beside ALE's: the same game, the same actions, RAM and picture at each frame."""

import pytest

from tests.frame_oracle import first_difference

# Each kind of cartridge and controller, PAL, and what is hard to draw.
GAMES = (
    "pong breakout boxing ms_pacman freeway enduro battle_zone journey_escape solaris klax elevator_action "
    "jamesbond pitfall2"
)


@pytest.mark.parametrize("game", [*GAMES.split(), "robotank", "surround", "backgammon"])
def test_plays_as_ale_does(game):
    assert first_difference(game, frames=400) is None
