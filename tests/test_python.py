"""The program from Python: ga3c.train, ga3c.load, ga3c.evaluate, in a script, a notebook and from standard input."""

import contextlib
import functools
import gc
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import keras
import numpy as np
import ptyprocess
import pytest

import ga3c
from ga3c import algorithms
from ga3c.__main__ import main
from ga3c.algorithms.a2c import A2C
from ga3c.python import loaded_agent
from ga3c.records import run_directory
from ga3c.records.outlet import Outlet
from ga3c.rollout import EnvironmentSpec, discrete
from ga3c.settings import named_objects
from ga3c.settings.learning import LearningSettings
from ga3c.settings.run import Settings
from tests import program
from tests.tiny_environment import SYMBOLS, Match
from tests.variants import long

PAGE = program.ROOT / "ga3c" / "python" / "README.md"
SMALL = {"agents": 1, "envs_per_agent": 4, "minimum_batch_steps": 40, "plot_seconds": 0, "log_seconds": 0.5}
QUICK = SMALL | {"steps": 400}


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run_directory, "PRETRAINED", program.ROOT / "results" / "pretrained")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results"


def test_each_line_of_the_page(monkeypatch, capsys):
    """As in a script, only that runs are short."""
    train = ga3c.train

    def shortly(*environment, **settings):
        limits = {"minutes": 0.01, "steps": 1000, "games": 3}
        return train(*environment, **settings | {name: limits[name] for name in limits if name in settings})

    monkeypatch.setattr(ga3c, "train", shortly)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names = {"__name__": "__main__"}
    for number, block in enumerate(blocks):
        exec(compile(block, f"block {number} of {PAGE}", "exec"), names)
    said = capsys.readouterr().out
    for line in re.findall(r"print\(error\)  # (.*)", "".join(blocks)):
        assert f"{line}\n" in said
    assert set(ga3c.__all__) <= set(dir(ga3c))


def test_a_run_is_an_object(results):
    seen = []
    run = ga3c.train(Match, **QUICK, run_dir="here", on_row=seen.append, learning_rate=np.float32(0.002), seed=3)
    assert run.path == Path.cwd() / "here"
    assert run.settings.environment.game == "tests.tiny_environment:Match"
    assert run.settings.learning.seed == 3
    assert [row["steps"] for row in seen] == run.rows()["steps"].tolist()
    assert {"seconds", "score", "length_steps"} <= set(run.games())
    assert len({len(column) for column in run.games().values()}) == 1
    np.testing.assert_equal(run.mean, seen[-1]["mean_score"])
    assert f"{int(seen[-1]['steps'])} steps" in repr(run)
    longer = ga3c.train(resume=run, steps=800, **SMALL)
    assert longer == run
    assert longer.rows()["steps"][-1] >= 800
    assert ga3c.load(run).steps >= 800


def test_true_ends_the_run():
    run = ga3c.train(Match, **SMALL, serial=True, steps=10**9, on_row=lambda row: row["steps"] > 100)
    assert 100 < run.rows()["steps"][-1] < 10**8


def test_what_on_row_raises_ends_the_run_and_is_raised():
    with pytest.raises(ZeroDivisionError):
        ga3c.train(Match, **SMALL, serial=True, steps=10**9, on_row=lambda row: 1 / 0)
    assert ga3c.load(next(run_directory.RESULTS.glob("*/*"))).game == "Match"  # it was saved


def test_nothing_of_a_run_stays_in_the_process(capfd):
    before = sys.stdout, sys.stderr, threading.excepthook, *map(signal.getsignal, (signal.SIGINT, signal.SIGTERM))
    drawn = np.random.get_state()[1].tolist()
    ga3c.train(Match, **QUICK, serial=True)
    assert drawn == np.random.get_state()[1].tolist()
    assert before == (
        *(sys.stdout, sys.stderr, threading.excepthook),
        *map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)),
    )
    assert capfd.readouterr().out == ""  # a log file gets nothing


def test_a_run_leaves_no_open_file_and_no_thread():
    def held():
        gc.collect()
        ends = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
        held = {end for end in ends if "pipe:" in end or end.startswith(str(Path.cwd()))}
        threads = [thread.name for thread in threading.enumerate()]
        return held, threads.count("output"), sum(isinstance(one, Outlet) for one in gc.get_objects())

    before = held()
    ga3c.train(Match, **QUICK, serial=True, console="plain")
    assert held() == before


