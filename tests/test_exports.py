"""Agents for other programs: each format says what the agent says, plays by itself, and is whole or not there."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import onnx
import pytest
import yaml
from ai_edge_litert.interpreter import Interpreter

from ga3c import algorithms, environments
from ga3c.__main__ import main
from ga3c.algorithms.a2c import A2C
from ga3c.commands.train import parse_settings
from ga3c.errors import ConfigError
from ga3c.exports import agreement, bundle, keras_file, onnx_file, played
from ga3c.exports.deployed_agent import deployed
from ga3c.exports.formats import FORMATS
from ga3c.exports.request import Request
from ga3c.model import Model
from ga3c.play.trained_agent import TrainedAgent
from ga3c.python.loaded_agent import Agent
from ga3c.records import run_directory
from tests import program
from tests.variants import variants

SHIPPED = program.ROOT / "results" / "pretrained" / "Pong"
VECTORS = ["--game", "CartPole-v1"]
MEMORY = [*VECTORS, "--memory", "gru"]
CONTINUOUS = ["--game", "Pendulum-v1", "--preset", "ppo-continuous"]
CONTROL = ["--game", "cartpole-swingup", "--preset", "ppo-continuous"]
PARTS = ["--game", "tests.test_parts:Nested"]
PICTURES = ["--game", "tests.test_parts:PictureAndVector", "--environment-arguments", '{"pixels": 24}']
MASKED = ["--game", "tests.test_masks:Lower"]
AGENTS = {
    "vectors": VECTORS,
    "memory": [*VECTORS, "--memory", "lstm"],
    "pictures with a memory": ["--game", "Boxing", "--memory", "gru"],
    "own network": [*VECTORS, "--network", "tests.test_exports:plain_network"],
    "own algorithm": [*VECTORS, "--own-algorithm", "tests.test_exports:Own"],
    "several players": ["--game", "tests.test_parallel:parallel_env"],
    "normalised values": [*VECTORS, "--preset", "cule", "--normalize-values", "--input-scaling", "standardized"],
    "continuous": CONTINUOUS,
    "deterministic policy": ["--game", "Pendulum-v1", "--preset", "apex-dpg"],
    "as older versions": ["--game", "Pendulum-v1", "--preset", "ppo-continuous", "--no-adapt-spaces"],
    "parts": PARTS,
    "pictures in parts": PICTURES,
    "a mask": MASKED,
    "masks of several choices": ["--game", "tests.test_masks:Both"],
    "masked values": [*MASKED, "--preset", "dqn"],
    "dueling": ["--game", "Pong", "--preset", "dqn", "--dueling"],
    "a distribution of values": [*VECTORS, "--algorithm", "c51"],
    "normalised layers": ["--game", "Pong", "--algorithm", "pqn"],
    "half precision": ["--game", "Pong", "--precision", "bfloat16"],
    "RAM": ["--game", "Pong", "--observation", "ram"],
}


class Own(A2C):
    """An algorithm of the user's own."""


def plain_network(observations, actions):
    import keras

    inputs = keras.Input(observations.shape)
    return keras.Model(inputs, (keras.layers.Dense(actions.policy_size)(inputs), keras.layers.Dense(1)(inputs)))


def strange_network(observations, actions):
    """Has a layer that is not Keras' own."""
    import keras

    class Doubled(keras.layers.Layer):
        def call(self, numbers):
            return 2 * numbers

    inputs = keras.Input(observations.shape)
    hidden = Doubled()(inputs)
    return keras.Model(inputs, (keras.layers.Dense(actions.policy_size)(hidden), keras.layers.Dense(1)(hidden)))


def agent(flags, deviation=0.03) -> TrainedAgent:
    """An agent whose weights are drawn at random, and none is zero."""
    settings = parse_settings(flags)[0]
    games = environments.make(settings.environment, 1, 0)
    games.close()
    model = Model(games.spec, settings.learning, algorithms.make(settings, games.spec.actions), 3, xla=False)
    random, arrays = np.random.default_rng(5), model.network_state()
    trained = len(model.network.trainable_variables)
    for number, name in enumerate(sorted(arrays.keys() - {"version"}, key=lambda name: int(name.split("/")[1]))):
        noise = deviation * random.normal(size=arrays[name].shape)
        arrays[name] += (noise if number < trained else np.abs(noise)).astype(np.float32)  # no negative variance
    model.restore(arrays)
    path = Path("run") / "checkpoints" / "checkpoint-000000000001.npz"
    return TrainedAgent(model, settings, games.spec.name, games.spec.frames_per_step, 1, path, games)


def request(out, *formats, quantize=(), replace=False) -> Request:
    return Request(formats, quantize, out, replace, 1, 1_000)


