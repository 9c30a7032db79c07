"""Score, lives and end, read from the console's memory: what ale-py says of them."""

import re

import numpy as np
import pytest
from ale_py import roms

from ga3c.emulator import games
from ga3c.emulator.game_table import GAMES
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from tests.score_oracle import ale_of, differences, play


def test_the_games_of_the_field_are_in_the_table():
    assert set(RANDOM_AND_HUMAN_SCORES) <= set(GAMES) <= set(roms.get_all_rom_ids())


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_read_as_ale_reads_it(game):
    assert differences(game, play(game, 1200, 1)) == []


DIGITS = r"(bcd|low|high|low_digit|digits|high_digit|f8!10|f8!b|0f|f0|70|to_100) ([0-9a-f]{2})"


@pytest.mark.parametrize("game", GAMES)
def test_digits_that_random_play_does_not_reach(game):
    """Written into the memory, they make the reward that we read."""
    ale, random, reading = ale_of(game), np.random.default_rng(1), games.reading(game)
    terms = re.findall(DIGITS, GAMES[game].score) or [("raw", raw) for raw in re.findall("raw (..)", GAMES[game].score)]
    for action in np.resize(ale.getMinimalActionSet(), 300):
        ale.act(action)
    start, state, rewards = ale.cloneState(), np.zeros(games.STATE, np.int32), set()
    for _ in range(60):
        ale.restoreState(start)
        games.begin(ale.getRAM(), reading, state)
        way, address = terms[random.integers(len(terms))]
        low, high = random.integers(10, size=2)
        byte = {"f8": low << 3, "raw": low}.get(way[:3].removesuffix("!"), low | high << 4)
        ale.setRAM(int(address, 16), int(byte))
        reward, over = ale.act(0), ale.game_over()
        assert (reward, over) == games.read(ale.getRAM(), reading, state)[::2]
        rewards.add(reward)
    assert len(rewards) > 1


@pytest.mark.parametrize(("byte", "reward"), [(0x12, 100), (0x13, -100)])
def test_a_knockout_in_boxing_is_100_points(byte, reward):
    ale, reading, state = ale_of("boxing"), games.reading("boxing"), np.zeros(games.STATE, np.int32)
    for _ in range(60):
        ale.act(0)
    games.begin(ale.getRAM(), reading, state)
    ale.setRAM(byte, 0xC0)
    said = ale.act(0), 0, ale.game_over()
    assert said == games.read(ale.getRAM(), reading, state)
    assert said == (reward, 0, True), said
