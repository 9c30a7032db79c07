"""play and evaluate, with a shipped agent and those of short runs."""

import ctypes.util
import json
import os
import re
import shutil
import subprocess
import termios
import time
from types import SimpleNamespace

import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image, ImageGrab, ImageSequence

from ga3c.__main__ import main
from ga3c.commands import play
from ga3c.errors import ConfigError
from ga3c.play import playing, trained_agent
from ga3c.play.displays import terminal as displays
from ga3c.play.displays import video
from ga3c.play.playing import Moment, Stage, moments
from ga3c.records import run_directory
from ga3c.rollout import Actions, discrete
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.run import Settings
from tests import program
from tests.program import SLOW
from tests.terminal import JOBS, Terminal
from tests.variants import long

NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.fixture(scope="module")
def cart_pole_run(tmp_path_factory):
    run_dir = tmp_path_factory.mktemp("cart") / "run"
    small = ["--agents", 2, "--plot-seconds", 0, "--steps", 500]
    ended = program.run("--game", "CartPole-v1", *small, "--run-dir", run_dir)
    assert ended.returncode == 0, ended.stderr
    return run_dir


@pytest.fixture(scope="module")
def short_pong(tmp_path_factory):
    """The shipped agent, to be played in games of 400 frames: its checkpoint with that one setting changed."""
    (shipped,) = (program.ROOT / "results/pretrained/Pong/checkpoints").glob("*.npz")
    with np.load(shipped) as file:
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
    assert shown[0].shape == (420, 320 + 260, 3)
    assert np.std(shown[150]) > 10  # not blank
    assert imageio.get_reader(video).get_meta_data()["fps"] == 15


def test_with_a_display_it_opens_a_window(short_pong):
    """A real pygame window, on SDL's driver for machines without a screen."""
    ended = program.run("play", "--checkpoint", short_pong, env={"DISPLAY": ":0", "SDL_VIDEODRIVER": "dummy"})
    assert ended.returncode == 0, ended.stderr
    assert len(scores(ended.stdout)) == 1
    assert "Recorded" not in ended.stdout


@pytest.mark.long
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
        "game", "episodes", "scores", "mean", "std", "min", "max", "human_normalized", "protocol",
        "steps_trained",
    } <= set(outcome)  # fmt: skip
    assert (outcome["game"], outcome["episodes"], len(outcome["scores"])) == ("Pong", 35, 35)
    assert outcome["mean"] == pytest.approx(np.mean(outcome["scores"]))
    assert outcome["std"] == pytest.approx(np.std(outcome["scores"], ddof=1))
    assert outcome["human_normalized"] == pytest.approx((outcome["mean"] + 20.7) / (14.6 + 20.7))
    assert outcome["protocol"]["episode_cap_frames"] == 400
    assert outcome["steps_trained"] >= 24_000
    assert f"{outcome['mean']:.2f}" in ended.stdout
    assert len(set(outcome["scores"])) > 1  # each game has its own seed
    assert set(outcome["ways"]) == {"sampled", "greedy"}
    for way in outcome["ways"].values():
        assert way["mean"] == pytest.approx(np.mean(way["scores"]))
        assert way["low"] <= way["mean"] <= way["high"]
        assert f"{way['mean']:.2f}" in ended.stdout
    assert outcome["scores"] == outcome["ways"]["sampled"]["scores"] != outcome["ways"]["greedy"]["scores"]
    assert outcome["fingerprint"].startswith("own-")  # games of 400 frames
    assert outcome["fingerprint"] in ended.stdout


