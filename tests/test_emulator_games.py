"""Score, lives and end, read from the console's memory: what ale-py says of them."""

import re

import numpy as np
import pytest
from ale_py import roms

from ga3c.emulator import games, state
from ga3c.emulator.further_games import FURTHER_GAMES
from ga3c.emulator.game_table import GAMES
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from tests.frozen_console import LOOP_BYTES, FrozenConsole
from tests.score_oracle import ale_of, differences, play
from tests.variants import variants


def test_the_games_of_the_field_are_in_the_table():
    assert set(RANDOM_AND_HUMAN_SCORES) <= set(GAMES) <= set(roms.get_all_rom_ids())


@pytest.mark.parametrize("game", variants(GAMES, *list(GAMES)[::3]))
def test_a_game_is_read_as_ale_reads_it(game):
    assert differences(game, play(game, 1200, 1)) == []


DIGITS = r"(bcd|low|high|low_digit|digits|high_digit|f8!10|f8!b|0f|f0|70|to_100) ([0-9a-f]{2})"
WITH_DIGITS = [game for game in GAMES if game not in FURTHER_GAMES]


@pytest.mark.parametrize("game", variants(WITH_DIGITS, *WITH_DIGITS[::3]))
def test_digits_that_random_play_does_not_reach(game):
    """Written into the memory, they make the reward that we read."""
    ale, random, reading = ale_of(game), np.random.default_rng(1), games.reading(game)
    terms = re.findall(DIGITS, GAMES[game].score) or [("raw", raw) for raw in re.findall("raw (..)", GAMES[game].score)]
    for action in np.resize(ale.getMinimalActionSet(), 300):
        ale.act(action)
    start, noted, rewards = ale.cloneState(), np.zeros(games.STATE, np.int32), set()
    for _ in range(60):
        ale.restoreState(start)
        games.begin(ale.getRAM(), reading, noted)
        way, address = terms[random.integers(len(terms))]
        low, high = random.integers(10, size=2)
        byte = {"f8": low << 3, "raw": low}.get(way[:3].removesuffix("!"), low | high << 4)
        ale.setRAM(int(address, 16), int(byte))
        reward, over = ale.act(0), ale.game_over()
        assert (reward, over) == games.read(ale.getRAM(), reading, noted)[::2]
        rewards.add(reward)
    assert len(rewards) > 1


def addresses_of(game: str) -> list[int]:
    """Returns the addresses of RAM in a game's row."""
    reading = games.reading(game)
    conditions = reading.over, reading.won, reading.lost, reading.zero, reading.hold, reading.repeats
    read = {int(row[0]) for rows in (reading.score, reading.match, reading.lives) for row in rows}
    return sorted(at for at in read | {int(row[1]) for rows in conditions for row in rows} if 0 <= at < state.RAM_BYTES)


# klax counts in the cartridge's RAM; casino stops counting at a byte that no game has before its end; no score of
# journey_escape rises by 50,000 at once.
@pytest.mark.parametrize("game", sorted(set(FURTHER_GAMES) - {"klax", "casino", "journey_escape"}))
def test_any_memory_is_read_as_ale_reads_it(game):
    """Most changes are of bytes that the game's row has, to numbers near those of its conditions."""
    random, reading, noted = np.random.default_rng(1), games.reading(game), np.zeros(games.STATE, np.int32)
    used = addresses_of(game)
    loop = next(at for at in range(0x77, 0, -1) if not set(range(at, at + LOOP_BYTES)) & set(used))
    console = FrozenConsole(ale_of(game), loop)
    numbers = [int(row[4]) for rows in (reading.over, reading.won, reading.lost) for row in rows]
    games.begin(console.begun, reading, noted)
    assert console.lives == noted[games.LIVES]
    for frame in range(400):
        tens, ones, any_byte, near = random.integers([10, 10, 256, 3])
        number = int(random.choice(numbers)) + near - 1 if numbers else 0
        byte = int(random.choice([tens << 4 | ones, ones, any_byte, number & 0xFF]))
        address = int(random.choice(used)) if used and random.random() < 0.8 else int(random.integers(128))
        said = console.frame({address: byte})
        assert said == games.read(console.memory, reading, noted), (frame, hex(address), hex(byte))
        if said[2]:
            console.start()
            games.begin(console.begun, reading, noted)


def test_the_lives_of_wizard_of_wor_are_not_read_while_a_player_waits():
    reading, noted = games.reading("wizard_of_wor"), np.zeros(games.STATE, np.int32)
    console = FrozenConsole(ale_of("wizard_of_wor"), 0x20)
    games.begin(console.begun, reading, noted)
    lives, waits = 0x0D, 0x57
    for changes in ({lives: 2, waits: 1}, {waits: 0}, {lives: 1}, {waits: 1}, {lives: 2}, {waits: 0}, {lives: 0}):
        assert console.frame(changes) == games.read(console.memory, reading, noted), changes


@pytest.mark.parametrize(("winner", "reward"), [(0x00, -1), (0x08, 1), (0x28, -1)])
def test_tic_tac_toe_3d_is_won_and_lost(winner, reward):
    reading, noted = games.reading("tic_tac_toe_3d"), np.zeros(games.STATE, np.int32)
    console = FrozenConsole(ale_of("tic_tac_toe_3d"), 0x20)
    games.begin(console.begun, reading, noted)
    said = console.frame({0x61: winner, 0x7E: 0x10, 0x7F: 0xF3})
    assert said == games.read(console.memory, reading, noted) == (reward, 0, True)


@pytest.mark.parametrize(("byte", "reward"), [(0x12, 100), (0x13, -100)])
def test_a_knockout_in_boxing_is_100_points(byte, reward):
    ale, reading, noted = ale_of("boxing"), games.reading("boxing"), np.zeros(games.STATE, np.int32)
    for _ in range(60):
        ale.act(0)
    games.begin(ale.getRAM(), reading, noted)
    ale.setRAM(byte, 0xC0)
    said = ale.act(0), 0, ale.game_over()
    assert said == games.read(ale.getRAM(), reading, noted)
    assert said == (reward, 0, True), said
