"""Names of games, and real games."""

import itertools
import json
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from PIL import Image

from ga3c import environments
from ga3c.environments import atari, own_games
from ga3c.environments.game_fault import GameFault
from ga3c.environments.gymnasium import GymnasiumEnvironments
from ga3c.environments.human_scores import RANDOM_AND_HUMAN_SCORES
from ga3c.errors import ConfigError
from ga3c.experiments.evaluation import play_games
from ga3c.play.playing import Stage
from ga3c.rollout import EnvironmentSpec, continuous, discrete
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from tests import program
from tests.tiny_environment import Match

SPELLINGS = {
    "ms_pacman": ["ms_pacman", "MsPacman", "mspacman", "Ms. Pac-Man", "ALE/MsPacman-v5", "MsPacman-v4"],
    "up_n_down": ["UpNDown", "up_n_down", "up n down", "ALE/UpNDown-v5", "UpNDown-v4"],
    "pong": ["Pong", "PONG", "Pong-v0", "Pong-v4", "Pong-v5", "PongNoFrameskip-v4", "PongDeterministic-v4"],
    "qbert": ["Q*bert", "Qbert", "ALE/Qbert-v5"],
}


@pytest.mark.parametrize(("rom", "name"), [(rom, name) for rom, names in SPELLINGS.items() for name in names])
def test_usual_spellings(rom, name):
    assert environments.resolve(name) == ("atari", rom)


def test_every_game_by_its_names():
    roms = atari.rom_names()
    assert len(roms) > 100
    for rom in roms:
        shown = atari.display_name(rom)
        assert {environments.resolve(name) for name in (rom, shown, f"ALE/{shown}-v5")} == {("atari", rom)}
    assert set(RANDOM_AND_HUMAN_SCORES) <= set(roms)


def test_games_that_the_emulator_cannot_start_are_not_offered():
    """It ends the process when it loads one of these, which are for two players."""
    for rom in ("combat", "joust", "maze_craze", "warlords"):
        with pytest.raises(ConfigError):
            environments.resolve(rom)


NEAREST = {"Pogn": "Pong", "ALE/Breakot-v5": "Breakout", "CartPole-v9": "CartPole-v1", "xyzzy": "", "": ""}


@pytest.mark.parametrize("name", NEAREST)
def test_an_unknown_name_is_told_its_nearest(name):
    with pytest.raises(ConfigError, match=f"Unknown game '{name}'.*{NEAREST[name]}"):
        environments.resolve(name)


def test_gymnasium_ids():
    for name in ("CartPole-v1", "FrozenLake-v1", "tests.tiny_environment:Match-v0"):
        assert environments.resolve(name) == ("gymnasium", name)
    assert environments.resolve("no_such_module:Foo-v0") == ("gymnasium", "no_such_module:Foo-v0")
    with pytest.raises(ConfigError, match="Cannot import 'no_such_module'"):
        own_games.import_named("no_such_module:Foo-v0")
    with pytest.raises(ConfigError, match="registered no environment 'Foo-v0'"):
        own_games.import_named("math:Foo-v0")


NO_NAMES = [":Foo-v0", ".relative:Foo-v0", "a:", "a:b:c", "a b:C", "a:../b", "a:\ud800", "\ud800", "a\0b", "a\nb"]
NO_NAMES += ["a\x1b[2J", "a" * 10**6, "a:" + "b" * 10**6, "a." * 10**6 + "a:B"]


@pytest.mark.parametrize("name", NO_NAMES, ids=lambda name: ascii(name[:10]))
def test_what_can_be_no_name_is_said_in_a_line(name):
    with pytest.raises(ConfigError) as refused:
        environments.resolve(name)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