def test_evaluation_under_another_protocol(short_pong, tmp_path):
    """Sticky actions and 18 actions: not for an agent that knows six. The paper's games are not over at 400 frames."""
    arguments = ["evaluate", "--checkpoint", short_pong, "--episodes", 1]
    refused = program.run(*arguments, "--protocol", "machado")
    assert refused.returncode == 2
    assert "has 18 actions, and this agent was trained with 6" in refused.stderr
    paper = ["--protocol", "paper", "--most-steps", 110]
    ended = program.run(*arguments, *paper, "--json", tmp_path / "paper.json")
    assert ended.returncode == 0, ended.stderr
    outcome = json.loads((tmp_path / "paper.json").read_text())
    assert [way["cut_off"] for way in outcome["ways"].values()] == [1, 1]
    assert outcome["fingerprint"].startswith("paper-")
    assert outcome["protocol"]["episode_cap_frames"] == 108_000
    assert re.search(r"Trained and measured under different protocols: own-\w+, paper-\w+", ended.stdout)


@pytest.mark.long
def test_what_is_most_probable_is_the_same_each_time(short_pong, tmp_path):
    results = []
    for name in "ab":
        arguments = ["--episodes", 3, "--json", tmp_path / name, "--seed", 5]
        ended = program.run("evaluate", "--checkpoint", short_pong, *arguments)
        assert ended.returncode == 0, ended.stderr
        results.append(json.loads((tmp_path / name).read_text()))
    assert results[0]["ways"] == results[1]["ways"]


def test_there_is_nothing_to_ask_evaluate_for_greedy_play(capfd):
    """It always measures both ways; play has the flag."""
    assert main(["evaluate", "results/pretrained/Pong", "--greedy"]) == 2
    assert "--greedy" in capfd.readouterr().err


def test_a_gymnasium_environment_is_shown_too(cart_pole_run, tmp_path):
    ended = program.run("play", cart_pole_run, "--record", tmp_path / "film.mp4", env=NO_DISPLAY)
    assert ended.returncode == 0, ended.stderr
    assert "XDG" not in ended.stdout + ended.stderr  # of SDL, which looks for a display
    ((score, steps),) = scores(ended.stdout)
    assert score == steps >= 5
    assert len(pictures(tmp_path / "film.mp4")) == 1 + steps
    ended = program.run("evaluate", cart_pole_run, "--episodes", 4)
    assert "no human score known" in ended.stdout


@pytest.mark.parametrize(
    ("library", "env"), [("EGL", {}), long("GL, that has no display", {"MUJOCO_GL": "glfw"})], ids=["EGL", "GL"]
)
def test_mujoco_is_drawn_without_a_display_or_says_what_that_takes(tmp_path, library, env):
    """Games of an agent that has learned nothing are over within some steps."""
    run, film = tmp_path / "run", tmp_path / "film.mp4"
    train = ["--game", "Hopper-v5", "--preset", "ppo-continuous", "--serial", "--envs-per-agent", 4, "--steps", 1]
    train += ["--plot-seconds", 0]
    assert program.run(*train, "--run-dir", run).returncode == 0
    ended = program.run("play", run, "--record", film, env=NO_DISPLAY | env)
    if ctypes.util.find_library(library):
        assert ended.returncode == 0, ended.stderr
        ((_, steps),) = scores(ended.stdout)
        assert len(pictures(film)) == 1 + steps
        assert np.std(pictures(film)[0]) > 10  # not blank
    else:
        assert ended.returncode == 2
        (line,) = ended.stderr.splitlines()
        assert "install libegl1" in line


def test_a_window_that_cannot_open_is_said_and_the_games_are_closed(short_pong, monkeypatch, capfd):
    closed = []
    monkeypatch.setattr(Stage, "close", lambda stage, close=Stage.close: (close(stage), closed.append(stage)))
    for name, value in {"DISPLAY": ":0", "SDL_VIDEODRIVER": "none of SDL's"}.items():
        monkeypatch.setenv(name, value)
    assert main(["play", "--checkpoint", str(short_pong)]) == 2
    errors = capfd.readouterr().err
    assert "ga3c: The window failed; its error stands above. --record FILE.mp4 needs no window." in errors
    assert "Traceback" not in errors
    assert len(closed) == 1


