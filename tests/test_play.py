"""play and evaluate, with the agent of a short real run."""

import json
import re

import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image

from tests import program
from tests.program import TINY

NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.fixture(scope="module")
def cart_pole_run(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("cart") / "run"
    ended = program.run("--game", "CartPole-v1", "--run-dir", run_dir, "--steps", 2_000)
    assert ended.returncode == 0, ended.stderr
    return run_dir


@pytest.fixture(scope="module")
def short_pong(atari_run, tmp_path_factory):
    """The Pong agent, to be played in games of 400 frames: its checkpoint with that one setting changed."""
    run_dir = atari_run[0]
    newest = max((run_dir / "checkpoints").glob("*.npz"))
    with np.load(newest) as file:
        arrays = {name: file[name] for name in file.files}
    meta = json.loads(arrays["meta"].tobytes())
    meta["settings"]["environment"]["episode_cap_frames"] = 400
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    path = tmp_path_factory.mktemp("pong") / "short.npz"
    np.savez(path, **arrays)
    return path


def pictures(video) -> list[np.ndarray]:
    return [picture for picture in imageio.get_reader(video)]  # noqa: C416  (its len() is infinite)


def scores(output: str) -> list[tuple[float, int]]:
    """(score, steps) of each game that was printed."""
    found = re.findall(r"^Game \d+: score (\S+) in ([\d,]+) steps$", output, re.MULTILINE)
    return [(float(score), int(steps.replace(",", ""))) for score, steps in found]


def test_a_video_shows_every_step(short_pong, tmp_path):
    video = tmp_path / "film.mp4"
    ended = program.run("play", "--checkpoint", short_pong, "--record", video, "--episodes", 2, env=NO_DISPLAY)
    assert ended.returncode == 0, ended.stderr
    assert [steps for _, steps in scores(ended.stdout)] == [100, 100]
    shown = pictures(video)
    # The first picture, one for each step, and one for the restart between the games.
    assert len(shown) == 1 + 100 + 1 + 100
    assert shown[0].shape == (420, 320, 3)
    assert np.std(shown[150]) > 10  # not blank
    assert imageio.get_reader(video).get_meta_data()["fps"] == 15


def test_without_a_display_it_records_and_says_where(short_pong, tmp_path):
    ended = program.run("play", "--checkpoint", short_pong, "--record", tmp_path / "film.gif", env=NO_DISPLAY)
    assert ended.returncode == 0, ended.stderr
    assert f"Recorded in {tmp_path / 'film.gif'}" in ended.stdout
    with Image.open(tmp_path / "film.gif") as gif:
        assert gif.is_animated


def test_with_a_display_it_opens_a_window(short_pong):
    """A real pygame window, on SDL's driver for machines without a screen."""
    ended = program.run("play", "--checkpoint", short_pong, env={"DISPLAY": ":0", "SDL_VIDEODRIVER": "dummy"})
    assert ended.returncode == 0, ended.stderr
    assert len(scores(ended.stdout)) == 1
    assert "Recorded" not in ended.stdout


def test_the_same_seed_plays_the_same_game(short_pong, tmp_path):
    films = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    outputs = [program.run("play", "--checkpoint", short_pong, "--record", film, "--seed", 7) for film in films]
    assert scores(outputs[0].stdout) == scores(outputs[1].stdout)
    assert films[0].read_bytes() == films[1].read_bytes()


def test_evaluation(short_pong, tmp_path):
    file = tmp_path / "result.json"
    ended = program.run("evaluate", "--checkpoint", short_pong, "--episodes", 35, "--json", file)
    assert ended.returncode == 0, ended.stderr
    outcome = json.loads(file.read_text())
    assert {
        "game", "episodes", "scores", "mean", "std", "min", "max", "human_normalized", "protocol", "greedy",
        "steps_trained",
    } <= set(outcome)  # fmt: skip
    assert (outcome["game"], outcome["episodes"], len(outcome["scores"])) == ("Pong", 35, 35)
    assert outcome["mean"] == pytest.approx(np.mean(outcome["scores"]))
    assert outcome["std"] == pytest.approx(np.std(outcome["scores"]))
    assert outcome["human_normalized"] == pytest.approx((outcome["mean"] + 20.7) / (14.6 + 20.7))
    assert outcome["protocol"]["episode_cap_frames"] == 400
    assert outcome["steps_trained"] >= 24_000
    assert f"{outcome['mean']:.2f}" in ended.stdout
    assert len(set(outcome["scores"])) > 1  # each game has its own seed


def test_greedy_takes_the_most_probable_action(short_pong, tmp_path):
    for name in ("a", "b"):
        arguments = ["--episodes", 3, "--greedy", "--json", tmp_path / name, "--seed", 5]
        assert program.run("evaluate", "--checkpoint", short_pong, *arguments).returncode == 0
    results = [json.loads((tmp_path / name).read_text()) for name in ("a", "b")]
    assert results[0] == results[1]
    assert results[0]["greedy"] is True


def test_a_gymnasium_environment_is_shown_too(cart_pole_run, tmp_path):
    ended = program.run("play", "--run", cart_pole_run, "--record", tmp_path / "film.mp4")
    assert ended.returncode == 0, ended.stderr
    ((score, steps),) = scores(ended.stdout)
    assert score == steps >= 5
    assert len(pictures(tmp_path / "film.mp4")) == 1 + steps
    ended = program.run("evaluate", "--run", cart_pole_run, "--episodes", 4)
    assert "no human score known" in ended.stdout


def test_an_agent_of_another_game_is_refused(short_pong, cart_pole_run):
    for arguments in (["--checkpoint", short_pong], ["--run", cart_pole_run]):
        ended = program.run("play", "--game", "Boxing", *arguments)
        assert ended.returncode == 2
        assert "not on Boxing" in ended.stderr


def test_training_on_the_tiny_environment_can_be_evaluated(tmp_path):
    program.run(*TINY, "--run-dir", tmp_path / "run", "--steps", 500)
    ended = program.run("evaluate", "--run", tmp_path / "run", "--episodes", 3)
    assert ended.returncode == 0, ended.stderr
