"""Games on our own console: what ale-py's vector environment gives of the same seeds and actions."""

import io
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ga3c import environments
from ga3c.atari.batch import prepare, starts_of
from ga3c.emulator import machine_code
from ga3c.emulator.compiled import told
from ga3c.emulator.cpu import run_frame
from ga3c.emulator.game_table import GAMES as READABLE
from ga3c.emulator.instruction import execute
from ga3c.emulator.proven import FRAMES_GO_ON, PROVEN, READ_WHAT_IS_LEFT
from ga3c.emulator.tia import tia_write
from ga3c.environments.atari import AtariEnvironments, AtariScreen, played_elsewhere
from ga3c.environments.atari_ours import OwnAtariEnvironments, OwnAtariScreen
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings
from tests import program
from tests.variants import long, variants

RULES = {
    "as it comes": {},
    "cut off": {"episode_cap_frames": 124},
    "FIRE, no life": {"fire_reset": True, "life_loss_terminates": False, "no_op_max_steps": 3},
    "two frames, all actions": {
        "frame_skip_frames": 2,
        "full_action_set": True,
        "frame_stack": 3,
        "episode_cap_frames": 251,
    },
    "sticky actions": {"sticky_action_probability": 0.25, "full_action_set": True, "episode_cap_frames": 124},
    "every frame, small": {
        "frame_skip_frames": 1,
        "frame_size_pixels": 42,
        "no_op_max_steps": 0,
        "episode_cap_frames": 101,
    },
}
PACKAGE = Path(environments.__file__).parents[1]
GAMES = ["pong", "breakout", "boxing", "ms_pacman", "space_invaders", "seaquest", "riverraid", "qbert", "robotank"]


def both(game: str, count: int = 2, seed: int = 7, **rules):
    settings = EnvironmentSettings(game=game, **rules)
    return [kind(game, settings, count, seed) for kind in (AtariEnvironments, OwnAtariEnvironments)]


def compare(theirs, ours, steps: int) -> int:
    """Returns how many games ended."""
    random, ends = np.random.default_rng(0), 0
    assert ours.spec == theirs.spec
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    for _ in range(steps):
        actions = theirs.spec.actions.random(random, 2)
        said = theirs.step(actions)
        for mine, other in zip(ours.step(actions), said, strict=True):
            np.testing.assert_array_equal(mine, other)
        ends += int((said[2] | said[3]).sum())
    return ends


@pytest.mark.parametrize("game", variants(GAMES, "pong", "breakout", "ms_pacman", "robotank"))
def test_nothing_that_a_player_sees_differs(game):
    theirs, ours = both(game)
    compare(theirs, ours, 250)
    theirs.close()


@pytest.mark.parametrize("rules", RULES)
def test_under_any_rules(rules):
    theirs, ours = both("breakout", **RULES[rules])
    assert compare(theirs, ours, 300)
    theirs.close()


@pytest.mark.parametrize("game", variants(sorted(READ_WHAT_IS_LEFT), "ice_hockey", "time_pilot"))
def test_a_game_begins_with_what_the_last_one_has_left_in_memory(game):
    theirs, ours = both(game, episode_cap_frames=202)
    assert compare(theirs, ours, 130) >= 4
    theirs.close()


@pytest.mark.parametrize("rules", [{}, long({"frame_skip_frames": 1}), long({"frame_skip_frames": 3})])
@pytest.mark.parametrize("game", sorted(FRAMES_GO_ON | {"tetris"}))
def test_a_frame_may_go_on_and_begins_no_picture_then(game, rules):
    """While these think, or where one begins, a frame is not done when ALE shows its picture."""
    theirs, ours = both(game, episode_cap_frames=1000, **rules)
    compare(theirs, ours, 600)
    theirs.close()


def test_one_game_starts_anew_and_the_others_stay_as_they_are():
    theirs, ours = both("breakout")
    compare(theirs, ours, 50)
    which = np.array([False, True])
    np.testing.assert_array_equal(ours.restart(which), theirs.restart(which))
    for actions in np.random.default_rng(1).integers(4, size=(100, 2)):
        for mine, other in zip(ours.step(actions), theirs.step(actions), strict=True):
            np.testing.assert_array_equal(mine, other)
    theirs.close()


@pytest.mark.parametrize("rules", ["cut off", "FIRE, no life", "every frame, small", "two frames, all actions"])
def test_people_see_it_in_colour(rules):
    settings = EnvironmentSettings(game="breakout", **RULES[rules])
    theirs, ours = AtariScreen("breakout", settings, 7, 2), OwnAtariEnvironments("breakout", settings, 2, 7)
    shown = OwnAtariScreen(ours)
    assert shown.action_names == theirs.action_names
    ours.reset()
    np.testing.assert_array_equal(shown.reset(), theirs.reset())
    random, ends = np.random.default_rng(0), 0
    for _ in range(300):
        actions = ours.spec.actions.random(random, 2)
        _, _, terminated, truncated, _ = ours.step(actions)
        np.testing.assert_array_equal(shown.step(actions), theirs.step(actions))
        ends += int((terminated | truncated).sum())
    assert ends
    theirs.close()