def test_what_is_noted_of_games_of_ones_own(tmp_path, monkeypatch):
    """Where they were found, also if the file is damaged or cannot be written; nothing of it is below a run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    places = [tmp_path / "first", tmp_path / "second"]
    for place in (*places, places[1]):
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        own_games.note("a.b:C-v0", own_games.here())
        own_games.note("CartPole-v1", own_games.here())
    file = tmp_path / "ga3c" / "games.jsonl"
    assert [json.loads(line) for line in file.read_text().splitlines()] == [["a.b:C-v0", str(p)] for p in places]
    damages = b'\xff\n["a.b:C-v0"]\n["a.b:D-v0", "relative"]\n[[]]\n9\n["a.b:D-v0", 5]\n'
    file.write_bytes(damages + file.read_bytes()[:-9])
    with pytest.raises(ConfigError, match=r"run is of the game 'a.b:D-v0': .* Add --trust"):
        own_games.import_of_run("a.b:D-v0", "run", trusted=False)
    with pytest.raises(ConfigError, match=r"Cannot import 'a\.b'"):  # it may be imported; there is none
        own_games.import_of_run("a.b:C-v0", "run", trusted=False)
    for home in ("/dev/null/nowhere", "here"):
        monkeypatch.setenv("XDG_STATE_HOME", home)
        monkeypatch.setenv("HOME", home)
        own_games.note("a.b:C-v0", own_games.here())
        with pytest.raises(ConfigError, match="Add --trust"):
            own_games.import_of_run("a.b:C-v0", "run", trusted=False)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["first", "ga3c", "games.jsonl", "second"]


def play(game, steps, seed=1, count=2, threads=1, **settings):
    """What `step` returned in `steps` random steps, the same in each copy: arrays [time, env, ...]."""
    games = environments.make(EnvironmentSettings(game=game, **settings), count, seed, threads)
    rng, rows = np.random.default_rng(0), []
    first = games.reset()
    assert first.shape == (count, *games.spec.observation_shape)
    assert first.dtype == games.spec.observation_dtype
    for _ in range(steps):
        observations, *rest = games.step(np.full(count, rng.integers(games.spec.actions.count), np.int32))
        rows.append((observations.copy(), *rest))
    games.close()
    return [np.stack(column) for column in zip(*rows, strict=True)]


def test_atari_is_a_function_of_seed_and_actions():
    first, again, other = play("pong", 60), play("pong", 60, threads=2), play("pong", 60, seed=9)
    assert first[0].shape == (60, 2, 84, 84, 4)
    assert first[0].dtype == np.uint8
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[0][:, 0], first[0][:, 1])  # the copies have seeds of their own
    np.testing.assert_array_equal(first[0][1:, ..., :-1], first[0][:-1, ..., 1:])  # the newest frame is the last


def test_rewards_are_the_true_ones():
    assert play("ms_pacman", 150, reward_clip=1.0)[1].max() >= 10


def test_the_cap_truncates():
    _, _, terminated, truncated, _ = play("pong", 60, episode_cap_frames=100)
    assert not terminated.any()
    # 25 steps of 4 frames, then one that restarts
    np.testing.assert_array_equal(np.flatnonzero(truncated[:, 0]), [24, 50])


def test_a_lost_life_is_flagged_and_the_game_goes_on():
    breakout = {"game": "breakout", "steps": 300, "count": 1, "fire_reset": True}
    _, _, terminated, _, life_lost = play(**breakout, life_loss_terminates=True)
    ends = np.flatnonzero(terminated)
    assert len(ends) >= 1
    assert life_lost[: ends[0] + 1].sum() == 5  # all lives of the first game
    assert not (life_lost & terminated)[: ends[0]].any()
    assert not play(**breakout, life_loss_terminates=False)[4].any()


def test_machado_has_all_actions_and_sticky_ones():
    settings = with_presets(Settings(), None, "machado").environment
    games = environments.make(settings, 1, 0)
    assert games.spec.actions == discrete(18)
    games.close()
    plain, sticky = (play("pong", 60, no_op_max_steps=0, sticky_action_probability=p)[0] for p in (0.0, 0.25))
    assert not np.array_equal(plain, sticky)


@pytest.mark.parametrize("game", ["breakout", "ms_pacman"])
def test_the_screen_shows_the_game_that_is_played(game):
    """What moves in it is what moves in the network's view: at every step, after a restart too."""
    settings = EnvironmentSettings(game=game, sticky_action_probability=0.25)
    games, screen = environments.make(settings, 1, 7), atari.AtariScreen(game, settings, 7)
    rng, views, pictures, ends = np.random.default_rng(3), [games.reset()[0, ..., -1].copy()], [screen.reset()[0]], []
    assert pictures[0].shape == (210, 160, 3)
    while not ends or len(views) < ends[0] + 100:
        action = rng.integers(games.spec.actions.count)
        observations, _, terminated, truncated, _ = games.step(np.array([action]))
        views.append(observations[0, ..., -1].copy())
        pictures.append(screen.step(np.array([action]))[0])
        if terminated[0] or truncated[0]:
            ends.append(len(views))
    grey = [Image.fromarray(p).convert("L").resize((84, 84), Image.Resampling.BOX) for p in pictures]
    view, picture = (np.stack(frames).reshape(len(views), -1).astype(float) for frames in (views, grey))
    view, picture = view - view.mean(axis=0), picture - picture.mean(axis=0)
    alike = (view * picture).sum(axis=1) / np.linalg.norm(view, axis=1) / np.linalg.norm(picture, axis=1)
    assert alike.min() > 0.9