def test_ctrl_c_saves_and_returns():
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])

    def begin(row):
        if timer.ident is None:
            timer.start()

    run = ga3c.train(Match, **SMALL, steps=10**9, on_row=begin)
    assert ga3c.load(run).steps > 0


def test_a_thread_trains_and_one_run_at_a_time():
    found = []

    def second(row):
        with pytest.raises(ga3c.ConfigError, match=r"^A run goes on in this process: wait for its end"):
            ga3c.train(Match, **QUICK)

    thread = threading.Thread(target=lambda: found.append(ga3c.train(Match, **QUICK, on_row=second)))
    thread.start()
    thread.join()
    assert found[0].rows()["steps"][-1] >= 400


OF_A_SCRIPT = """
import threading
from tests.tiny_environment import Match

class Local(Match):
    def __init__(self, scale=1.0):
        self.scale = scale

    def step(self, action):
        observation, reward, *others = super().step(action)
        return observation, reward * self.scale, *others


class Locked(Match):
    lock = threading.Lock()
"""
NAMES = {"__name__": "__main__"}
exec(OF_A_SCRIPT, NAMES)  # no other process can import them
Local, Locked = NAMES["Local"], NAMES["Locked"]


def test_a_class_of_a_script_reaches_agents_by_value():
    run = ga3c.train(Local, environment_arguments={"scale": 2}, **QUICK)
    assert run.settings.environment.game == "__main__:Local"
    assert set(run.games()["score"] % 2) == {0}
    assert ga3c.evaluate(run, games=2).scores.shape == (2,)
    for wrong in ({"games": 0}, {"most_steps": 0}, {"exploration": 2}):
        with pytest.raises(ga3c.ConfigError, match="out of range"):
            ga3c.evaluate(run, **wrong)


def test_what_was_defined_elsewhere_is_handed_over_again(monkeypatch, capsys):
    run = ga3c.train(Local, network=own_policy, serial=True, **QUICK)
    monkeypatch.setattr(named_objects, "_given", {})
    line = "The game __main__:Local was defined in a script or a notebook"
    with pytest.raises(ga3c.ConfigError, match=line):
        ga3c.load(run)
    assert main(["evaluate", str(run.path)]) == 2
    assert line in capsys.readouterr().err
    with pytest.raises(ga3c.ConfigError, match=r"was trained with no algorithm of your own: leave it out"):
        ga3c.load(run, algorithm=A2C)
    agent = ga3c.load(run, environment=Local)
    action, state = agent.act(np.eye(SYMBOLS)[0])
    assert action in range(SYMBOLS)
    assert state is None


@pytest.mark.parametrize(
    ("environment", "settings", "says"),
    [
        ("Pung", {}, "Unknown game 'Pung'. Nearest: Pong."),
        ("Pong", {"agents": -1}, "--agents -1 is out of range: give a number from 0 to 1024."),
        ("Pong", {"agnets": 3}, "Unrecognized options: --agnets, 3. Nearest: --agents. See --help."),
        ("Pong", {"network": "huge"}, "invalid choice 'huge' for argument '--network'. Expected one of"),
        (
            "Pong",
            {"wrapper": "a:B"},
            "--wrapper a:B does not go with the game Pong: it is for other games than Atari's.",
        ),
        ("Pong", {"game": "Boxing"}, "game is said twice: leave one out."),
        ("CartPole-v1", {"environment_arguments": "[1]"}, "--environment-arguments '[1]' is no JSON object"),
        ("CartPole-v1", {"environment_arguments": {"a": int}}, "environment_arguments cannot be written as JSON"),
        ("CartPole-v1", {"wrapper": ["no_such_module:W"]}, "Cannot import 'no_such_module' of the wrapper"),
        ("CartPole-v1", {"network": "math:nothing"}, "There is no network 'nothing' in the module 'math'."),
        ("CartPole-v1", {"preset": "apex-dpg", "network": "math:sin"}, "actions"),
        (5, {}, "5 is no name, class or function."),
        (Match(), {}, "The environment Match is made already, and agents need one for each game"),
    ],
)
def test_a_wrong_argument_is_the_commands_line(environment, settings, says, results):
    with pytest.raises(ga3c.ConfigError) as refused:
        ga3c.train(environment, **settings)
    assert says in str(refused.value)
    assert not results.exists()