def prepares(folder: Path, game: str, emulator: str) -> subprocess.Popen:
    """Says how often it compiled a step, after what a run says."""
    code = f"""from ga3c import environments
from ga3c.settings.game import EnvironmentSettings
environments.make(EnvironmentSettings(game={game!r}, emulator={emulator!r}), 1, 0)
from ga3c.emulator.workers import serve
print(serve.stats.cache_misses.total())"""
    where = {"cwd": folder, "env": os.environ | {"PYTHONPATH": str(folder)}}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **where
    )


def test_it_is_compiled_once_and_a_run_says_so(tmp_path):
    """A copy of the program, for which nothing is compiled yet, and two starts at once. Its frames are empty, and no
    code is made for a game: it compiles in a third of the time."""
    shutil.copytree(PACKAGE, tmp_path / "ga3c", ignore=shutil.ignore_patterns("__pycache__"))
    frame = tmp_path / "ga3c" / "emulator" / "frame.py"
    before, _, body = frame.read_text().partition("code: int) -> None:\n")
    _, end, after = body.partition("\n\n\n@compiled\ndef goes_on")
    frame.write_text(f"{before}code: int) -> None:\n    store32(console, state.FRAME_DONE, 1){end}{after}")
    made = tmp_path / "ga3c" / "emulator" / "made.py"
    made.write_text(made.read_text().replace('"x86_64", ', ""))
    line = "Compiling the emulator: half a minute to two minutes, only this once.\n"
    assert prepares(tmp_path, "Pong", "ale").communicate()[0] == "0\n"
    together = [prepares(tmp_path, game, "auto") for game in ("Pong", "Boxing")]
    said = [re.sub("Still compiling.*\n", "", process.communicate()[0]) for process in together]
    assert any(what.startswith(line) for what in said), said
    assert sum(int(what.removeprefix(line)) for what in said) == 1, said
    assert prepares(tmp_path, "Breakout", "ours").communicate()[0] == "0\n"


@pytest.mark.parametrize("function", [run_frame, execute, tia_write], ids=lambda function: function.py_func.__name__)
def test_large_functions_are_compiled_for_one_kind_of_arguments(function):
    """A constant among the arguments would compile a function, and all that it calls, once more."""
    prepare()
    assert starts_of("pong", None, 0).code
    assert len(function._cache._cache_file._load_index()) == 1


def test_a_long_compilation_says_that_it_goes_on_until_it_ends(monkeypatch):
    monkeypatch.setattr(sys, "stderr", said := io.StringIO())
    with told(0.1):
        while "0.3 seconds" not in said.getvalue():
            time.sleep(0.01)
    for thread in threading.enumerate():
        if thread.name == "compiling":
            thread.join(program.HANG_SECONDS)
            assert not thread.is_alive()
    assert said.getvalue().startswith("Still compiling: 0.1 seconds so far.\nStill compiling: 0.2 seconds so far.\n")


SEEN = """import sys
from ga3c import environments
from ga3c.settings.game import EnvironmentSettings
settings = EnvironmentSettings(game="Pong")
seen = environments.seen(settings, played_here=False)
assert not {"numba", "llvmlite", "ga3c.atari.batch"} & set(sys.modules)
games = environments.seen(settings, played_here=True)
assert "ga3c.atari.batch" in sys.modules and hasattr(games, "restore") and seen.spec == games.spec
"""


def test_a_run_loads_no_emulator_for_games_that_others_play(monkeypatch):
    """Unless it has to compile it for them."""
    prepare()
    subprocess.run([sys.executable, "-c", SEEN], cwd=PACKAGE.parent, check=True)
    settings = EnvironmentSettings(game="Pong")
    assert not hasattr(environments.seen(settings, played_here=False), "batch")
    monkeypatch.setattr(machine_code, "note_ready", lambda: None)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    assert not machine_code.is_ready()
    assert environments.seen(settings, played_here=False).batch
    assert environments.seen(EnvironmentSettings(game="CartPole-v1"), played_here=False).spec.name == "CartPole-v1"


@pytest.mark.parametrize("rules", [*RULES.values(), {"observation": "ram"}])
def test_of_games_that_others_play_a_run_knows_what_they_are(rules):
    for game in ("Pong",) if rules else ("Pong", "Breakout", "Boxing", "Asteroids"):
        settings = EnvironmentSettings(game=game, **rules)
        rom = environments.resolve(game)[1]
        assert played_elsewhere(rom, settings).spec == environments.make(settings, 1, 0).spec


def test_which_emulator_plays():
    kinds = {"auto": OwnAtariEnvironments, "ours": OwnAtariEnvironments, "ale": AtariEnvironments}
    for emulator, kind in kinds.items():
        games = environments.make(EnvironmentSettings(game="Pong", emulator=emulator), 1, 0)
        assert isinstance(games, kind)
        games.close()
    assert set(READABLE) >= PROVEN > READ_WHAT_IS_LEFT


@pytest.mark.parametrize("rules", [{"game": "Superman"}, {"frame_size_pixels": 200}])
def test_what_ours_cannot_play_is_played_by_ales_or_refused(rules):
    auto = EnvironmentSettings(**rules, emulator="auto")
    games = environments.make(auto, 1, 0)
    assert isinstance(games, AtariEnvironments)
    games.close()
    assert "because ours" in environments.emulator_line(auto)
    with pytest.raises(ConfigError, match="--emulator ours is not possible: ours "):
        environments.make(EnvironmentSettings(**rules, emulator="ours"), 1, 0)