def test_gymnasium_restarts_in_the_step_after_the_end():
    games = GymnasiumEnvironments("CartPole-v1", EnvironmentSettings(), count=2, seed=3)
    assert games.spec == EnvironmentSpec("CartPole-v1", (4,), "float32", discrete(2), 1)
    first = games.reset()
    np.testing.assert_array_equal(first, games.reset())
    assert not np.array_equal(first[0], first[1])
    for _ in range(50):
        observations, rewards, terminated, truncated, life_lost = games.step(np.array([1, 0]))
        assert observations.dtype == np.float32
        if terminated[0]:
            break
    assert abs(observations[0, 2]) > 0.2  # the last state of the game: the pole has fallen
    assert rewards[0] == 1
    observations, rewards, terminated, truncated, life_lost = games.step(np.array([1, 0]))
    assert abs(observations[0]).max() < 0.05  # a first state, whatever the action was
    assert not any([rewards[0], terminated[0], truncated[0], life_lost.any()])
    games.close()


@pytest.mark.parametrize(("game", "most"), [("Breakout", 400), ("CartPole-v1", 100)])
def test_one_game_starts_anew_and_the_others_stay_as_they_are(game, most):
    games, random = environments.make(EnvironmentSettings(game=game), 3, 1), np.random.default_rng(1)
    first = games.reset().copy()
    for _ in range(most):
        before, _, terminated, truncated, life_lost = games.step(games.spec.actions.random(random, 3))
        which = terminated | truncated
        if which.any() and not which.all():
            break
    before, after = before.copy(), games.restart(which).copy()
    np.testing.assert_array_equal(after[~which], before[~which])
    assert (after[which] != before[which]).any()
    following, _, terminated, _, life_lost = games.step(np.zeros(3, np.int64))
    assert not life_lost[which].any()
    assert not terminated[which].any()
    if game == "CartPole-v1":  # a restart would not have moved it by its speed
        np.testing.assert_allclose(following[:, 0], after[:, 0] + 0.02 * after[:, 1], atol=1e-6)
    assert first.shape == after.shape
    games.close()


def test_gymnasium_states_that_are_numbers_become_vectors():
    games = environments.make(EnvironmentSettings(game="FrozenLake-v1"), 2, 0)
    assert games.spec == EnvironmentSpec("FrozenLake-v1", (16,), "float32", discrete(4), 1)
    np.testing.assert_array_equal(games.reset(), np.eye(16)[[0, 0]])
    for _ in range(20):
        observations = games.step(np.array([2, 1]))[0]
        np.testing.assert_array_equal(np.sort(observations, axis=1), np.eye(16)[[15, 15]])
    games.close()


