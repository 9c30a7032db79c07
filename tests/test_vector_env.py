"""ga3c.atari: what Gymnasium asks of a vector environment, what ale-py's gives, and states that games return to."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from ale_py.vector_env import AtariVectorEnv as AleVectorEnv
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

import ga3c.atari
from ga3c.atari import first_key
from ga3c.atari.names import GAME_NAMES, display_name
from tests.program import HANG_SECONDS
from tests.variants import long, variants

ROOT = Path(__file__).parent.parent
CUT = {"max_num_frames_per_episode": 101}
# Our rules, and ale-py's names for those that differ.
RULES = {
    "as it comes": ({}, {}),
    "cut off": (CUT, {}),
    "within the step": ({**CUT, "autoreset_mode": "SameStep"}, {}),
    "colours": ({**CUT, "observation": "rgb"}, {"grayscale": False}),
    "whole colours": (
        {**CUT, "observation": "rgb", "size": None, "stack_num": 1},
        {"grayscale": False, "img_height": 210, "img_width": 160},
    ),
    "whole grey": ({**CUT, "size": None, "stack_num": 2}, {"img_height": 210, "img_width": 160}),
    "the last frame": ({**CUT, "pool": "last"}, {"maxpool": False}),
    "each frame": ({**CUT, "pool": "last", "frameskip": 1, "use_fire_reset": True}, {"maxpool": False}),
    "sticky, all actions": (
        {**CUT, "repeat_action_probability": 0.25, "full_action_space": True, "frameskip": 3, "stack_num": 3},
        {},
    ),
    "small": ({**CUT, "size": 42, "noop_max": 0}, {"img_height": 42, "img_width": 42}),
}


def made(game="pong", num_envs=3, **rules):
    return gymnasium.make_vec(f"ga3c/{display_name(game)}-v0", num_envs=num_envs, **rules)


def played(envs, steps: int, seed: int = 0) -> list:
    """Returns copies of all that is said in steps with random actions."""
    random, said = np.random.default_rng(seed), []
    for _ in range(steps):
        *parts, info = envs.step(random.integers(envs.single_action_space.n, size=envs.num_envs))
        said += [part.copy() for part in parts] + [info["lives"]]
    return said


def assert_same(one: list, other: list) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


FOR_BOTH = {"colours", "whole grey", "sticky, all actions"}
COMPARED = [("breakout", rules) for rules in RULES]
COMPARED += [("ms_pacman", rules) if rules in FOR_BOTH else long("ms_pacman", rules) for rules in RULES]


@pytest.mark.parametrize(("game", "rules"), COMPARED)
def test_it_says_what_ale_pys_vector_environment_says(game, rules):
    ours, names = RULES[rules]
    envs = made(game, threads=2, **ours)
    theirs = {name: value for name, value in ours.items() if name not in ("observation", "size", "pool")}
    ale = AleVectorEnv(
        game, 3, **({"use_fire_reset": False, "reward_clipping": False, "num_threads": 1} | theirs | names)
    )
    assert (envs.observation_space, envs.action_space) == (ale.observation_space, ale.action_space)
    for seed in (5, 9):  # the second time in consoles that have played
        np.testing.assert_array_equal(envs.reset(seed=seed)[0], ale.reset(seed=seed)[0])
        assert_same(played(envs, 60), played(ale, 60))
    mask = np.array([False, True, False])
    np.testing.assert_array_equal(*(one.reset(options={"reset_mask": mask})[0] for one in (envs, ale)))
    assert_same(played(envs, 20), played(ale, 20))
    ale.close()
    ale.ale = None


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_game_begins_anew_as_gymnasiums_own_environments_do_it(mode):
    """In the next step, in the same one, or when it is asked for."""
    envs, wanted = made(num_envs=2, autoreset_mode=mode, **CUT), []
    assert envs.metadata["autoreset_mode"] is mode
    envs.reset(seed=1)
    for _ in range(25):
        observations, _, _, over, info = envs.step(np.zeros(2, int))
        assert not over.any()
        assert not wanted
    observations, rewards, terminated, over, info = envs.step(np.zeros(2, int))
    assert over.all()
    assert not terminated.any()
    alone = made(num_envs=2, autoreset_mode="Disabled", **CUT)
    alone.reset(seed=1)
    last = [alone.step(np.zeros(2, int)) for _ in range(26)][-1][0]
    first = alone.reset()[0]
    if mode is AutoresetMode.SAME_STEP:
        assert_same([observations, np.stack(info["final_obs"])], [first, last])
        assert info["_final_obs"].all()
        assert info["final_info"]["lives"].shape == (2,)
        return
    assert "final_obs" not in info
    np.testing.assert_array_equal(observations, last)
    if mode is AutoresetMode.NEXT_STEP:
        observations, rewards, terminated, over, _ = envs.step(np.ones(2, int))
        assert_same([observations, rewards, over], [first, np.zeros(2), np.zeros(2, bool)])
        return
    with pytest.raises(ResetNeeded, match=r"Game 0 has ended"):
        envs.step(np.zeros(2, int))
    envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded, match=r"Game 1 has ended"):
        envs.step(np.zeros(2, int))
    envs.reset(options={"reset_mask": np.array([False, True])})
    assert_same(played(envs, 5), played(alone, 5))


@pytest.mark.parametrize("observation", ["grey", "rgb", "ram"])
def test_gymnasium_finds_all_that_a_vector_environment_has(observation):
    envs = made(num_envs=4, observation=observation, render_mode="rgb_array", **CUT)
    assert (envs.num_envs, envs.render_mode, envs.spec.id) == (4, "rgb_array", "ga3c/Pong-v0")
    assert envs.render_mode in envs.metadata["render_modes"]
    assert envs.metadata["render_fps"] == 15
    observations, info = envs.reset(seed=3)
    for _ in range(60):
        assert observations in envs.observation_space
        assert observations[0] in envs.single_observation_space
        kept = observations.copy()
        actions = envs.action_space.sample()
        new, rewards, terminated, truncated, info = envs.step(actions)
        np.testing.assert_array_equal(observations, kept)  # a step makes new arrays
        assert [one.dtype for one in (rewards, terminated, truncated)] == [np.float64, bool, bool]
        assert {one.shape for one in (rewards, terminated, truncated, info["lives"], info["_lives"])} == {(4,)}
        observations = new
    pictures = envs.render()
    assert [(one.shape, one.dtype) for one in pictures] == [((210, 160, 3), np.uint8)] * 4
    again = gymnasium.make_vec(envs.spec)
    assert (again.num_envs, again.observation_space) == (4, envs.observation_space)


def test_gymnasiums_wrappers_work():
    envs = wrappers.DictInfoToList(wrappers.RecordEpisodeStatistics(made(autoreset_mode="SameStep", **CUT)))
    envs.reset(seed=1)
    infos = [envs.step(envs.action_space.sample())[-1] for _ in range(27)]
    assert infos[0][0] == {"lives": 0}
    (ended,) = [info for info in infos if "episode" in info[0]]
    assert {"lives", "final_obs", "final_info", "episode"} <= set(ended[1])


def test_seeds():
    """Game n of seed s is that of seed s + n; None goes on; the same seed begins the same games again."""
    envs, other = made(), made(num_envs=1)
    first = envs.reset(seed=7)[0], *played(envs, 40)
    assert_same(list(first), [envs.reset(seed=7)[0], *played(envs, 40)])
    for number in range(3):
        np.testing.assert_array_equal(other.reset(seed=7 + number)[0][0], first[0][number])
    np.testing.assert_array_equal(envs.reset(seed=[9, None, 7])[0][2], first[0][0])
    without_seeds = [made(num_envs=40) for _ in range(2)]
    for one in without_seeds:
        one.reset()
    assert (without_seeds[0].ram != without_seeds[1].ram).any()  # the pictures of most beginnings are equal


@pytest.mark.parametrize("rules", [{}, {"observation": "rgb", "autoreset_mode": "SameStep"}])
def test_one_thread_and_eight_play_the_same(rules):
    said = []
    for threads in (1, 8):
        envs = made("breakout", num_envs=21, threads=threads, **CUT, **rules)
        said.append([envs.reset(seed=1)[0], *played(envs, 60)])
        envs.close()
    assert_same(*said)


def test_threads_end_with_their_environment():
    def files() -> int:
        return len(os.listdir("/proc/self/fd"))

    made(num_envs=8, threads=1)
    before = threading.active_count(), files()
    for _ in range(5):
        envs = made(num_envs=8, threads=8)
        envs.reset()
        assert threading.active_count() == before[0] + 7
        envs.close()
        envs.close()
    made(num_envs=8, threads=8).reset()
    assert (threading.active_count(), files()) == before


def test_a_forked_process_plays_on_without_its_threads():
    code = """import os, numpy as np, gymnasium, ga3c.atari
