"""What is known of a game: where its score, lives and end lie in RAM, and which actions it uses."""

from typing import NamedTuple


class Game(NamedTuple):
    """A row of the table, in the notation of `games`; `games.Reading` explains the fields."""

    score: str
    lives: str
    over: str
    match: str = ""
    zero: str = ""
    hold: str = ""
    won: str = ""
    lost: str = ""
    repeats: str = ""
    wraps: int = 0
    most: int = 0
    prize: int = 1
    change: int = 0
    end_counts: bool = True
    end_frames: int = 1
    end_lives: bool = False
    falls: str = ""
    first_lives: int = -1
    actions: str = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"  # ALE's numbers of the actions that the game uses
