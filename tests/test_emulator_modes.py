"""Modes and difficulties: a game that is begun in one plays as in ALE."""

import numpy as np
import pytest
from ale_py import ALEInterface, LoggerMode, roms

from ga3c.atari.batch import Batch
from ga3c.atari.rules import Rules
from ga3c.emulator.modes import MODES, difficulties_of, modes_of
from ga3c.emulator.proven import PROVEN
from tests.variants import variants

pytestmark = pytest.mark.usefixtures("own_code_of_some_games")
ALEInterface.setLoggerMode(LoggerMode.Error)
# ALE has several modes of these.
NOT_KNOWN = {
    *("adventure", "air_raid", "basic_math", "battle_zone", "berzerk", "casino", "demon_attack", "double_dunk"),
    *("et", "flag_capture", "frogger", "galaxian", "hangman", "haunted_house", "human_cannonball", "king_kong"),
    *("mario_bros", "mr_do", "name_this_game", "othello", "pacman", "pooyan", "space_war", "tic_tac_toe_3d"),
    *("turmoil", "video_checkers", "video_chess"),
}
GAMES, FRAMES = sorted(PROVEN), 120


def first_difference(game: str, mode: int | None, difficulty: int, frames: int = FRAMES) -> str | None:
    """Plays two games beside ALE. Returns the frame in which memory, reward, lives or end first differ."""
    rules = Rules(observation="ram", frameskip=1, noop_max=0, mode=mode, difficulty=difficulty)
    batch, ale = Batch(game, rules, np.zeros(1, np.int64)), ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path(game))
    if mode is not None:
        ale.setMode(mode)
    ale.setDifficulty(difficulty)
    random = np.random.default_rng(0)
    for begun in range(2):
        ale.reset_game()
        batch.restart(np.ones(1, bool))
        for frame in range(frames):
            where = f"game {begun}, frame {frame}"
            if (batch.ram[0] != ale.getRAM()).any():
                return f"memory: {where}"
            if batch.consoles.ended[0]:
                break
            action = random.choice(batch.actions)
            reward = ale.act(int(action))
            batch.step(np.array([action]))
            consoles = batch.consoles
            ours = consoles.rewards[0], consoles.lives[0], consoles.ended[0] > 0
            if ours != (reward, ale.lives(), ale.game_over()):
                return f"{ours}, not {reward, ale.lives(), ale.game_over()}: {where}"
    return None


@pytest.mark.parametrize("game", variants(GAMES, *GAMES[::8]))
def test_a_game_plays_in_each_mode_and_difficulty_as_in_ale(game):
    ale = ALEInterface()
    ale.loadROM(roms.get_rom_path(game))
    assert list(difficulties_of(game)) == list(ale.getAvailableDifficulties())
    modes = list(modes_of(game)) or [None]
    if modes != [None]:
        assert modes == sorted(ale.getAvailableModes())
    else:
        assert len(ale.getAvailableModes()) == 1 or game in NOT_KNOWN
    chosen = [(mode, 0) for mode in modes] + [(None, number) for number in difficulties_of(game)]
    assert {one: said for one in chosen if (said := first_difference(game, *one))} == {}


def begun(game: str, mode: int | None) -> bytes:
    """Returns the memory of a new game."""
    batch = Batch(game, Rules(mode=mode, noop_max=0), np.zeros(1, np.int64))
    batch.restart(np.ones(1, bool))
    return batch.ram.tobytes()


def test_the_usual_mode_is_one_of_them():
    for game in MODES:
        assert begun(game, None) in [begun(game, mode) for mode in modes_of(game)], game