class Shifted(Match):
    """Its actions are 3, 4, 5 and 6."""

    action_space = gymnasium.spaces.Discrete(4, start=3)

    def step(self, action):
        return super().step(action - 3)


gymnasium.register("Shifted-v0", Shifted)


@pytest.mark.parametrize("game", ["tests.tiny_environment:Match-v0", f"{__name__}:Shifted-v0"])
def test_a_game_of_ones_own(game):
    games = environments.make(EnvironmentSettings(game=game), 3, 0)
    assert (games.spec.name, games.spec.actions) == (game.partition(":")[2], discrete(4))
    states = games.reset()
    for _ in range(20):
        states, rewards, *_ = games.step(states.argmax(axis=1))
        np.testing.assert_array_equal(rewards, 1)
    games.close()


def test_info_is_nobodys_business():
    """Whatever it holds, it goes no further than the copy that returned it."""
    games = environments.make(EnvironmentSettings(game="tests.tiny_environment:Talking-v0"), 4, 0)
    states = games.reset()
    for _ in range(50):
        states, rewards, *_ = games.step(states.argmax(axis=1))
        assert games.env.step(states.argmax(axis=1))[4] == {}
        states = games.restart(np.array([True, False, False, True]))
        assert rewards.max() <= 1
    games.close()