def test_what_cannot_be_sent_is_said_in_a_line(results):
    line = r"^__main__:Locked cannot be sent to agents \(TypeError: .*: make what it holds in its __init__"
    with pytest.raises(ga3c.ConfigError, match=line):
        ga3c.train(Locked, **QUICK)
    assert not list(results.glob("*/*"))
    assert ga3c.train(Locked, serial=True, **QUICK).rows()["steps"][-1] >= 400


def own_policy(observations, actions):
    inputs = keras.Input(observations.shape)
    hidden = keras.layers.Dense(8)(inputs)
    return keras.Model(inputs, (keras.layers.Dense(actions.policy_size)(hidden), keras.layers.Dense(1)(hidden)))


def action_values(observations, actions):
    return keras.Sequential([keras.layers.Dense(actions.count)])


def test_a_network_of_action_values():
    replay = {"replay_minimum_transitions": 100, "batch": 8, "agents": 1, "envs_per_agent": 4}
    run = ga3c.train(Match, algorithm="dqn", network=action_values, serial=True, **replay, steps=400)
    agent = ga3c.load(run)
    states = np.eye(SYMBOLS, dtype=np.float32)
    best, _ = agent.act(states)
    np.testing.assert_array_equal(agent.probabilities(states), np.eye(SYMBOLS)[best])
    assert agent.values(states).shape == (SYMBOLS,)


def hidden_units(observations):
    inputs = keras.Input(observations.shape)
    return keras.Model(inputs, keras.layers.Dense(8, activation="relu")(inputs))


@pytest.mark.parametrize(
    "words",
    [
        {"memory": "lstm", "memory_units": 4},
        long({"normalize_values": True}),
        {"algorithm": "c51", "dueling": True},
        long({"algorithm": "dqn", "dueling": True}),
        long({"algorithm": "pqn", "agents": 1, "envs_per_agent": 4, "steps": 2_000}),
    ],
)
def test_the_last_layers_are_added_to_hidden_units(words):
    replay = {"replay_minimum_transitions": 100, "batch": 8, "agents": 1, "envs_per_agent": 4}
    words = (replay if "dueling" in words else {}) | {"steps": 400} | words
    run = ga3c.train(Match, network=hidden_units, serial=True, **words)
    agent, states = ga3c.load(run), np.eye(SYMBOLS, dtype=np.float32)
    assert run.rows()["updates_per_second"].max() > 0
    assert agent.act(states)[0].shape == (SYMBOLS,)
    assert agent.values(states).shape == (SYMBOLS,)
    state = agent.act(states)[1]
    assert (state.shape == (SYMBOLS, 8)) if "memory" in words else state is None


def pictures_of_nothing(observations):
    inputs = keras.Input(observations.shape)
    return keras.Model(inputs, keras.layers.Reshape((1, SYMBOLS))(inputs))


@pytest.mark.parametrize(
    ("network", "words", "said"),
    [
        (pictures_of_nothing, {}, r"returns \(None, 1, 4\): it is to return hidden units \[batch, n\] alone"),
        (
            own_policy,
            {"memory": "gru"},
            "has its own last layers, so it does not go with c51 and rainbow, nor with --memory",
        ),
        (own_policy, {"algorithm": "dqn"}, "it is to return the action values"),
    ],
)
def test_what_a_network_may_not_return(network, words, said):
    with pytest.raises(ga3c.ConfigError, match=said):
        ga3c.train(Match, network=network, serial=True, **words, steps=400)


def test_an_agent_with_a_memory_hands_over_its_state():
    run = ga3c.train(Match, memory="gru", memory_units=8, serial=True, **QUICK)
    agent, state = ga3c.load(run), np.eye(SYMBOLS, dtype=np.float32)[0]
    _, first = agent.act(state)
    _, second = agent.act(state, first)
    assert first.shape == second.shape == (8,)
    assert (first != second).any()
    assert (agent.probabilities(state, first) != agent.probabilities(state)).any()
    assert agent.act([state, state])[1].shape == (2, 8)


SPEC = EnvironmentSpec("Test", (3,), "float32", discrete(2), 1)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda space, actions: 1 / 0, "failed: ZeroDivisionError: division by zero."),
        (
            lambda space, actions: keras.Sequential([keras.layers.Dense(2)]),
            r"returns \(None, 2\): it is to return \(pol",
        ),
        (lambda space, actions: keras.Sequential([keras.layers.BatchNormalization()]), "leave out layers such as"),
        (lambda space, actions: None, "failed: TypeError"),
    ],
)
def test_a_network_that_does_not_fit_is_said_in_a_line(function, says):
    from ga3c import networks

    name = named_objects.name_of(function)
    with pytest.raises(ga3c.ConfigError, match=says):
        networks.build(name, SPEC, seed=1)


