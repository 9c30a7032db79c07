"""The small grey frame: the same, pixel for pixel, as that of ale-py's vector environment."""

import ale_py
import numpy as np
import pytest
from ale_py import roms
from ale_py.vector_env import AtariVectorEnv

from ga3c.emulator.palette import NTSC_GREY, NTSC_RGB, PAL_GREY, PAL_RGB
from ga3c.emulator.shrink import brighter, cover, push, shrink

GAMES = {  # 250 lines: PAL; 214, 220, 230: NTSC, too
    "boxing": 84, "breakout": 84, "enduro": 84, "ms_pacman": 84, "qbert": 42, "space_invaders": 105,
    "carnival": 84, "pooyan": 100, "journey_escape": 84, "keystone_kapers": 84, "mr_do": 84,
}  # fmt: skip


def ale_of(game: str) -> ale_py.ALEInterface:
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0)
    ale.loadROM(roms.get_rom_path(game))
    ale.reset_game()
    return ale


def small(pictures: list[np.ndarray], size: int) -> np.ndarray:
    height, width = pictures[0].shape
    first, second = (picture.reshape(-1) for picture in pictures)
    grey, out = np.empty((height, width), np.uint8), np.empty((size, size), np.uint8)
    brighter(first, second, PAL_GREY if height == 250 else NTSC_GREY, grey.reshape(-1))
    line, totals = np.empty(width, np.uint32), np.empty(size, np.uint32)
    shrink(grey, cover(height, size), cover(width, size), line, totals, out)
    return out


@pytest.mark.parametrize("game", GAMES)
def test_no_pixel_differs(game):
    size, ale, random = GAMES[game], ale_of(game), np.random.default_rng(1)
    rules = {"use_fire_reset": False, "reward_clipping": False, "noop_max": 0, "num_threads": 1}
    games = AtariVectorEnv(game, 1, img_height=size, img_width=size, **rules)
    theirs, _ = games.reset(seed=0)
    ours = np.zeros((size, size, 4), np.uint8)
    pictures = [ale.getScreen()] * 2
    actions = ale.getMinimalActionSet()
    for _ in range(150):
        push(small(pictures, size), ours)
        np.testing.assert_array_equal(ours, theirs[0].transpose(1, 2, 0))
        if ale.game_over():
            break
        action = random.integers(len(actions))
        theirs = games.step(np.array([action]))[0]
        pictures = [(ale.act(actions[action]), ale.getScreen())[1] for _ in range(4)][2:]
    games.close()


COLOURFUL = [
    (("qbert", "enduro", "breakout", "phoenix"), NTSC_RGB, NTSC_GREY),
    (("keystone_kapers", "sir_lancelot", "adventure", "klax"), PAL_RGB, PAL_GREY),
]


@pytest.mark.parametrize(("games", "rgb", "grey"), COLOURFUL, ids=["NTSC", "PAL"])
def test_colours(games, rgb, grey):
    """With bytes of the memory changed at random these games show most of the colours there are."""
    random, seen = np.random.default_rng(1), set()
    for ale in map(ale_of, games):
        start = ale.cloneState()
        for frame in range(150):
            if frame % 15 == 0:
                ale.restoreState(start)
            for address, byte in zip(random.integers(128, size=3), random.integers(256, size=3), strict=True):
                ale.setRAM(int(address), int(byte))
            ale.act(0)
            screen = ale.getScreen()
            np.testing.assert_array_equal(rgb[screen], ale.getScreenRGB())
            np.testing.assert_array_equal(grey[screen], ale.getScreenGrayscale())
            seen.update(screen.flat)
    assert len(seen) > 90


@pytest.mark.parametrize(("length", "size"), [(210, 84), (250, 84), (160, 84), (160, 160), (210, 105), (214, 42)])
def test_all_of_a_picture_counts(length, size):
    covered = np.zeros(length)
    first, parts, shares, whole = cover(length, size)
    for part in range(len(parts)):
        np.add.at(covered, first + part, parts[part])
    assert len(set(covered)) == 1
    assert (parts.sum(axis=0) == whole).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1, rtol=1e-6)
