"""Tables of fast DQN (Daley and Amato 2021)."""

from dataclasses import dataclass

from ga3c.papers import CommonOptions


@dataclass(frozen=True)
class Options(CommonOptions):
    games: tuple[int, ...] = ()
    """Numbers of games, each in an agent of its own (paper: threads, W). 1 is always among them: it is what the
    speed-ups are relative to."""