USUAL = ["memory", "normalised values", "continuous", "deterministic policy", "pictures in parts", "half precision"]
USUAL += ["masks of several choices", "masked values", "a distribution of values", "normalised layers"]


@pytest.mark.parametrize("name", variants(AGENTS, *USUAL))
def test_the_deployed_agent_says_what_the_agent_says(name):
    one = agent(AGENTS[name])
    shown = played.play(one, 200, seed=7)
    model = deployed(one)
    said = {name: tensor.numpy() for name, tensor in model(shown.inputs).items()}
    found = agreement.agreement(said, shown.outputs)
    agreement.check(found, "the model", precision=one.settings.learning.precision)
    assert found.count == 200
    assert {name: (array.dtype, array.shape[1:]) for name, array in said.items()} == {
        name: (np.dtype(tensor.dtype), tuple(tensor.shape[1:])) for name, tensor in model.output.items()
    }
    assert np.ptp(shown.outputs["value"]) > 0  # it is not one answer for all


@pytest.fixture(scope="module")
def pong(tmp_path_factory):
    """What the command writes of the agent that comes with the program, and what it says."""
    out = tmp_path_factory.mktemp("exported") / "Pong"
    code = "from ga3c.exports import measured\nmeasured.GAMES = 2"
    ended = program.run("export", SHIPPED, "--format", *FORMATS, "--quantize", "int8", "--out", out, code=code)
    assert ended.returncode == 0, ended.stderr
    return out, ended


def test_an_atari_agent_in_each_format(pong):
    out, ended = pong
    described = json.loads((out / "agent.json").read_text())
    files = ["saved-model", "agent.tflite", "agent.onnx", "agent.keras", "agent-int8.tflite"]
    assert list(described["files"]) == files
    scripts = {file["script"] for file in described["files"].values()}
    assert {path.name for path in out.iterdir()} == {*files, *scripts, "agent.json", "README.md"}
    for name, file in described["files"].items():
        assert (file["largest_difference"] < 1e-4) == (name != "agent-int8.tflite")
        assert re.search(
            rf"^{re.escape(name)}: \d+\.\d\d MB; largest difference \S+ from the agent", ended.stdout, re.M
        )
    assert described["actions"]["names"][:2] == ["NOOP", "FIRE"]
    assert described["inputs"] == [{"name": "observation", "dtype": "uint8", "shape": [None, 84, 84, 4]}]
    assert {one["name"] for one in described["outputs"]} == {"probabilities", "action", "value"}
    assert described["score"]["ways"][0]["mean"] == json.loads((SHIPPED / "evaluation.json").read_text())["mean"]
    inside = {one.key: one.value for one in onnx.load(str(out / "agent.onnx")).metadata_props}
    beside = json.loads((out / "saved-model" / "assets.extra" / "agent.json").read_text())
    assert json.loads(inside["agent"]) == beside == {key: one for key, one in described.items() if key != "files"}
    assert "INFO" not in ended.stderr


def test_int8_is_smaller_and_scores_as_much(pong):
    out, ended = pong
    files = json.loads((out / "agent.json").read_text())["files"]
    assert files["agent-int8.tflite"]["bytes"] < 0.3 * files["agent.tflite"]["bytes"]
    assert files["agent-int8.tflite"]["mean_score"] > 18
    operations = {one["op_name"] for one in Interpreter(str(out / "agent-int8.tflite"))._get_ops_details()}
    assert "QUANTIZE" in operations  # not the weights alone are bytes
    assert re.search(r"^agent-int8.tflite: mean of 2 games \S+ \(the agent \S+\); [\d,]+ bytes \(", ended.stdout, re.M)


def test_the_card_is_what_the_hub_reads(pong):
    _, front, text = (pong[0] / "README.md").read_text().split("---\n", 2)
    card = yaml.safe_load(front)
    assert {"library_name", "license", "tags", "model-index"} == set(card)
    (result,) = card["model-index"][0]["results"]
    assert (result["task"]["type"], result["dataset"]["name"]) == ("reinforcement-learning", "Pong")
    score = json.loads((SHIPPED / "evaluation.json").read_text())
    assert result["metrics"][0]["value"] == round(score["mean"], 2)
    assert f"{score['low']:.2f} to {score['high']:.2f}" in result["metrics"][0]["name"]
    assert score["fingerprint"] in text
    assert "`python play_onnx.py`" in text


