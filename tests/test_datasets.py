"""Recorded games: Minari reads them, the short form is played again, and a clone learns from them."""

import contextlib
import resource
import signal
from dataclasses import replace

import numpy as np
import pytest

from ga3c.systems.learner import Learner  # isort: skip (first: it loads TensorFlow)
import ga3c
from ga3c import algorithms, environments, progress
from ga3c.commands import dataset
from ga3c.commands.train_options import parse_settings
from ga3c.datasets import demonstrations, folders, making, playing_agent, short_form
from ga3c.datasets.about import About
from ga3c.datasets.making import Target
from ga3c.datasets.minari_reader import MinariData
from ga3c.datasets.recorded_games import RecordedGames
from ga3c.datasets.short_form import ShortRecorder
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.play import trained_agent
from ga3c.records import run_directory
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from ga3c.stats import Stats, Totals
from ga3c.systems import cloned
from ga3c.systems.wiring import Context
from tests import program

FRAMES = 640  # of a game of Pong: 160 steps
PONG = run_directory.PRETRAINED / "Pong"


@pytest.fixture(scope="module")
def agent():
    """The Pong agent that comes with the program, in games that are cut off soon."""
    found = trained_agent.load(str(PONG), None, None, seed=1)
    settings = replace(found.settings, environment=replace(found.settings.environment, episode_cap_frames=FRAMES))
    return replace(found, settings=settings)


def record(agent, target, games=3, with_ram=False):
    about = About(target.name, agent.settings, "an agent", {"author": ["somebody"]})
    with making.recording(target, about, agent.games, with_ram) as recorder:
        return playing_agent.record(agent, recorder, games, 7, False, with_ram, lambda _: None)


def games_of(folder):
    minari = pytest.importorskip("minari")  # needs Python 3.11
    return minari.MinariDataset(folder / "data")