def test_the_usual_video_lies_in_the_folder_of_the_game(tmp_path, monkeypatch):
    monkeypatch.setattr(run_directory, "RESULTS", tmp_path / "results")

    def video(game):
        agent = SimpleNamespace(game="of a class", settings=Settings(environment=EnvironmentSettings(game=game)))
        return play._usual_video(agent)

    assert video("mine:Game") == tmp_path / "results" / "Game" / "play.mp4"
    (tmp_path / "results" / "Pong").touch()
    with pytest.raises(ConfigError, match="Cannot write to"):
        video("pong")


def test_an_agent_of_another_game_is_refused(short_pong, cart_pole_run):
    for arguments in (["--checkpoint", short_pong], [cart_pole_run]):
        ended = program.run("play", "--game", "Boxing", *arguments)
        assert ended.returncode == 2
        assert "not on Boxing" in ended.stderr


def test_an_agent_of_action_values(tmp_path):
    """It takes the best action in each way, or with --exploration others now and then."""
    run, file = tmp_path / "run", tmp_path / "result.json"
    small = ["--replay-minimum-transitions", 200, "--replay-transitions", 1000, "--steps", 300, "--plot-seconds", 0]
    ended = program.run("--preset", "rainbow", "--serial", "--game", "CartPole-v1", *small, "--run-dir", run)
    assert ended.returncode == 0, ended.stderr
    refused = program.run("evaluate", run, "--protocol", "dqn")
    assert refused.stderr == "ga3c: --protocol dqn is for Atari games, and this is CartPole-v1: leave it out.\n"
    ended = program.run("evaluate", run, "--exploration", 0.05, "--episodes", 4, "--json", file)
    assert ended.returncode == 0, ended.stderr
    assert "5 % of actions at random" in ended.stdout
    assert re.search(r"^  actions +best$", ended.stdout, re.MULTILINE)
    outcome = json.loads(file.read_text())
    assert outcome["exploration"] == 0.05
    assert outcome["ways"]["sampled"] == outcome["ways"]["greedy"]


def test_action_values_are_shown_between_the_least_and_the_best():
    def policy(observations, _):
        return np.array([0, 1]), np.array([[3.0, 1.0], [2.0, 2.0]], np.float32), np.array([3.0, 2.0]), np.zeros((2, 0))

    stage = Stage(EnvironmentSettings(game="CartPole-v1"), 2, 1)
    moment = next(moments(stage, policy, False, lambda: None, has_action_values=True))
    stage.close()
    assert moment.shares_of == "action values"
    np.testing.assert_array_equal(moment.shares, [[1, 0], [0, 0]])


def test_the_pictures_are_the_emulators(short_pong, tmp_path):
    """Each picture of the video is that of the game which the agent plays."""
    film = tmp_path / "film.mp4"
    ended = program.run("play", "--checkpoint", short_pong, "--record", film, "--no-overlay", "--seed", 3)
    assert ended.returncode == 0, ended.stderr
    agent, played = trained_agent.load(None, None, str(short_pong), 3), []
    stage = Stage(agent.settings.environment, 1, 3)
    for moment in moments(stage, agent.model.decide, False, lambda: None):
        played.append(moment.pictures[0].copy())
        if moment.ended[0]:
            break
    stage.close()
    shown = pictures(film)
    assert len(shown) == len(played) == 101
    for picture, wanted in zip(shown, played, strict=True):
        # Videos keep colour in half the resolution, so edges differ a little.
        assert np.abs(picture[::2, ::2].astype(int) - wanted).mean() < 4
    assert np.abs(played[0].astype(int) - played[-1]).mean() > 0.1  # something happens


