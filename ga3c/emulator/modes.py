"""The modes and difficulties of each game, with ALE's numbers (Machado et al. 2018), and how a mode is chosen.

The presses of SELECT were found by search: after them a game plays as in ALE. A game that MODES does not have is played
in its usual mode alone; ALE has others of some of them (those of demon_attack are over at once there).
"""

from typing import NamedTuple

DIFFICULTY_SHIFT = 6  # of the two switches in SWCHB; a difficulty's lower bit is the left player's


class Menu(NamedTuple):
    """SELECT is pressed for some frames, then nothing: so many times for each mode."""

    select_frames: int
    wait_frames: int
    presses: dict[int, int]


def _each(count: int, mode_step: int = 1, presses: int = 1) -> dict[int, int]:
    """Returns the presses of modes whose numbers are multiples of `mode_step`."""
    return {mode_step * number: presses * number for number in range(count)}


MODES = {
    "alien": Menu(1, 1, {0: 0, 1: 2, 2: 3, 3: 4}),
    "asteroids": Menu(1, 2, _each(32) | {128: 32}),
    "atlantis": Menu(2, 1, {0: 0, 1: 1, 2: 9, 3: 12}),
    "bank_heist": Menu(1, 1, _each(8, 4)),
    "bowling": Menu(1, 0, {0: 0, 2: 35, 4: 99}),
    "breakout": Menu(1, 1, _each(12, 4, 4)),
    "centipede": Menu(1, 0, {22: 0, 86: 3}),
    "chopper_command": Menu(1, 2, {0: 0, 2: 2}),
    "crazy_climber": Menu(1, 0, _each(4, 1, 32)),
    "defender": Menu(2, 1, {mode: mode - 1 for mode in range(1, 10)} | {16: 9}),
    "freeway": Menu(1, 1, _each(8)),
    "frostbite": Menu(1, 1, {0: 0, 2: 2}),
    "gopher": Menu(1, 5, {0: 0, 2: 2}),
    "gravitar": Menu(1, 0, _each(5, 1, 16)),
    "hero": Menu(1, 1, _each(5)),
    "ice_hockey": Menu(1, 2, {0: 0, 2: 3}),
    "jamesbond": Menu(1, 0, {0: 0, 1: 2}),
    "kangaroo": Menu(1, 1, {0: 0, 1: 2}),
    "ms_pacman": Menu(6, 5, {0: 0, 1: 1, 2: 2, 3: 4}),
    "pong": Menu(2, 1, {0: 0, 1: 1}),
    "private_eye": Menu(1, 2, _each(5)),
    "space_invaders": Menu(2, 1, {0: 0, 1: 2} | {mode: 2 * mode - 1 for mode in range(2, 16)}),
    "star_gunner": Menu(1, 0, _each(4, 1, 32)),
    "surround": Menu(1, 2, {0: 1, 2: 3}),
    "tennis": Menu(1, 2, {0: 0, 2: 3}),
    "tutankham": Menu(2, 1, _each(4, 4)),
    "video_pinball": Menu(1, 2, {0: 0, 2: 2}),
    "yars_revenge": Menu(1, 1, {32: 1, 64: 3, 96: 5, 0: 7}),
    "zaxxon": Menu(8, 3, _each(4, 8)),
}
_DIFFICULTIES = {
    (0, 1): "beam_rider bowling breakout chopper_command crazy_climber crossbow defender demon_attack freeway frogger "
    "galaxian gopher hangman haunted_house human_cannonball journey_escape name_this_game pacman qbert riverraid "
    "seaquest space_invaders trondead video_pinball wizard_of_wor yars_revenge",
    (0, 1, 2): "time_pilot",
    (0, 1, 2, 3): "adventure alien bank_heist blackjack boxing casino et fishing_derby ice_hockey pong private_eye "
    "surround tennis up_n_down venture",
    (0, 2): "othello tic_tac_toe_3d",
    (0, 2, 3): "basic_math",
    (0, 3): "amidar asteroids",
}


def modes_of(game: str) -> tuple[int, ...]:
    """Returns the modes that can be chosen; none if a game has one alone, or those of ALE are not known."""
    return tuple(sorted(MODES[game].presses)) if game in MODES else ()


def difficulties_of(game: str) -> tuple[int, ...]:
    return next((numbers for numbers, games in _DIFFICULTIES.items() if game in games.split()), (0,))
