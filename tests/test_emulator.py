"""Our Atari 2600 beside ALE's: the same game, the same actions, RAM and picture at each frame."""

import pytest

from tests.frame_oracle import first_difference
from tests.own_code_games import OWN_CODE_GAMES


@pytest.mark.parametrize("game", [*sorted(OWN_CODE_GAMES), "klax", "elevator_action", "backgammon"])
def test_plays_as_ale_does(game):
    assert first_difference(game, frames=400) is None