def test_a_grid_plays_games_side_by_side(short_pong, tmp_path):
    """Without a display it is recorded, and that is said."""
    film, three = tmp_path / "film.gif", ["--grid", 3, "--no-overlay"]
    ended = program.run("play", "--checkpoint", short_pong, "--record", film, *three, env=NO_DISPLAY)
    assert ended.returncode == 0, ended.stderr
    assert f"Recorded in {film}" in ended.stdout
    assert len(scores(ended.stdout)) == 3
    with Image.open(film) as gif:
        assert gif.size == (2 * 320, 2 * 420)
        gif.seek(50)
        picture = np.asarray(gif.convert("RGB")).astype(int)
    first, second, third, nothing = (
        picture[y : y + 420, x : x + 320] for y, x in ((0, 0), (0, 320), (420, 0), (420, 320))
    )
    assert np.abs(first - second).max() > 50  # other seeds, other games
    assert np.abs(first - third).max() > 50
    assert np.ptp(nothing.reshape(-1, 3), axis=0).max() < 8


def test_a_gif_ends_where_memory_would(monkeypatch, tmp_path, capsys):
    """Three pictures of 8x8 fit."""
    monkeypatch.setattr(video, "GIF_BYTES", 200)
    gif = video.Gif(tmp_path / "film.gif", frames_per_second=1)
    for brightness in (0, 50, 100, 150, 200):
        gif.append_data(np.full((8, 8, 3), brightness, np.uint8))
    gif.close()
    said = f"Writing {tmp_path / 'film.gif'} with the first 3 s; an .mp4 has whole games ...\n"
    assert capsys.readouterr().out == said
    with Image.open(tmp_path / "film.gif") as written:
        shades = [np.unique(np.asarray(picture.convert("L"))).tolist() for picture in ImageSequence.Iterator(written)]
        assert (shades, written.info["duration"]) == ([[0], [50], [100]], 1000)


@pytest.mark.parametrize(("frames_per_second", "pictures"), [(15, 30), (60, 60), (120, 80)])
def test_a_gif_is_as_fast_as_the_game(frames_per_second, pictures, tmp_path):
    """Two seconds last two seconds, though a picture lasts for whole hundredths, and browsers show 50 at the most."""
    gif = video.Gif(tmp_path / "film.gif", frames_per_second)
    for number in range(2 * frames_per_second):
        gif.append_data(np.full((8, 8, 3), number, np.uint8))
    gif.close()
    with Image.open(tmp_path / "film.gif") as written:
        lengths = [picture.info["duration"] for picture in ImageSequence.Iterator(written)]
    assert (sum(lengths), len(lengths)) == (2000, pictures)
    assert min(lengths) >= 20


