"""A trained agent's games on our console beside ALE's."""

import numpy as np
import pytest

from tests import agent_oracle  # isort: skip (first: it loads TensorFlow)
from tests.agent_oracle import Difference, play


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """It can be set up once in each process."""
    monkeypatch.setattr("ga3c.devices.device.set_up_device", lambda device, threads: "cpu")


def test_a_whole_game_of_a_trained_agent_is_ales_at_each_frame():
    ((frames, score),) = play("Pong", 1, at_once=1)
    assert frames > 4000
    assert score > 10


next_frame, read = agent_oracle.next_frame, agent_oracle.games.read


@pytest.mark.parametrize(
    ("name", "broken", "said"),
    [
        ("press", lambda console, action: None, "memory"),
        ("next_frame", lambda console, rom, picture, code: next_frame(console, rom, 0, code), "picture"),
        ("games.read", lambda *memory: tuple(np.add(read(*memory), (1, 0, 0))), "reward, lives, end"),
    ],
)
def test_what_is_not_as_ales_is_found(monkeypatch, name, broken, said):
    """A joystick that does nothing; a picture that stands still; a point too many."""
    monkeypatch.setattr(f"tests.agent_oracle.{name}", broken)
    with pytest.raises(Difference, match=said):
        next(play("Pong", 1, at_once=1))