envs = gymnasium.make_vec("ga3c/Pong-v0", num_envs=8, threads=4)
envs.reset(seed=1)
child = os.fork()
for _ in range(20): envs.step(np.ones(8, int))
os.write(1, f"{envs.ram.sum()}\\n".encode())  # in one piece: both write to the same pipe
if not child: os._exit(0)
os.waitpid(child, 0)"""
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=HANG_SECONDS
    )
    assert len(set(said.stdout.split())) == 1 != len(said.stdout.split())


@pytest.mark.parametrize(
    ("game", "rules"),
    [
        ("pong", {}),
        long("breakout", {"repeat_action_probability": 0.25}),
        ("seaquest", {"observation": "rgb", "stack_num": 2}),
        ("ms_pacman", {"observation": "ram"}),
        long("ice_hockey", {"size": None, "pool": "mean"}),
        ("riverraid", {"frameskip": 1, "autoreset_mode": "SameStep"}),
        long("montezuma_revenge", {}),
        long("battle_zone", {"frameskip": 2}),
        long("kung_fu_master", {"size": 42}),
        ("qbert", {"full_action_space": True}),
    ],
)
def test_from_a_state_that_was_cloned_the_future_is_the_same(game, rules):
    """In another environment, which has played other games, and with other numbers of games."""
    assert returns(game, rules, saves=30) == 30


def returns(game: str, rules: dict, saves: int) -> int:
    """Saves random games of a batch at random times, and returns to each of them. Returns how many went on the same."""
    envs, other = made(game, num_envs=5, **CUT, **rules), made(game, num_envs=4, **CUT, **rules)
    random, same = np.random.default_rng(1), 0
    envs.reset(seed=2), other.reset(seed=50)
    while same < saves:
        played(envs, int(random.integers(1, 12)), seed=int(random.integers(99)))
        games = random.permutation(5)[:3]
        states, targets = envs.clone(games), random.permutation(4)[:3]
        actions = random.integers(envs.single_action_space.n, size=(int(random.integers(1, 40)), 5))
        expected = [envs.step(one) for one in actions]
        other.restore(targets, states)
        for chosen, said in zip(actions, expected, strict=True):
            now = np.zeros(4, int)
            now[targets] = chosen[games]
            for mine, theirs in zip(other.step(now)[:4], said[:4], strict=True):
                np.testing.assert_array_equal(mine[targets], theirs[games])
        assert other.clone(targets) == envs.clone(games)
        same += 3
    return same


def test_a_restored_game_shows_what_it_showed():
    envs = made(num_envs=2)
    envs.reset(seed=1)
    shown = played(envs, 30)[-5]
    states = envs.clone()
    played(envs, 30)
    np.testing.assert_array_equal(envs.restore([1, 0], states)[0], shown[::-1])


def test_another_process_goes_on_from_a_state():
    code = """import sys, numpy as np, gymnasium, ga3c.atari