def test_objects_that_share_a_name_are_told_apart():
    one, other = (lambda game: [game]), (lambda game: (game,))
    wide, narrow = (functools.partial(Match, size) for size in (1, 2))
    for first, second in ((one, other), (wide, narrow)):
        names = [named_objects.name_of(thing) for thing in (first, second, first)]
        assert names[0] == names[2] != names[1]
        assert [named_objects.given(name) for name in names] == [first, second, first]
    again = functools.partial(Match, 1)  # the cell of a notebook was run again
    assert named_objects.name_of(again) == named_objects.name_of(wide)


class Own(A2C):
    """An algorithm of one's own, which counts the updates that it is asked for a step size for."""

    asked = 0

    def learning_rate(self, steps):
        Own.asked += 1
        return super().learning_rate(steps)

    def exploration(self, steps, games):
        """Returns one for each game: who plays later plays as the first."""
        return np.linspace(1, 0, games, dtype=np.float32)


def test_an_algorithm_of_ones_own():
    run = ga3c.train(Match, algorithm=Own, serial=True, **QUICK)
    assert Own.asked > 0
    settings = run.settings.learning
    assert (settings.own_algorithm, settings.algorithm) == (f"{__name__}:Own", "a2c")
    made = Own(run.settings, discrete(SYMBOLS))
    again = ga3c.train(Match, algorithm=made, preset="a2c", serial=True, **QUICK)
    assert again.settings.learning.own_algorithm == "__main__:Own"
    assert ga3c.load(again).steps >= 400
    assert len(ga3c.evaluate(again, games=2).scores) == 2


def test_what_is_handed_over_with_a_games_name_is_not_forgotten():
    with pytest.raises(ga3c.ConfigError, match="was trained with no algorithm of your own: leave it out"):
        ga3c.load("Boxing", algorithm=Own)


def test_numbers_out_of_range_are_one_line(tmp_path):
    for call in (lambda: ga3c.load("Boxing", seed=-1), lambda: ga3c.evaluate("Boxing", seed=-1)):
        with pytest.raises(ga3c.ConfigError, match="--seed -1 is out of range"):
            call()
    agent = loaded_agent.Agent(SimpleNamespace(model=None, games=SimpleNamespace(spec=SPEC)))
    with pytest.raises(ga3c.ConfigError, match="--episodes 0 is out of range"):
        agent.export("onnx", out=tmp_path, episodes=0)


@pytest.mark.parametrize("text", ["a" * 300, "a/" * 200, "a\0b"])
def test_what_can_be_no_name_of_a_file_is_one_line(text):
    with pytest.raises(ga3c.ConfigError):
        ga3c.load(text)


def test_each_device_has_a_copy_of_an_algorithm_that_is_handed_over():
    made = Own(Settings(), discrete(SYMBOLS))
    named_objects.give("__main__:made", made)
    settings = Settings(learning=LearningSettings(own_algorithm="__main__:made"))
    first, second = (algorithms.make(settings) for _ in range(2))
    first.devices = "those of the first"
    assert second.devices == made.devices != first.devices


def test_a_ready_vector_environment():
    games = gymnasium.vector.SyncVectorEnv([Match] * 3)
    run = ga3c.train(games, steps=300, t_max=5, plot_seconds=0)
    assert run.settings.schedule.games == 3
    assert len(ga3c.evaluate(run, games=5).scores) == 5  # as many at once as it has
    with pytest.raises(ga3c.ConfigError, match="leave sampling out"):
        ga3c.train(games, sampling="asynchronous")
    same_step = gymnasium.vector.SyncVectorEnv([Match], autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)
    with pytest.raises(ga3c.ConfigError, match=r"AutoresetMode\.NEXT_STEP"):
        ga3c.train(same_step, steps=300)