def play(script: Path, games: int, **environment) -> float:
    """Plays with a script, in a process that finds nothing of this program. Returns the mean score."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    ended = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", script, str(games)],
        cwd=script.parent, env=own, capture_output=True, text=True, check=False, timeout=program.HANG_SECONDS,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("Game ") == games
    return float(re.search(r"^Mean of \d+ games: (\S+)$", ended.stdout, re.MULTILINE)[1])


def scores(one: TrainedAgent, games: int):
    """Plays CartPole as a script does, but asks the agent. Yields the scores."""
    player, game, random = Agent(one), gymnasium.make("CartPole-v1"), np.random.default_rng(1_000)
    for number in range(games):
        observation, state, score, over = game.reset(seed=1_000 + number)[0], None, 0.0, False
        while not over:
            odds = player.probabilities(observation, state).astype("float64")
            _, state = player.act(observation, state)
            observation, reward, *ends, _ = game.step(random.choice(len(odds), p=odds / odds.sum()))
            score, over = score + reward, any(ends)
        yield score


def test_a_script_plays_pong_by_itself(pong):
    assert "ga3c" not in (pong[0] / "play_onnx.py").read_text()
    assert play(pong[0] / "play_onnx.py", 1) >= 18


OTHERS = variants([MEMORY, CONTINUOUS, PICTURES, MASKED], MEMORY, CONTINUOUS, PICTURES)


@pytest.mark.parametrize("flags", OTHERS, ids=["memory", "continuous", "parts", "mask"])
def test_each_format_of_other_games(flags, tmp_path):
    one = agent(flags, 0.5 if flags == MEMORY else 0.03)  # what it remembers decides
    quantize = ("float16",) if flags == CONTINUOUS else ()
    found = bundle.export(one, request(tmp_path, *FORMATS, quantize=quantize))
    files = [*(form.file for form in FORMATS.values()), *(f"agent-{one}.tflite" for one in quantize)]
    assert list(found["files"]) == files
    mean = play(tmp_path / "play_onnx.py", 2, PYTHONPATH=str(program.ROOT))
    if flags == MEMORY:
        assert mean == np.mean(list(scores(one, 2)))
    of_the_tests = ":" in one.settings.environment.game
    assert ("Python must find tests as well" in (tmp_path / "play_onnx.py").read_text()) == of_the_tests
    if not of_the_tests:  # those of the tests take long to import
        assert play(tmp_path / "play_tflite.py", 2) == mean
    if one.games.spec.actions.continuous:  # the mean of the policy, as the agent's most probable actions
        _, ways = found["score"]["ways"]
        first = play(tmp_path / "play_onnx.py", 1)
        assert first == pytest.approx(ways["mean"], abs=0.01)
        file = found["files"]["agent-float16.tflite"]
        assert file["mean_score"] == pytest.approx(file["of_agent"], rel=0.01)


def test_there_is_no_script_of_a_game_that_needs_the_program(tmp_path):
    found = bundle.export(agent(AGENTS["several players"]), request(tmp_path, "saved-model"))
    assert found["files"]["saved-model"]["script"] is None
    assert {path.name for path in tmp_path.iterdir()} == {"saved-model", "agent.json", "README.md"}
    assert "no script: the game needs this program" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize("flags", [["--game", "Pong", "--observation", "ram"], CONTROL], ids=["ram", "control"])
def test_scripts_of_other_consoles_and_tasks(flags, tmp_path):
    pytest.importorskip("dm_control")
    bundle.export(agent(flags), request(tmp_path, "onnx"))
    assert np.isfinite(play(tmp_path / "play_onnx.py", 1))


def test_a_layer_of_ones_own(tmp_path):
    one = agent([*VECTORS, "--network", "tests.test_exports:strange_network"])
    with pytest.raises(ConfigError, match=r"--format keras: \S*Doubled\S* in the network is none of Keras' own layers"):
        bundle.export(one, request(tmp_path / "keras", "onnx", "keras"))
    assert list((tmp_path / "keras").iterdir()) == []
    assert list(bundle.export(one, request(tmp_path / "others", "saved-model", "tflite", "onnx"))["files"])


def test_what_a_format_lacks_is_named(tmp_path, monkeypatch):
    def fails(model, path):
        raise NotImplementedError("no such\noperation.")

    monkeypatch.setattr(keras_file, "write", fails)
    with pytest.raises(ConfigError) as caught:
        bundle.export(agent(VECTORS), request(tmp_path, "keras"))
    assert str(caught.value) == "--format keras cannot hold this agent: NotImplementedError: no such operation."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", variants(["value", "action", "probabilities"], "action"))
def test_a_file_that_says_something_else_is_not_kept(output, tmp_path, monkeypatch):
    read = onnx_file.read

    def wrong(path):
        runtime = read(path)
        return lambda inputs: {name: array + (name == output) for name, array in runtime(inputs).items()}

    monkeypatch.setattr(onnx_file, "read", wrong)
    with pytest.raises(ConfigError, match=r"agent\.onnx is not what the agent says, and was not kept"):
        bundle.export(agent(VECTORS), request(tmp_path, "onnx"))
    assert list(tmp_path.iterdir()) == []


def test_a_kill_leaves_no_file_under_its_name(tmp_path):
    out = tmp_path / "out"
    code = "import time; from ga3c.exports import measured; measured.lines = lambda files: time.sleep(1e6)"
    arguments = ["export", SHIPPED, "--format", "saved-model", "tflite", "--out", out]
    started = program.Started(tmp_path / "log", *arguments, code=code)
    started.wait_for(lambda: "agent.tflite: " in (tmp_path / "log").read_text())
    assert started.stop(signal.SIGKILL) == -signal.SIGKILL
    (left,) = out.iterdir()
    assert left.name.endswith(".partial")
    assert (left / "agent.tflite").exists()
    bundle.export(agent(VECTORS), request(out, "keras"))
    assert {path.name for path in out.iterdir()} == {"agent.keras", "play_keras.py", "agent.json", "README.md"}


def test_an_export_replaces_another_as_a_whole(tmp_path, capsys):
    one = agent(VECTORS)
    bundle.export(one, request(tmp_path, "saved-model", "onnx"))
    (tmp_path / "notes.txt").touch()
    described = json.loads((tmp_path / "agent.json").read_text())
    described["files"] |= {"notes.txt": {"script": None}, "agent.tflite": {"script": "notes.txt"}}  # of somebody else
    (tmp_path / "agent.json").write_text(json.dumps(described))
    with pytest.raises(ConfigError, match=r"There is agent\.json in .* already: .* or add --replace"):
        bundle.export(one, request(tmp_path, "keras"))
    bundle.export(one, request(tmp_path, "saved-model", "keras", replace=True))
    scripts = {"play_saved_model.py", "play_keras.py"}
    assert {path.name for path in tmp_path.iterdir()} == {
        *("saved-model", "agent.keras", "agent.json", "README.md", "notes.txt"), *scripts
    }  # fmt: skip


@pytest.mark.parametrize("name", ["README.md", "play_saved_model.py", "saved-model"])
@pytest.mark.parametrize("replace", [False, True])
def test_what_no_export_has_left_is_not_replaced(name, replace, tmp_path):
    (tmp_path / name).write_text("precious")
    with pytest.raises(ConfigError, match=f"There is {name} in .*, which is no export"):
        request(tmp_path, "saved-model", replace=replace).check()


@pytest.mark.parametrize("content", ["[]", "{}", '{"files": [1]}', '{"files": {"agent.onnx": {}}}'])
def test_an_agent_json_of_something_else_is_one_line(content, tmp_path):
    (tmp_path / "agent.json").write_text(content)
    with pytest.raises(ConfigError, match=r"agent\.json is not of an export"):
        request(tmp_path, "saved-model", replace=True).check()


@pytest.mark.parametrize("ways", [[], {"sampled": {"scores": "x"}, "greedy": {"scores": [1]}}])
def test_scores_beside_the_weights_that_are_none_are_said_at_once(ways, tmp_path, monkeypatch):
    one = replace(agent(VECTORS), path=tmp_path / "run" / "checkpoints" / "checkpoint-000000000001.npz")
    monkeypatch.delattr(bundle, "play")
    score = {"steps_trained": 1, "episodes": 1, "seed": 1_000, "fingerprint": "gymnasium", "ways": ways}
    (tmp_path / "run").mkdir()
    for content in ([], score):
        (tmp_path / "run" / "evaluation.json").write_text(json.dumps(content))
        with pytest.raises(ConfigError, match=r"evaluation\.json does not hold the scores of games"):
            bundle.export(one, request(tmp_path / "out", "saved-model"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "pdf"], "invalid choice 'pdf' for argument '--format'"),
        (["--quantize", "int8"], "--quantize is for --format tflite: add that."),
        (["--format", "onnx", "--quantize", "int8"], "--quantize is for --format tflite: add that."),
        (["--format", "keras", "--out", str(SHIPPED)], "is a run, or an agent of this program"),
    ],
)
def test_refusals(words, said, capsys):
    assert main(["export", str(SHIPPED), *words]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "package"), [("onnx", "tf2onnx"), ("onnx", "onnxruntime"), ("tflite", "ai_edge_litert")]
)
def test_a_package_that_is_not_installed(name, package, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path)
    assert main(["export", str(SHIPPED), "--format", name]) == 2
    said = capsys.readouterr().err
    assert said == f"ga3c: --format {name} needs {package}, which is not installed: ./run.sh installs it.\n"
    assert list(tmp_path.iterdir()) == []