envs = gymnasium.make_vec("ga3c/Breakout-v0", num_envs=2, repeat_action_probability=0.25)
envs.reset()
envs.restore([1], [sys.stdin.buffer.read()])
for action in range(40): observations = envs.step(np.full(2, action % 4))[0]
sys.stdout.buffer.write(observations[1].tobytes())"""
    envs = made("breakout", num_envs=1, repeat_action_probability=0.25)
    envs.reset(seed=1)
    played(envs, 50)
    (state,) = envs.clone()
    for action in range(40):
        observations = envs.step(np.full(1, action % 4))[0]
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=state, capture_output=True, check=True, timeout=HANG_SECONDS
    )
    assert said.stdout == observations.tobytes()


def changed(state: bytes, at: int) -> bytes:
    return state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]


@pytest.mark.parametrize(
    ("harm", "line"),
    [
        (lambda state: changed(state, 3), "This is no state of this game"),
        (lambda state: changed(state, len(state) // 2), "The state is damaged"),
        (lambda state: changed(state, 17), "The state is damaged"),
        (lambda state: state[:-5], "The state is damaged"),
        (lambda state: b"", "This is no state of this game"),
        (lambda state: "text", "This is no state of this game"),
    ],
)
def test_what_is_no_state_is_refused_and_changes_nothing(harm, line):
    envs = made(num_envs=2)
    envs.reset(seed=1)
    states = envs.clone()
    with pytest.raises(ValueError, match=line):
        envs.restore([0, 1], [states[0], harm(states[1])])
    assert envs.clone() == states


def test_a_state_that_cannot_be_is_refused(monkeypatch):
    envs = made(num_envs=1)
    envs.reset(seed=1)
    before = envs.clone()
    envs.batch.consoles.turns[0] = 2
    (impossible,) = envs.clone()
    envs.restore([0], before)
    envs.batch.chance.no_ops[0] = 30  # with noop_max 30 there are 29 at the most
    (too_many,) = envs.clone()
    envs.restore([0], before)
    for state, said in ((impossible, "there can be none such"), (too_many, "more frames without action")):
        with pytest.raises(ValueError, match=said):
            envs.restore([0], [state])
    assert envs.clone() == before


def test_states_of_other_games_and_observations_are_refused():
    envs = made(num_envs=1)
    envs.reset()
    others = {"size": 42}, {"observation": "rgb"}, {"noop_max": 0}
    for other in (made("boxing", num_envs=1), *(made(num_envs=1, **rules) for rules in others)):
        other.reset()
        with pytest.raises(ValueError, match="This is no state of this game"):
            envs.restore([0], other.clone())


def test_numbers_of_numpy_are_numbers():
    envs = made(num_envs=np.int64(2), size=np.int32(42), repeat_action_probability=np.float32(0.25))
    assert envs.reset(seed=np.array([1, 2]))[0].shape == (2, 4, 42, 42)
    same = made(num_envs=2, size=42, repeat_action_probability=0.25)
    same.reset(seed=3)
    same.restore([0, 1], envs.clone())
    whole, real = (made(num_envs=1, repeat_action_probability=never) for never in (0, 0.0))
    for one in (whole, real):
        one.reset(seed=1)
    real.restore([0], whole.clone())
    for seed in ([1.5, 2.5], ["a", "b"]):
        with pytest.raises(ValueError, match="seed="):
            envs.reset(seed=seed)


def test_where_no_more_files_may_be_opened_a_line_says_so(monkeypatch):
    opened, pipe = [], os.pipe

    def few():
        if len(opened) == 2:
            raise OSError(24, "Too many open files")
        opened.append(pipe())
        return opened[-1]

    monkeypatch.setattr(os, "pipe", few)
    with pytest.raises(ValueError, match=r"Too many open files.*use fewer threads"):
        made(num_envs=8, threads=8)
    for end in (end for ends in opened for end in ends):
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(end)


def test_memory_is_read_and_written():
    envs = made("breakout", num_envs=3, observation="ram")
    observations, _ = envs.reset(seed=1)
    np.testing.assert_array_equal(envs.ram, observations)
    envs.ram[1, 57] = 1  # Breakout's lives
    info = envs.step(np.zeros(3, int))[4]
    assert info["lives"].tolist() == [5, 1, 5]
    envs.ram = observations
    np.testing.assert_array_equal(envs.ram, observations)
    with pytest.raises(ValueError, match=r"ram: give an array uint8 \[3, 128\]"):
        envs.ram = observations.astype(int)


IN_MEMORY = ["pong", "seaquest", "ms_pacman", "kung_fu_master", "robotank"]


@pytest.mark.parametrize("game", variants(IN_MEMORY, "pong", "robotank"))
def test_memory_alone_is_played_without_pictures(game):
    """As with them: collisions are found in frames that nobody draws."""
    rules = {"observation": "ram", "repeat_action_probability": 0.25, **CUT}
    unseen, seen = made(game, **rules), made(game, **rules, render_mode="rgb_array")
    assert unseen.batch.consoles.pictures.size == unseen.batch.consoles.seen.size == 0
    np.testing.assert_array_equal(*(envs.reset(seed=1)[0] for envs in (unseen, seen)))
    assert_same(played(unseen, 300), played(seen, 300))
    assert all(picture.any() for picture in seen.render())
    with pytest.raises(ValueError, match="This is no state of this game, with these observations"):
        seen.restore([0], unseen.clone([0]))


def test_the_mean_of_two_frames_lies_between_them():
    shown = {}
    for pool in ("max", "mean", "last"):
        envs = made("asteroids", num_envs=2, pool=pool, size=None, stack_num=1)
        envs.reset(seed=1)
        shown[pool] = np.stack(played(envs, 30)[::5]).astype(int)
    assert (shown["mean"] <= shown["max"]).all()
    assert (shown["mean"] < shown["max"]).any()  # objects flicker
    assert (shown["mean"] >= shown["last"] // 2).all()


WRONG = {
    "game": ({"game": "Pnog"}, ValueError, "Unknown game 'Pnog'. Nearest: pong"),
    "none": ({"num_envs": 0}, ValueError, "num_envs=0: give a whole number from 1 to 100,000"),
    "too many": ({"num_envs": 100_001}, ValueError, "num_envs=100001"),
    "a part of a game": ({"num_envs": 2.0}, ValueError, "num_envs=2.0"),
    "an unknown argument": ({"frame_skip": 4}, TypeError, "no argument 'frame_skip'. Nearest: frameskip"),
    "autoreset": ({"autoreset_mode": "never"}, ValueError, "autoreset_mode='never': give an AutoresetMode, or one of"),
    "observation": ({"observation": "gray"}, ValueError, "observation='gray': choose one of 'grey', 'rgb', 'ram'"),
    "size": ({"size": 200}, ValueError, "size=200: give a whole number from 11 to 160"),
    "stack": ({"stack_num": 0}, ValueError, "stack_num=0"),
    "skip": ({"frameskip": (2, 5)}, ValueError, "frameskip="),
    "pool": ({"pool": "min"}, ValueError, "pool='min'"),
    "no-ops": ({"noop_max": -1}, ValueError, "noop_max=-1"),
    "sticky": ({"repeat_action_probability": 1.5}, ValueError, "repeat_action_probability=1.5: give a number from 0"),
    "actions": ({"full_action_space": "yes"}, ValueError, "full_action_space='yes': give True or False"),
    "limit": ({"max_num_frames_per_episode": 0}, ValueError, "max_num_frames_per_episode=0"),
    "threads": ({"threads": -1}, ValueError, "threads=-1"),
    "a mode": ({"mode": 2}, ValueError, "mode=2: pong has the modes 0, 1."),
    "the only mode": ({"game": "boxing", "mode": 1}, ValueError, "mode=1: boxing has one mode alone: give None"),
    "difficulty": ({"difficulty": 4}, ValueError, "difficulty=4: pong has 0, 1, 2, 3."),
    "device": ({"device": "tpu"}, ValueError, "device='tpu': give 'cpu' or 'cuda'"),
    "a GPU's view": ({"device": "cuda", "size": None}, ValueError, "'cuda' is not possible: on the GPU observations"),
    "a GPU's game": ({"device": "cuda", "game": "ice_hockey"}, ValueError, "depends on the game before it"),
    "render": ({"render_mode": "human"}, ValueError, "render_mode='human': give 'rgb_array' or None"),
}


@pytest.mark.parametrize(("arguments", "kind", "line"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_one_clear_exception(arguments, kind, line):
    with pytest.raises(kind) as caught:
        ga3c.atari.AtariVectorEnv(**({"game": "pong"} | arguments))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_call_is_one_clear_exception():
    envs = made(num_envs=2)
    for call in (lambda: envs.step([0, 0]), envs.clone, lambda: envs.restore([], [])):
        with pytest.raises(ResetNeeded, match=r"Call reset\(\) before"):
            call()
    with pytest.raises(ResetNeeded, match="The first reset begins all games"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset()
    states = envs.clone()
    wrong = {
        "actions: give 2 whole": [lambda: envs.step([0]), lambda: envs.step([0.0, 1.0]), lambda: envs.step(3)],
        "actions: they go from 0 to 5": [lambda: envs.step([0, 6]), lambda: envs.step([-1, 0])],
        "seed=": [lambda: envs.reset(seed=-1), lambda: envs.reset(seed=[1]), lambda: envs.reset(seed="a")],
        "reset_mask: give": [
            lambda: envs.reset(options={"reset_mask": [True, False]}),
            lambda: envs.reset(options={"reset_mask": np.array([1, 0])}),
            lambda: envs.reset(options={"reset_mask": np.zeros(2, bool)}),
        ],
        "Unknown option 'mask'": [lambda: envs.reset(options={"mask": None})],
        "envs: give a list": [lambda: envs.clone([2]), lambda: envs.clone([-1]), lambda: envs.clone(0)],
        "envs: a game is named twice": [lambda: envs.restore([0, 0], states)],
        "states: give 2": [lambda: envs.restore([0, 1], states[:1])],
        "states: give 1": [lambda: envs.restore([0], states[0])],
    }
    for line, calls in wrong.items():
        for call in calls:
            with pytest.raises(ValueError, match=line):
                call()
    envs.close()
    for call in (envs.reset, lambda: envs.step([0, 0]), envs.clone):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_names():
    assert {f"ga3c/{display_name(game)}-v0" for game in GAME_NAMES} <= set(gymnasium.registry)
    for name in ("ms_pacman", "MsPacman", "mspacman"):
        assert ga3c.atari.AtariVectorEnv(name).spec is None
    assert gymnasium.make_vec("ga3c.atari:ga3c/Boxing-v0").num_envs == 1
    assert gymnasium.make_vec("ga3c/Boxing-v0").unwrapped.action_names[:2] == ["NOOP", "FIRE"]


def test_what_the_page_says_runs():
    page = (ROOT / "ga3c" / "atari" / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    known = {}
    for block in blocks[:2]:  # the third needs a GPU
        exec(block, known)  # one goes on where the other ended
    assert len(blocks) == 3
    assert known["observations"].shape == (64, 4, 84, 84)


def test_it_loads_no_tensorflow():
    code = """import sys, ga3c; print("gymnasium" in sys.modules)
ga3c.atari; import gymnasium; print("numba" in sys.modules)
envs = gymnasium.make_vec("ga3c/Pong-v0", num_envs=2)
envs.reset(); envs.step([0, 1]); envs.restore([0, 1], envs.clone())
print({"tensorflow", "keras", "torch"} & set(sys.modules))"""
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=HANG_SECONDS
    )
    assert said.stdout == "False\nFalse\nset()\n"


@pytest.mark.long
def test_the_first_key_of_montezumas_revenge_is_found():
    assert first_key.find(seed=0) == (104_448, 178)  # as the page says