def test_a_gif_that_cannot_be_written(tmp_path):
    """What goes wrong at its end is one line, as on a disk that is full."""
    writer = video.Video(tmp_path / "none" / "film.gif", 1, None)
    writer._writer.append_data(np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(ConfigError, match=r"Cannot write .*film.gif: "):
        writer.close()


def test_the_joystick_moves_the_first_game():
    """The agent always pushes the cart to the left, the person to the right."""
    speeds = []

    def policy(observations, _):
        speeds.append(observations[:, 1].copy())
        return np.zeros(2, int), np.tile([1.0, 0.0], (2, 1)), np.zeros(2), np.zeros((2, 0))

    own = iter([1, 1, 1, None, None, None])
    stage = Stage(EnvironmentSettings(game="CartPole-v1"), 2, 1)
    played = moments(stage, policy, False, lambda: next(own))
    for _ in range(7):
        next(played)
    stage.close()
    first, second = np.diff(speeds, axis=0).T
    assert np.sign(first).tolist() == [1, 1, 1, -1, -1, -1]
    assert (second < 0).all()


def number_after(terminal, word) -> int:
    found = re.search(rf"{word} ([\d,]+)", terminal.text())
    return int(found.group(1).replace(",", "")) if found else -1


def test_in_a_terminal_with_keys(short_pong):
    terminal = Terminal("play", "--checkpoint", short_pong, "--terminal", "--episodes", 50, shell=JOBS)
    terminal.wait_for(lambda: number_after(terminal, "step") > 5)
    assert any(b"\x1b[38;5;" in piece for piece in terminal.output.split(b"\n"))  # 256 colours
    assert "▀" in terminal.text()
    for words in ("Pong", "NOOP", "RIGHT", "value", "score", "speed 1", "q quit"):
        assert words in terminal.text()
    terminal.press("p")
    terminal.wait_for(lambda: "paused" in terminal.text())
    stood = number_after(terminal, "step")
    for _ in range(10):
        terminal.look(0.1)
    assert number_after(terminal, "step") == stood
    terminal.resize(rows=30, columns=100)  # it is drawn anew, though it is paused
    terminal.wait_for(lambda: "▀" in terminal.screen.display[27] and "paused" in terminal.text())
    terminal.press("\x1b[3~")  # Delete: no key of ours
    terminal.press("\x1a")  # Ctrl-Z gives the terminal back; fg takes it again
    terminal.wait_for(lambda: terminal.is_clean() and b"Stopped" in terminal.output)
    terminal.press("\n")
    terminal.wait_for(lambda: not terminal.is_clean() and "paused" in terminal.text())
    assert number_after(terminal, "step") == stood
    terminal.press("n")
    terminal.wait_for(lambda: number_after(terminal, "step") == stood + 1)
    terminal.press("j")
    terminal.wait_for(lambda: "you play" in terminal.text())
    terminal.press("j")
    terminal.press("+")
    terminal.press("p")
    terminal.wait_for(lambda: "speed 2" in terminal.text() and "you play" not in terminal.text())
    assert not termios.tcgetattr(terminal.process.fd)[3] & termios.ECHO
    terminal.press("q")
    terminal.wait_for(terminal.is_clean)
    terminal.wait_for(lambda: termios.tcgetattr(terminal.process.fd)[3] & termios.ECHO)
    terminal.press("\n")
    assert terminal.end() == 0


@pytest.fixture
def x_server():
    """A screen without a monitor; its name."""
    if not (shutil.which("Xvfb") and shutil.which("xdotool")):
        pytest.skip("the window is tried on a real X server: install xvfb and xdotool")
    here, there = os.pipe()
    # Without -noreset it starts anew whenever its last client leaves, and turns away who connects at that moment.
    command = ["Xvfb", "-displayfd", str(there), "-screen", "0", "1280x1024x24", "-noreset"]
    with subprocess.Popen(command, pass_fds=[there], stderr=subprocess.DEVNULL) as process:
        os.close(there)
        with os.fdopen(here) as name:
            yield ":" + name.readline().strip()
        process.terminate()


def test_in_a_window_with_keys(short_pong, x_server, tmp_path):
    """What is on the screen stands still while paused, and moves again."""

    def screen(seconds=0.0):
        time.sleep(seconds)
        return ImageGrab.grab(xdisplay=x_server).convert("L").tobytes()

    def press(key):
        subprocess.run(["xdotool", "key", key], env=os.environ | {"DISPLAY": x_server}, check=True)

    arguments = ["play", "--checkpoint", short_pong, "--episodes", 50]
    empty = screen()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISPLAY", x_server)
        patch.delenv("SDL_VIDEODRIVER", raising=False)
        playing = program.Started(tmp_path / "log", *arguments)
    playing.wait_for(lambda: screen() != empty)
    playing.wait_for(lambda: screen() != screen(0.3))
    press("p")
    playing.wait_for(lambda: screen() == screen(1.0))
    before = screen()
    press("n")
    playing.wait_for(lambda: screen() != before)
    assert screen(0.5) == screen(0.5)
    press("p")
    playing.wait_for(lambda: screen() != screen(0.3))
    press("q")
    assert playing.process.wait(program.HANG_SECONDS) == 0


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        long({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, b"\x1b[38;2;"),
        long({"TERM": "xterm-256color", "COLORTERM": ""}, b"\x1b[38;5;"),
        ({"TERM": "vt100", "COLORTERM": ""}, "▒".encode()),
    ],
)
def test_whatever_colours_the_terminal_has(short_pong, env, expected):
    terminal = Terminal("play", "--checkpoint", short_pong, "--terminal", "--speed", 0, env=env)
    assert terminal.end() == 0
    assert expected in terminal.output
    assert terminal.is_clean()
    assert b"Game 1: score" in terminal.output.rpartition(b"\x1b[?1049l")[2]