class Seen(Match):
    """Shows nothing of what a network sees, but its space; its picture grows."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, space=Match.observation_space, render_mode=None):
        self.observation_space, self.render_mode = space, render_mode

    def render(self):
        picture = np.zeros((4 + 2 * self._step, 6, 3), np.uint8)
        picture[: len(picture) // 2] = 255
        return picture


gymnasium.register("Seen-v0", Seen)


@pytest.mark.parametrize(
    ("space", "says"),
    [
        (gymnasium.spaces.Box(-1, 1, (0,)), "holds no number"),
        (gymnasium.spaces.Box(0, 255, (0, 8, 3), np.uint8), "holds no number"),
        (gymnasium.spaces.Discrete(2_000_000), "2,000,000 numbers .* 500,000 at the most"),
        (gymnasium.spaces.Sequence(gymnasium.spaces.Discrete(2)), "no fixed size"),
        (gymnasium.spaces.Dict(a=gymnasium.spaces.Graph(gymnasium.spaces.Discrete(2), None)), "no fixed size"),
    ],
)
def test_observation_spaces_that_no_network_can_take_are_refused(space, says):
    gymnasium.register("Unseen-v0", Seen, kwargs={"space": space})
    with pytest.raises(ConfigError, match=f"Unseen-v0' has the observation space .*{says}"):
        environments.make(EnvironmentSettings(game=f"{__name__}:Unseen-v0"), 1, 0)
    del gymnasium.registry["Unseen-v0"]


def test_pictures_keep_the_size_of_the_first():
    games = GymnasiumEnvironments(f"{__name__}:Seen-v0", EnvironmentSettings(), 2, 0, render_mode="rgb_array")
    games.reset()
    for step in range(5):
        assert games.pictures().shape == (2, 4, 6, 3)
        np.testing.assert_array_equal(games.pictures()[:, :, 0, 0], [[255, 255, 0, 0]] * 2)
        games.step(np.zeros(2, int))
        if step == 1:
            games.restart(np.array([True, False]))  # the two have different sizes
    games.close()


class WantsOptions(Match):
    """Fails where options are there and nothing was asked for."""

    def reset(self, *, seed=None, options=None):
        assert options is None
        return super().reset(seed=seed)


gymnasium.register("WantsOptions-v0", WantsOptions)


def test_a_game_gets_no_options_where_nothing_is_asked_of_it():
    games = environments.make(EnvironmentSettings(game=f"{__name__}:WantsOptions-v0"), 2, 0)
    games.restart(np.array([True, False]))
    for _ in range(21):
        games.step(np.zeros(2, int))
    games.close()


class Former(Match):
    """Has the form of the old Gym, or another mistake: `what` says which."""

    def __init__(self, what: str, render_mode=None):
        self._what = what
        self.observation_space = {
            "whole": gymnasium.spaces.Discrete(4),
            "keys": gymnasium.spaces.Dict(seen=Match.observation_space),
            "parts": gymnasium.spaces.Tuple([Match.observation_space, gymnasium.spaces.MultiBinary(2)]),
        }.get(what, Match.observation_space)
        if what == "seed":
            self.reset = lambda: None

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        if self._what == "own TypeError":
            (lambda: None)(unexpected=2)
        observation = {"whole": 4, "keys": {"else": observation}, "parts": (observation, [0, 2])}.get(
            self._what, observation
        )
        return observation if self._what == "one" else (observation, info)

    def step(self, action):
        result = super().step(action)
        changed = {"four": result[:4], "none": None, "text": (*result[:2], "no", False, {})}
        changed["info too early"] = (*result[:3], {}, False)
        return changed.get(self._what, result)


FORMER = {
    "one": r"reset\(\) returned one value, of type ndarray: Gymnasium wants reset\(self, .*observation, info",
    "seed": r"reset\(\) takes no seed or no options .*: Gymnasium wants reset\(self, ",
    "own TypeError": "TypeError: .* got an unexpected keyword argument 'unexpected'",
    "four": r"step\(\) returned 4 values, as the old Gym did: Gymnasium wants step\(self, .*terminated, truncated",
    "none": r"step\(\) returned one value, of type NoneType: Gymnasium wants step",
    "text": r"step\(\) returned 'no' as terminated, which is not True or False: Gymnasium",
    "info too early": r"step\(\) returned {} as truncated, which is not True or False: Gymnasium",
    "whole": r"reset\(\) returned an observation that is 4, not a whole number from 0 to 3: its observation_space",
    "keys": r"reset\(\) returned an observation that has not just the keys seen",
    "parts": r"reset\(\) returned an observation that is \[0, 2\], not in MultiBinary\(2\)",
}


@pytest.mark.parametrize("limit_steps", [None, 50])
@pytest.mark.parametrize("what", FORMER)
def test_what_has_another_form_than_gymnasiums_is_named_with_what_is_wanted(what, limit_steps):
    gymnasium.register("Former-v0", Former, max_episode_steps=limit_steps, kwargs={"what": what})
    with pytest.raises((ConfigError, GameFault), match=FORMER[what]) as refused:
        environments.make(EnvironmentSettings(game=f"{__name__}:Former-v0"), 1, 0).step(np.zeros(1, int))
    assert "\n" not in str(refused.value)
    del gymnasium.registry["Former-v0"]


def test_observations_outside_their_space_are_said_once_and_taken(capsys):
    narrow = gymnasium.spaces.Box(0.0, 0.5, (4,))
    gymnasium.register("Narrow-v0", Seen, kwargs={"space": narrow})
    games = environments.make(EnvironmentSettings(game=f"{__name__}:Narrow-v0"), 3, 0)
    np.testing.assert_array_equal(games.reset().max(axis=1), 1)
    games.step(np.zeros(3, int))
    games.close()
    (line,) = capsys.readouterr().err.splitlines()
    assert "Narrow-v0' returned an observation outside its observation_space, from reset()" in line
    del gymnasium.registry["Narrow-v0"]


class Odd(Match):
    """With an action space that cannot be learned."""

    def __init__(self, space, render_mode=None):
        self.action_space = space


@pytest.mark.parametrize(
    ("space", "says"),
    [
        (gymnasium.spaces.Box(0, 5, (2,), np.int64), "only Discrete, MultiDiscrete, MultiBinary and boxes of floats"),
        (gymnasium.spaces.Box(-np.inf, 1, (2,)), "actions without bounds"),
    ],
)
def test_action_spaces_that_cannot_be_learned_are_refused(space, says):
    gymnasium.register("Odd-v0", Odd, kwargs={"space": space})
    with pytest.raises(ConfigError, match=says):
        environments.make(EnvironmentSettings(game=f"{__name__}:Odd-v0"), 1, 0)
    del gymnasium.registry["Odd-v0"]


def test_continuous_actions_are_flat_outside_and_within_their_bounds_inside():
    games = environments.make(EnvironmentSettings(game="tests.tiny_environment:Reach-v0"), 3, 0)
    assert games.spec.actions == continuous([-1, -1], [1, 1])
    wanted = (games.reset() - 300) / 100
    _, rewards, *_ = games.step(wanted.astype(np.float32))
    np.testing.assert_allclose(rewards, 0, atol=1e-6)
    wanted = np.array([game.unwrapped._wanted for game in games.env.envs])
    _, rewards, *_ = games.step(np.full((3, 2), 7, np.float32))  # Reach takes none that is out of bounds
    np.testing.assert_allclose(rewards, -((1 - wanted) ** 2).sum(axis=1), rtol=1e-4)
    games.close()


class Mute(BaseException):
    """Does not even say what it is."""

    def __str__(self):
        raise ValueError


class Failing(Match):
    """`when`: the method that raises `what`."""

    closed = 0
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, when: str, what: BaseException, render_mode=None):
        self._when, self._what = when, what
        self._fail("make")

    def _fail(self, now):
        if now == self._when:
            raise self._what

    def reset(self, *, seed=None, options=None):
        self._fail("reset")
        return super().reset(seed=seed)

    def step(self, action):
        self._fail("step")
        return super().step(action)

    def close(self):
        Failing.closed += 1
        self._fail("close")


FAULTS = {"ValueError": ValueError("two\nlines"), "SystemExit": SystemExit(3), "Mute": Mute(), "Exit": GeneratorExit()}
for _when, _name in itertools.product(("make", "reset", "step", "close"), FAULTS):
    gymnasium.register(f"{_name}-in-{_when}-v0", Failing, kwargs={"when": _when, "what": FAULTS[_name]})
gymnasium.register("Stopped-v0", Failing, kwargs={"when": "reset", "what": KeyboardInterrupt()})


def always_first(observations, remembered):
    return np.zeros(len(observations)), np.zeros((len(observations), 4)), np.zeros(len(observations)), remembered


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("when", ["make", "reset", "step"])
def test_whatever_a_game_raises_is_said_in_a_line(when, name):
    settings = EnvironmentSettings(game=f"{__name__}:{name}-in-{when}-v0")
    with pytest.raises(ConfigError) as refused:
        play_games(always_first, settings, 2, 1, False, 50)
    assert f"{name}-in-{when}-v0'" in str(refused.value)
    assert type(FAULTS[name]).__name__ in str(refused.value)
    assert "\n" not in str(refused.value)
    if when == "step":
        stage = Stage(settings, 1, 1)
        with pytest.raises(ConfigError, match="failed: "):
            stage.step(np.zeros(1, int))


@pytest.mark.parametrize("name", FAULTS)
def test_a_game_that_cannot_be_closed_is_no_failure(name):
    before = Failing.closed
    environments.make(EnvironmentSettings(game=f"{__name__}:{name}-in-close-v0"), 3, 0).close()
    assert Failing.closed == before + 3
    with pytest.raises(ConfigError):
        environments.make(EnvironmentSettings(game=f"{__name__}:{name}-in-reset-v0"), 3, 0)
    assert Failing.closed == before + 6


def test_ctrl_c_in_a_games_own_code_is_nothing_of_its_own():
    with pytest.raises(KeyboardInterrupt):
        environments.make(EnvironmentSettings(game=f"{__name__}:Stopped-v0"), 1, 0)


MODULES = {
    "leaves": "import sys; sys.exit(3)",
    "no_python": "def (",
    "mute": "class Mute(BaseException):\n    def __str__(self): raise ValueError\nraise Mute",
    "needs": "import no_such_module",
}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_cannot_be_imported(module, tmp_path, monkeypatch):
    (tmp_path / f"{module}.py").write_text(MODULES[module])
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=f"^Cannot import '{module}' of the game '{module}:X-v0': [^\n]+$"):
        own_games.import_named(f"{module}:X-v0")


@pytest.mark.parametrize("name", ["platform", "sys"])
def test_a_module_that_another_one_hides(name, tmp_path, monkeypatch):
    (tmp_path / f"{name}.py").write_text("it is never read")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=rf"^Importing '{name}' loads .*, which hides {tmp_path}/{name}.py: [^\n]+$"):
        own_games.import_named(f"{name}:My-v0")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("reward", "the reward nan"),
        ("huge", r"the reward 1e\+308"),
        ("number", "not finite"),
        ("shape", r"shape \(2,\), not \(4,\)"),
        ("dtype", "complex"),
    ],
)
def test_what_a_game_must_not_return_is_named(what, says):
    games = environments.make(EnvironmentSettings(game=f"tests.tiny_environment:Strange-{what}-v0"), 2, 0)
    games.reset()
    with pytest.raises(GameFault, match=says):  # noqa: PT012 (any of the steps, but not the reset)
        for _ in range(11):
            games.step(np.zeros(2, int))


@pytest.mark.parametrize("game", ["Pong", "CartPole-v1"])
def test_seeds_may_be_as_large_as_they_get(game):
    games = environments.make(EnvironmentSettings(game=game), 3, seed=2**31 - 2)
    assert len(games.reset()) == 3
    games.close()


def test_a_share_of_the_actions_of_an_evaluation_is_random():
    """In games of 20 steps with 4 actions each, of which the policy knows the right one."""

    def policy(observations, remembered):
        return observations.argmax(axis=1), observations, observations.max(axis=1), remembered

    settings = EnvironmentSettings(game="tests.tiny_environment:Match-v0")
    for greedy in (False, True):
        for exploration in (0.0, 0.4, 1.0):
            scores, _ = play_games(policy, settings, 100, 1, greedy, 50, exploration)
            right = 1 - 0.75 * exploration
            assert abs(np.mean(scores) / 20 - right) <= 4 * np.sqrt(right * (1 - right) / 2000)
    assert scores == play_games(policy, settings, 100, 1, greedy, 50, exploration)[0]


def test_games_on_ales_emulator_leave_no_complaint_at_the_end_of_the_program():
    """What is in a cycle when TensorFlow is loaded is there until the end (`devices.device` freezes it)."""
    code = """