def test_minari_reads_a_data_set_of_pong(agent, tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    scores = record(agent, making.target("pong/some-v0", None, False, agent.settings), with_ram=True)
    minari = pytest.importorskip("minari")
    found = minari.load_dataset("pong/some-v0")
    assert list(minari.list_local_datasets()) == ["pong/some-v0"]
    assert (found.total_episodes, found.total_steps) == (3, 3 * FRAMES // 4)
    assert found.env_spec.kwargs["frameskip"] == 4
    assert found.storage.metadata["author"] == {"somebody"}
    assert [one["seed"] for one in found.storage.get_episode_metadata(range(3))] == [7, 8, 9]
    for game, score in zip(found, scores, strict=True):
        assert game.rewards.sum() == score
        assert (game.truncations.nonzero()[0] == [len(game) - 1]).all()
        assert not game.terminations.any()
        assert all(found.observation_space.contains(one) for one in (game.observations[0], game.observations[-1]))
        # The same actions in the same game show the same pictures, rewards and memory.
        with contextlib.closing(environments.make(agent.settings.environment, 1, 7 + game.id)) as again:
            assert np.array_equal(again.reset()[0], game.observations[0])
            for step, action in enumerate(game.actions):
                shown, rewards, *_ = again.step(np.array([action]))
                assert np.array_equal(shown[0], game.observations[step + 1])
                assert rewards[0] == game.rewards[step]
            assert np.array_equal(again.batch.ram[0], game.infos["ram"][-1])
    shown, actions = game.observations[:-1], game.actions
    policies = agent.model.decide(shown)[1]
    odds = np.exp(policies - policies.max(axis=1, keepdims=True))
    chances = np.log(odds / odds.sum(axis=1, keepdims=True))[np.arange(len(actions)), actions]
    np.testing.assert_allclose(game.infos["log_probability"], chances, rtol=1e-3, atol=1e-4)


def test_the_short_form_becomes_the_same_data_set(agent, tmp_path):
    whole, file, again = tmp_path / "whole", tmp_path / "short.npz", tmp_path / "again"
    agent.model.chance = (1, 0, 0)  # both times the same numbers are drawn
    record(agent, Target("pong/some-v0", whole, False), with_ram=True)
    agent.model.chance = (1, 0, 0)
    record(agent, Target("pong/some-v0", file, True), with_ram=True)
    short = making.read_short(file, trusted=False)
    making.expand(short, Target(short.name, again, False))
    sizes = [sum(one.stat().st_size for one in path.rglob("*")) for path in (whole, again)]
    assert file.stat().st_size < min(sizes) / 10
    for one, other in zip(games_of(whole), games_of(again), strict=True):
        for name in ("observations", "actions", "rewards", "terminations", "truncations"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert one.infos.keys() == other.infos.keys() == {"ram", "log_probability"}
        assert all(np.array_equal(one.infos[name], other.infos[name]) for name in one.infos)


def test_a_file_whose_games_go_another_way_is_refused(agent, tmp_path):
    file = tmp_path / "short.npz"
    record(agent, Target("pong/some-v0", file, True), games=1)
    short = making.read_short(file, trusted=False)
    other = replace(short, actions=np.append(short.actions[:-9], np.full(9, 2, short.actions.dtype)))
    for wrong in (other, replace(short, seeds=short.seeds + 1)):
        with pytest.raises(ConfigError, match="are not the same when they are played again"):
            short_form.replay(wrong, ShortRecorder())
    with pytest.raises(ConfigError, match="are not those of the game"):
        short_form.replay(replace(short, actions=short.actions + 100), ShortRecorder())
    for words in (["--ram"], ["--games", "3"], ["--author", "me"]):
        with pytest.raises(ConfigError, match=f"{words[0]} is for games that are played now"):
            dataset.run([str(file), *words])


def test_games_that_are_no_function_of_their_seed_have_no_short_form(tmp_path):
    settings = Settings(environment=EnvironmentSettings(game="tests.test_datasets:moody"))
    file = tmp_path / "moody.npz"
    with contextlib.closing(environments.make(settings.environment, 1, 3)) as made:
        recorder = ShortRecorder()
        games = RecordedGames(made, recorder, 3)
        games.reset()
        games.step(np.zeros(1, np.int32))
    with pytest.raises(ConfigError, match="not for this game"):
        short_form.write(file, About("moody-v0", settings, "nobody"), recorder, with_ram=False)
    assert list(tmp_path.iterdir()) == []


def moody():
    """Returns a game that shows another number each time."""
    import gymnasium

    class Moody(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-1e12, 1e12, (1,), np.float64)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.random.default_rng().random(1), {}

        def step(self, action):
            return np.random.default_rng().random(1), 0.0, False, False, {}

    return Moody()


def test_games_of_a_person_follow_each_other(tmp_path):
    """A seed stands for all of them, and the last one is cut off where the person leaves."""
    settings = Settings(environment=EnvironmentSettings(game="CartPole-v1"))
    whole, file, again = tmp_path / "whole", tmp_path / "short.npz", tmp_path / "again"
    for target in (Target("a-v0", whole, False), Target("a-v0", file, True)):
        made = environments.make(settings.environment, 2, 5)
        with making.recording(target, About("a-v0", settings, "a person"), made) as recorder:
            games = RecordedGames(made, recorder, 5)
            games.reset()
            for step in range(70):
                games.step(np.array([step % 2, 1]))
        made.close()
    short = making.read_short(file, trusted=False)
    assert short.seeds.tolist() == [5, 6]
    making.expand(short, Target("a-v0", again, False))
    first, second = (sorted((g.observations.tobytes(), len(g)) for g in games_of(one)) for one in (whole, again))
    assert first == second
    ends = [bool(game.truncations[-1]) for game in games_of(whole)]
    assert len(ends) > 4
    assert sum(ends) == 2
    assert sum(len(game) for game in games_of(whole)) == 2 * 70 - (len(ends) - 2)


def test_a_full_disk_is_one_line_and_leaves_nothing(agent, tmp_path):
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"^Cannot write the data set a-v0: File too large\.$"):
            record(agent, Target("a-v0", tmp_path / "whole", False))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []


def test_killed_while_it_records_it_leaves_no_data_set(tmp_path):
    words = ["dataset", PONG, "--games", 200, "--out", tmp_path / "a"]
    for _ in range(2):  # the second one removes what the first one left
        started = program.Started(tmp_path / "output.txt", *words)
        began = f".a.{started.process.pid}.*/data/*.hdf5"
        started.wait_for(lambda began=began: list(tmp_path.glob(began)))
        started.process.kill()
        started.process.wait()
        assert not (tmp_path / "a").exists()
        assert len(list(tmp_path.glob(".a.*"))) == 1


def rule_of_cart_pole(games: int) -> dict[str, list]:
    """Returns games of a rule that never lets the pole fall, by what Minari calls their parts."""
    found = {"observations": [], "actions": [], "rewards": [], "terminations": [], "truncations": []}
    with contextlib.closing(environments.make(EnvironmentSettings(game="CartPole-v1"), games, 1)) as made:
        shown = made.reset()
        found["observations"].append(shown)
        for _ in range(500):
            actions = (shown @ [0.1, 0.3, 3.0, 1.0] > 0).astype(np.int32)
            shown, rewards, terminated, truncated, _ = made.step(actions)
            for name, values in zip(found, (shown, actions, rewards, terminated, truncated), strict=True):
                found[name].append(values)
    return {name: np.stack(values, axis=1) for name, values in found.items()}


@pytest.fixture(scope="module")
def rule(tmp_path_factory):
    """The folder of a data set that Minari itself has made."""
    pytest.importorskip("minari")
    from gymnasium import spaces
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    folder, games = tmp_path_factory.mktemp("rule") / "data", rule_of_cart_pole(8)
    space = spaces.Box(-np.inf, np.inf, (4,), np.float64)
    storage = MinariStorage.new(folder, observation_space=space, action_space=spaces.Discrete(2))
    storage.update_metadata({"dataset_id": "cartpole/rule-v0", "minari_version": "0.5.4"})
    for game in range(8):
        parts = {name: values[game] for name, values in games.items()}
        storage.update_episodes([EpisodeBuffer(id=None, **parts)])
    return folder


def test_a_clone_plays_as_its_teacher(rule, tmp_path):
    words = ["--algorithm", "clone", "--dataset", rule, "--game", "CartPole-v1", "--seed", 1, "--epochs", 30]
    ended = program.run(*words, "--run-dir", tmp_path / "clone", "--plot-seconds", 0, "--console", "plain")
    assert ended.returncode == 0, ended.stderr
    assert "Recorded games: 4,000 steps." in ended.stdout
    assert "120,000 steps" in ended.stdout  # 30 times all of them
    assert ga3c.evaluate(tmp_path / "clone", games=10, greedy=True).mean > 450  # 500 is the most, chance has 22
    begun = parse_settings(["--from", str(tmp_path / "clone"), "--game", "CartPole-v1", "--steps", "100"])
    assert begun.settings.learning.algorithm == "a3c"


@pytest.mark.parametrize("name", ["whole", "short.npz"])
def test_a_clone_takes_the_settings_of_its_teacher(agent, tmp_path, name):
    record(agent, Target("a-v0", tmp_path / name, name != "whole"), games=2)
    start = parse_settings(["--algorithm", "clone", "--dataset", str(tmp_path / name), "--epochs", "3"])
    assert start.settings.environment == agent.settings.environment
    assert (start.settings.learning.preset, start.settings.run.steps) == ("ga3c", 3 * 2 * FRAMES // 4)
    assert len(demonstrations.read(start.settings, agent.games.spec)) == 2 * FRAMES // 4


def test_a_clone_learns_from_single_steps_however_long_rollouts_of_play_are(agent, tmp_path):
    record(agent, Target("a-v0", tmp_path / "whole", False), games=1)
    settings = parse_settings(["--algorithm", "clone", "--dataset", str(tmp_path / "whole"), "--t-max", "64"])[0]
    spec, learner = agent.games.spec, Learner(None)
    algorithm, learner.stats = algorithms.make(settings, spec.actions), Stats(Totals())
    wiring = cloned.wire(Context(settings, spec, progress.beginning(settings), algorithm, learner, print))
    model = Model(spec, settings.learning, algorithm, 1, xla=False)
    model.warm_up(1, 1, 1, wiring.rows)
    assert model.train(wiring.experience.next_batch().arrays).applied


def test_the_next_data_set_has_the_next_version(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert folders.free_name("pong/ga3c") == "pong/ga3c-v0"
    (tmp_path / "pong" / "ga3c-v0").mkdir(parents=True)
    assert folders.free_name("pong/ga3c") == "pong/ga3c-v1"


@pytest.mark.parametrize("text", ["a" * 300, "a/" * 3000, "a\0b"])
def test_what_can_be_no_name_of_a_data_set_is_one_line(text):
    with pytest.raises(ConfigError, match="There is no data set"):
        folders.data_of(text)


def test_rewards_of_a_clone_are_scaled_as_in_training(agent, tmp_path):
    record(agent, Target("a-v0", tmp_path / "whole", False), games=2)
    flags = ["--algorithm", "clone", "--dataset", str(tmp_path / "whole")]
    plain, scaled = (
        demonstrations.read(parse_settings([*flags, *more])[0], agent.games.spec)
        for more in ([], ["--reward-scaling-discount", "0.99", "--reward-scaling-limit", "0", "--reward-clip", "10"])
    )
    assert len(plain) == len(scaled)
    assert not np.allclose(plain.returns, scaled.returns)


def test_a_resumed_clone_goes_on_in_the_middle_of_a_pass():
    whole = cloned._in_batches(10, 4, seed=1, before=0)
    order = np.concatenate([next(whole) for _ in range(10)])
    assert all(sorted(one) == list(range(10)) for one in order.reshape(4, 10))
    assert not np.array_equal(order[:10], order[10:20])
    assert next(cloned._in_batches(10, 4, seed=1, before=12)).tolist() == order[12:16].tolist()


def test_what_is_learned_from_is_what_was_recorded(agent, tmp_path):
    record(agent, Target("a-v0", tmp_path / "whole", False), games=2)
    start = parse_settings(["--algorithm", "clone", "--dataset", str(tmp_path / "whole")])
    found, first = demonstrations.read(start.settings, agent.games.spec), 0
    for game in MinariData.of(tmp_path / "whole" / "data").games():
        shown, steps = np.concatenate(list(game.observations)), len(game.rewards)
        rows = found.rows(first + np.arange(steps))
        assert np.array_equal(rows["observation"][0], shown[:-1])
        assert np.array_equal(rows["action"][0], game.actions)
        returns = [
            sum(0.99 ** (later - step) * game.rewards[later] for later in range(step, steps)) for step in (0, 99)
        ]
        np.testing.assert_allclose(rows["value"][0][[0, 99]], returns, rtol=1e-4)
        first += steps


def test_observations_that_are_damaged_are_one_line(tmp_path, monkeypatch):
    settings = Settings(environment=EnvironmentSettings(game="Pendulum-v1"))
    made = environments.make(settings.environment, 1, 5)
    with making.recording(Target("a-v0", tmp_path / "a", False), About("a-v0", settings, "me"), made) as recorder:
        games = RecordedGames(made, recorder, 5)
        games.reset()
        games.step(np.array([[0.5]], np.float32))
    made.close()

    def damaged(*_):
        raise OSError("Can't synchronously read data (inflate() failed)")

    monkeypatch.setattr(MinariData, "_rows", damaged)
    settings = replace(settings, learning=replace(settings.learning, dataset=str(tmp_path / "a")))
    with pytest.raises(ConfigError, match=r"Cannot read the data set in .*inflate\(\) failed"):
        demonstrations.read(settings, made.spec)


def test_bounds_of_actions_are_those_of_the_game_and_back(tmp_path):
    settings = Settings(environment=EnvironmentSettings(game="Pendulum-v1"))
    made = environments.make(settings.environment, 1, 5)
    with making.recording(Target("a-v0", tmp_path / "a", False), About("a-v0", settings, "me"), made) as recorder:
        games = RecordedGames(made, recorder, 5)
        games.reset()
        for action in (-0.5, 0.25, 3.0):
            games.step(np.array([[action]], np.float32))
    made.close()
    data = MinariData.of(tmp_path / "a" / "data")
    assert next(data.games()).actions.tolist() == [[-1.0], [0.5], [2.0]]
    settings = replace(settings, learning=replace(settings.learning, dataset=str(tmp_path / "a")))
    assert demonstrations.read(settings, made.spec).actions.tolist() == [[-0.5], [0.25], [1.0]]


@pytest.mark.parametrize(
    ("name", "out", "short", "said"),
    [
        ("nothing", None, False, "is none that Minari takes"),
        ("../a-v0", None, False, "is none that Minari takes"),
        (None, "a.txt", True, "ends in .npz"),
        (None, str(PONG), False, "There is something in"),
        (None, "/proc/here/not", False, "Cannot write|Nothing can be written"),
    ],
)
def test_a_data_set_needs_a_name_and_room(agent, name, out, short, said):
    with pytest.raises(ConfigError, match=said):
        record(agent, making.target(name, out, short, agent.settings), games=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--algorithm clone", "name them with --dataset"),
        ("--algorithm clone --dataset nothing", "There is no data set nothing"),
        ("--algorithm clone --dataset RULE --serial", "--serial does not go with"),
        ("--algorithm clone --dataset RULE --sampling batched", "--sampling batched does not go with"),
        ("--dataset RULE", "it is for clone"),
        ("--algorithm clone --dataset RULE --memory gru", "--memory gru does not go with"),
    ],
)
def test_settings_that_no_clone_has_are_refused(rule, words, said):
    with pytest.raises(ConfigError, match=said):
        parse_settings(words.replace("RULE", str(rule)).split())


@pytest.mark.parametrize(
    ("game", "said"),
    [
        ("Pendulum-v1", r"shows float64 \[4\], and the agent sees float32 \[3\]"),
        ("Pong", "shows float64"),
        ("Four", r"has the actions Discrete\(2\), and this game has 3"),
    ],
)
def test_a_data_set_of_another_game_is_refused(rule, game, said):
    game = {"Four": "tests.test_datasets:three_actions"}.get(game, game)
    start = parse_settings(["--algorithm", "clone", "--dataset", str(rule), "--game", game])
    spec = environments.make(start.settings.environment, 1, 0).spec
    with pytest.raises(ConfigError, match=said):
        demonstrations.read(start.settings, spec)


def three_actions():
    """Returns a game that shows what CartPole shows, and has another action."""
    import gymnasium

    class Three(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float64)
        action_space = gymnasium.spaces.Discrete(3)

        def reset(self, *, seed=None, options=None):
            return np.zeros(4), {}

    return Three()


def test_what_is_wrong_with_a_file_is_one_line(tmp_path):
    file = tmp_path / "a.npz"
    file.write_bytes(b"PK")
    ended = program.run("dataset", file)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert ended.stderr.startswith(f"ga3c: Cannot read {file}: ")