def test_a_terminal_is_needed_for_the_terminal(short_pong):
    ended = program.run("play", "--checkpoint", short_pong, "--terminal")
    assert ended.returncode == 2
    assert "no terminal" in ended.stderr


def test_live_play_takes_up_new_weights(tmp_path):
    """And ends when it is left; the training does not notice."""
    run_dir = tmp_path / "run"
    training = program.Started(
        tmp_path / "log", "--game", "CartPole-v1", "--agents", 1, "--envs-per-agent", 4, "--run-dir", run_dir,
        "--checkpoint-seconds", 2, "--plot-seconds", 0, *SLOW,
    )  # fmt: skip
    training.wait_for(lambda: (run_dir / "config.json").exists())
    terminal = Terminal("play", run_dir, "--live", "--terminal")
    terminal.wait_for(lambda: number_after(terminal, "after") > 0)
    first = number_after(terminal, "after")
    terminal.wait_for(lambda: number_after(terminal, "after") > first)
    terminal.press("q")
    assert terminal.end() == 0
    assert terminal.is_clean()
    assert training.stop() == 130
    assert "Traceback" not in training.log.read_text()


def test_names_of_actions_are_whole_beside_the_game():
    names, one = ["NOOP", "DOWNRIGHTFIRE", "UPLEFTFIRE"], np.array([1])
    picture, shares = np.zeros((1, 210, 160, 3), np.uint8), np.array([[0, 1, 0]], np.float32)
    moment = Moment(picture, shares, "actions", one / 2, one, shares > 0, one, one, one == 0, [0.5])
    width = displays.PANEL_COLUMNS - 2
    panel = displays.Terminal._panel(SimpleNamespace(_title="Pong", _names=names), moment, "", width, 20)
    assert any(line.startswith(">DOWNRIGHTFIRE █") for line in panel), panel
    assert max(map(len, panel)) <= width


def test_all_choices_that_were_taken_are_marked():
    several, continuous = Actions((2,), "int32", 0, sizes=(2, 3)), Actions((2,), "float32", 0, (-1, -1), (1, 1))
    assert playing.taken(several, np.array([[1, 0], [0, 2]])).astype(int).tolist() == [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]
    assert playing.taken(discrete(3), np.array([2])).tolist() == [[False, False, True]]
    assert playing.taken(continuous, np.zeros((1, 2))).all()


@pytest.mark.parametrize("size", [(22, 8), (80, 2), (80, 1), (10, 24)])
def test_a_terminal_may_be_small(size):
    """Of 64 games there is what has room, and no more."""
    games = np.zeros(64)
    moment = Moment(np.zeros((64, 210, 160, 3), np.uint8), *[games] * 5, games, games, games, [])
    drawn = SimpleNamespace(_title="Pong", _colours=None)
    lines = displays.Terminal._lines(drawn, moment, "", *size)
    assert len(lines) <= size[1]
    assert max(map(len, lines)) <= size[0]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (b"p", ["p"]), (b"\x1b", ["escape"]), (b"\x1b[A\x1bOB ", ["up", "down", "space"]),
        (b"\x1b[3~\x1bOP\x1b[1;2Ax\x1bq", ["x"]),  # Delete, F1, Shift-Up, and Alt-q are nothing
    ],
)  # fmt: skip
def test_keys_of_a_terminal(typed, names):
    assert displays._names(typed) == names