import gc
from ga3c import environments
from ga3c.settings.game import EnvironmentSettings
games = environments.make(EnvironmentSettings(game="Pong", emulator="ale"), 1, 0)
games.itself = games
gc.freeze()
games.close()
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=program.ROOT, capture_output=True, text=True, check=True)
    assert ended.stderr == ""


def test_an_evaluation_says_how_far_its_games_are(monkeypatch, capsys):
    """Pong takes longer than these steps; the first eight of the games are over before the last one begins."""
    monkeypatch.setattr("ga3c.experiments.evaluation.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr("ga3c.experiments.evaluation.AT_ONCE", 8)
    policy = lambda observations, _: (np.zeros(len(observations), int), None, None, None)  # noqa: E731
    play_games(policy, EnvironmentSettings(game="Pong"), 9, seed=1, greedy=False, most_steps=3)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "0 of 9 games are over. Others are at step 1, and are cut off after 3 (the limit of steps)."
    assert said[-1] == "8 of 9 games are over. Others are at step 3, and are cut off after 3 (the limit of steps)."
    short = EnvironmentSettings(game="Pong", episode_cap_frames=39, no_op_max_steps=0)  # four frames in a step
    play_games(policy, short, 1, seed=1, greedy=False, most_steps=108_000)
    said = capsys.readouterr().err.splitlines()
    others = "Others are at step 9, and are cut off after 10 (the limit of Atari games)."
    assert said[-1] == f"0 of 1 games are over. {others}"