def test_an_agent_that_comes_with_the_program():
    agent = ga3c.load("Pong")
    picture = np.zeros((84, 84, 4), np.uint8)
    assert agent.probabilities(picture).shape == (6,)
    np.testing.assert_allclose(agent.probabilities(np.stack([picture, picture])).sum(axis=1), 1, atol=1e-6)
    assert isinstance(agent.values(picture), float)
    assert agent.act(picture, greedy=True)[0] == agent.probabilities(picture).argmax()
    with pytest.raises(
        ga3c.ConfigError, match=r"shape \(84, 84\) is none of the game, which shows uint8 \[84, 84, 4\]"
    ):
        agent.act(picture[..., 0])
    for nowhere in ("no/where", "./Pong"):
        with pytest.raises(ga3c.ConfigError, match=f"There is no run in {nowhere}"):
            ga3c.load(nowhere)
    with pytest.raises(ga3c.ConfigError, match="No trained agent for phys2d-CartPole-v1 yet"):
        ga3c.load("phys2d/CartPole-v1")  # the game of a library


SCRIPT = """
import sys
import ga3c
from tests.tiny_environment import Match

class Mine(Match):
    pass

for seed in (1, 2):
    run = ga3c.train(Mine, seed=seed, run_dir=f"run-{seed}", steps=400, agents=2, envs_per_agent=4, plot_seconds=0)
    print(run.settings.learning.seed, file=sys.stderr)
"""


@pytest.mark.parametrize("way", ["script", long("stdin")])
def test_a_script_without_a_main_guard(way, tmp_path):
    Path("script.py").write_text(SCRIPT)
    command = [sys.executable, *(["script.py"] if way == "script" else ["-"])]
    environment = program.os.environ | {"PYTHONPATH": str(program.ROOT)}
    stdin = SCRIPT if way == "stdin" else None
    ended = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines()[-2:] == ["1", "2"]
    assert ended.stdout == ""


IN_A_TERMINAL = """
import ga3c
from tests.tiny_environment import Match
ga3c.train(Match, serial=True, steps=400, run_dir="run", agents=1, envs_per_agent=4, plot_seconds=0, log_seconds=0.5)
"""


def test_a_bar_in_a_terminal():
    environment = program.os.environ | {"PYTHONPATH": str(program.ROOT), "TERM": "xterm"}
    process = ptyprocess.PtyProcessUnicode.spawn([sys.executable, "-c", IN_A_TERMINAL], env=environment)
    shown = ""
    with contextlib.suppress(EOFError):
        while True:
            shown += process.read()
    assert process.wait() == 0, shown
    assert re.search(r"0:00:\d\d 4\d\d steps mean", shown)
    assert "\x1b[?1049h" not in shown  # it does not fill the terminal


NOTEBOOK = [
    """
import threading, os, signal
import pandas
import ga3c
from tests.tiny_environment import Match

class Mine(Match):
    pass

small = {"agents": 1, "envs_per_agent": 4, "log_seconds": 0.5, "plot_seconds": 0}
first = ga3c.train(Mine, steps=2_000, run_dir="first", **small)
len(pandas.DataFrame(first.games())) > 0, first.settings.environment.game
""",
    """
interrupt = threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT])
second = ga3c.train(Mine, minutes=60, run_dir="second", on_row=lambda _: interrupt.ident or interrupt.start(), **small)
second
""",
    "ga3c.train(Mine, agnets=3)",
]


def test_a_notebook():
    """Its class reaches agents, an interrupt saves and returns, and a bar shows the progress."""
    import nbformat

    cells = [nbformat.v4.new_code_cell(cell) for cell in NOTEBOOK]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), "notebook.ipynb")
    words = "nbconvert --execute --allow-errors --to notebook --inplace notebook.ipynb"
    command = [sys.executable, "-m", "jupyter", *words.split()]
    environment = program.os.environ | {"PYTHONPATH": str(program.ROOT), "IPYTHONDIR": str(Path.cwd())}
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    first, second, refused = (cell.outputs for cell in nbformat.read("notebook.ipynb", as_version=4).cells)
    assert "steps" in first[0].data["text/plain"]  # one bar, which was replaced
    assert first[-1].data["text/plain"] == "(True, '__main__:Mine')"
    assert "/second: " in second[-1].data["text/plain"]
    (error,) = refused
    assert error.ename == "ConfigError"
    assert error.evalue == "Unrecognized options: --agnets, 3. Nearest: --agents. See --help."
    assert len(error.traceback) < 8


def test_a_child_that_imports_a_script_gets_one_line():
    code = (
        "import multiprocessing, ga3c\nprocess = multiprocessing.current_process()\nprocess._inheriting = True\n"
        "ga3c.train('Pong')"
    )
    environment = program.os.environ | {"PYTHONPATH": str(program.ROOT)}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert ended.stderr.splitlines()[-1].endswith('put what trains below if __name__ == "__main__":')
