"""Bad input gets one clear line and exit status 2; help names every setting."""

import errno
import importlib.util
import json
import os
import shutil
from dataclasses import fields, replace

import pytest

import ga3c
from ga3c import environments, installation
from ga3c.__main__ import main
from ga3c.commands import COMMANDS, full_help, help, train, train_options
from ga3c.commands.command_line import check_writable, parse
from ga3c.commands.plot import PlotOptions
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.experiments.runs import directory_of
from ga3c.experiments.throughput import SpeedRun
from ga3c.records import chosen_runs, run_directory
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import to_dict
from tests import program
from tests.finished_runs import make_run

BAD = [
    (["--game", "Boxin"], "Unknown game 'Boxin'. Nearest: Boxing"),
    (["--game", "CartPole-v9"], "Nearest: CartPole-v1"),
    (["--game", "nothere:Env-v0"], "Cannot import 'nothere'"),
    (["--game", "tests.tiny_environment:Nope-v0"], "registered no environment 'Nope-v0'"),
    (["--game", "tests.test_environments:SystemExit-in-make-v0"], "Cannot make the game"),
    (["--game", "tests.test_environments:SystemExit-in-reset-v0"], "SystemExit: 3."),
    (["--game", "Pendulum-v1", "--minutes", "1"], "use --preset ppo-continuous"),
    (["--game", "CartPole-v1", "--network", "small"], "needs images"),
    (["--agnets", "3"], "Nearest: --agents"),
    (["--agents", "many"], "Error parsing --agents: many is no whole number"),
    (["--agents", "-1"], "--agents -1 is out of range"),
    (["--envs-per-agent", "0"], "from 1 to 256"),
    (["--discount", "1.5"], "--discount 1.5 is out of range"),
    (["--vtrace-c-limit", "2", "--steps", "1"], "--vtrace-c-limit 2 is above --vtrace-rho-limit 1"),
    (["--sampling", "alternating", "--controller", "paper", "--steps", "1"], "does not go with --sampling alternating"),
    (["--algorithm", "a2c", "--controller", "on", "--steps", "1"], "does not go with --sampling synchronised"),
    (["--serial", "--controller=on", "--steps", "1"], "does not go with --serial"),
    (["--controller", "maybe"], "invalid choice 'maybe' for argument '--controller'"),
    (["--preset", "papr"], "invalid choice 'papr' for argument '--preset'"),
    (["--network", "math:nothing"], "There is no network 'nothing' in the module 'math'."),
    (["--network", "nothere:net"], "Cannot import 'nothere' of the network 'nothere:net'"),
    (["--wrapper", "nothing", "--game", "CartPole-v1"], "Expected package.module:Wrapper."),
    (["--wrapper", "a:B"], "--wrapper a:B does not go with the game Pong"),
    (["--environment-arguments", "{"], "--environment-arguments '{' is no JSON object"),
    (["--game", "CartPole-v1", "--environment-arguments", '{"size": 8}'], "Cannot make the game 'CartPole-v1'"),
    (["--own-algorithm", "mine"], "Expected package.module:Class."),
    (["--network", "huge"], "invalid choice 'huge' for argument '--network'"),
    (["--steps"], "Missing value for argument '--steps'. It takes one value."),
    (["--steps", "many"], "Error parsing --steps: many is no whole number. See --help."),
    (["--steps", "None"], "Error parsing --steps: None is no whole number"),
    (["--resume", "/nowhere"], "There is no run in /nowhere"),
    (["plya"], "did you mean 'play'"),
    (["train", "Pong"], "Unrecognized options: Pong. A game is named so: --game Pong. See --help."),
    (["--game", "Pong", "play"], "A command comes first: ./run.sh play."),
    (["-minutes", "1"], "Options begin with two dashes: --minutes."),
    (["", "--steps", "many"], "Unrecognized options"),
    (["doctor", "Boxing"], "Unrecognized options: Boxing. See --help."),
    (["help", "nosuch"], "There is no command 'nosuch'"),
    (["--from", "nowhere.npz"], "nowhere.npz: there is no such run or checkpoint."),
    (["--from", "tests"], "tests: there is no such run or checkpoint."),
    (["--preset", "cule", "--games", "0"], "--batches 20 share the games: give --games a multiple of that."),
    (["Pung"], "Unknown command 'Pung': the nearest games are Pong"),
    (["MsPacman", "--agents", "-1"], "--agents -1 is out of range"),
    (["CartPole-v1", "--frame-stack", "8"], "does not go with the game CartPole-v1"),
    (["play", "--checkpoint", "/nowhere.npz"], "Cannot read the checkpoint /nowhere.npz: No such file"),
    (["play", "/nowhere", "--checkpoint", "/nowhere.npz"], "RUN (/nowhere) and --checkpoint name an agent each"),
    (["play", "--record", "film.avi"], ".mp4 or .gif"),
    (["play", "--game", "Skiing"], "./run.sh --game Skiing"),
    (["evaluate", "--episodes", "0"], "--episodes 0 is out of range"),
    (["plot", "/nowhere"], "There is no run in /nowhere"),
    (["play", "Boxing"], "There is no run in Boxing (no config.json there): name its directory, or --game GAME."),
    (["reproduce", "ga3c", "--scale", "cpu"], "{fig2,fig3,fig4,table2,fig5,table3,fig6,fig7,ablation}"),
    (["reproduce", "fig1"], "fig1 of GA3C has no command of its own"),
    (["reproduce", "fig3", "--game", "Pung"], "Nearest: Pong"),
    (["reproduce", "fig3", "--game", "Pong", "Boxing"], "--game takes one value"),
    (["reproduce", "fig3", "--agents", "2", "0"], "--agents 0 is out of range"),
    (["reproduce", "table2", "--seconds", "0.5"], "--seconds 0.5 is out of range"),
]


@pytest.mark.parametrize(
    ("arguments", "says"), BAD, ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ""
)
def test_bad_input_is_one_line_and_status_2(arguments, says, capfd, tmp_path, monkeypatch):
    monkeypatch.setattr("ga3c.records.run_directory.RESULTS", tmp_path)
    status = main(arguments)
    out, err = capfd.readouterr()
    assert status == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1, err
    assert out == ""
    assert list(tmp_path.iterdir()) == [], "a refused start left something behind"


def test_bad_input_in_a_process_of_its_own(tmp_path):
    ended = program.run("--game", "Pung", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Pong" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_temporary_directory_with_too_long_a_name_is_said(tmp_path):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    ended = program.run("--game", "CartPole-v1", "--run-dir", tmp_path / "run", env={"TMPDIR": str(long)})
    assert ended.returncode == 2
    assert ended.stderr.startswith("ga3c: Cannot start agents by way of ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["zoo"], ["reproduce", "cule"]])
def test_help_shows_no_empty_default(words, capsys):
    assert main([*words, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "(default: 30)" in text
    assert "default: )" not in text
    assert "default: none" not in text


SETTINGS = {name: text for group in fields(Settings) for name, text in help.texts(group.default_factory).items()}


def test_each_setting_has_a_place_in_the_full_help():
    grouped = " ".join(full_help.GROUPS.values()).split()
    assert sorted(grouped) == sorted([*SETTINGS, "trust"])


@pytest.mark.parametrize("name", SETTINGS)
def test_the_help_of_a_setting_is_whole_sentences(name):
    text = SETTINGS[name]
    first = help.first_sentence(text)
    assert first.endswith(".")
    assert first[0].isupper() or first.startswith("--")
    assert text.rstrip().endswith("."), "a sentence goes on in the next setting's text"
    assert not text.startswith(("Of ", "With ", "What ", "Whether ", "Where ", "And "))


@pytest.mark.parametrize("columns", [80, 120])
def test_the_full_help_fits_a_terminal_and_shows_a_presets_defaults(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    for arguments in (["--help-all"], ["train", "--preset", "ga3c", "--help"]):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= columns
        assert f"--t-max INT  (default: {64 if len(arguments) == 1 else 10})" in out
        for name in SETTINGS:
            flag = {"start_from": "from"}.get(name, name).replace("_", "-")
            assert f"\n  --{flag}" in out, name


def test_help_fits_a_terminal_and_says_what_people_use_first(capsys):
    said = []
    for words in (["help"], ["--help"], ["-h"]):
        assert main(words) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    lines = said[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("./run.sh --" in line or "./play.sh" in line for line in lines) >= 3
    for command in COMMANDS:
        assert any(line.startswith(f"  {command} ") for line in lines), command
        assert importlib.util.find_spec(f"ga3c.commands.{command}"), command
    assert sum(line.startswith("  --") for line in lines) == 20


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"GA3C {ga3c.__version__}, Python 3.")


def test_games_are_listed_in_spellings_that_are_known(capsys):
    assert main(["games"]) == 0
    out = capsys.readouterr().out
    names = [word.rstrip("*") for line in out.splitlines()[2:] if line.startswith("  ") for word in line.split()]
    assert len(names) > 100
    assert all(environments.resolve(name)[0] == "atari" for name in names)
    assert "Boxing*" in out  # an agent comes with the program


@pytest.mark.parametrize(("text", "number"), [("1e6", 10**6), ("2.5e5", 250_000), ("1_000", 1_000), ("7", 7)])
def test_whole_numbers_may_be_written_short(text, number):
    assert train.parse_settings(["--steps", text])[0].run.steps == number


@pytest.mark.parametrize("text", ["1.5", "1e6.5", "inf", "nan", "many"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(ConfigError, match="--steps"):
        train.parse_settings(["--steps", text])


def test_starts_in_the_same_second_get_directories_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr("ga3c.records.run_directory.RESULTS", tmp_path)
    monkeypatch.setattr("ga3c.records.run_directory.time.strftime", lambda *_: "2026-01-01_00-00-00")
    paths = [run_directory.create(Settings()) for _ in range(3)]
    assert [path.name for path in paths] == [f"2026-01-01_00-00-00{end}" for end in ("", "+2", "+3")]
    named = replace(Settings(), run=replace(Settings().run, name="quick"))
    assert run_directory.create(named) == tmp_path / "Pong" / "quick"
    with pytest.raises(ConfigError, match=r"There is a run in .*quick already"):
        run_directory.create(named)
    for wrong in ("../up", ".hidden", "a/b", ""):
        with pytest.raises(ConfigError, match="--name"):
            run_directory.create(replace(Settings(), run=replace(Settings().run, name=wrong)))


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "results/pretrained/Pong", "--json"],
        ["report", "results/pretrained/Pong", "--out"],
        ["play", "results/pretrained/Pong", "--record"],
        ["benchmark", "--json"],
    ],
)
def test_what_cannot_be_written_is_said_before_anything_takes_time(arguments, capfd, monkeypatch):
    assert main([*arguments, "/nowhere/film.mp4"]) == 2
    assert capfd.readouterr().err.endswith("there is no directory /nowhere.\n")
    monkeypatch.setattr("os.access", lambda place, how: False)  # a disk that is read-only
    assert main([*arguments, "/tmp/film.mp4"]) == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", f"ga3c: {arguments[-1]} /tmp/film.mp4: it cannot be written there. Name another place.\n")


@pytest.mark.parametrize("name", ["episodes.csv", "game-output.txt", "checkpoints/mine.npz", "tensorboard/mine"])
def test_a_directory_with_files_that_a_run_would_take_for_its_own_is_refused(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("precious")
    settings = replace(Settings(), run=replace(Settings().run, run_dir=str(tmp_path)))
    with pytest.raises(ConfigError, match=rf"There is {name.partition('/')[0]} in .*: name another directory"):
        run_directory.create(settings)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]
    file.rename(tmp_path / "notes.txt")
    assert run_directory.create(settings) == tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "--json", "."], "--json {} is a directory: name a file."),
        (["report", "--out", "."], "--out {} is a directory: name a file."),
        (["export", "--out", "notes.txt"], "--out {}/notes.txt is no directory: name one."),
        (["export", "--format", "saved-model", "--out", "notes.txt"], "--out {}/notes.txt is no directory: name one."),
    ],
)
def test_a_place_of_another_kind_is_said_before_anything_takes_time(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("precious")
    run = tmp_path / "run"  # an exported agent is not exported again
    shutil.copytree(program.ROOT / "results" / "pretrained" / "Pong", run)
    (run / "evaluation.json").unlink()
    assert main([arguments[0], str(run), *arguments[1:]]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"ga3c: {said.format(tmp_path)}\n"
    assert "Playing" not in captured.out


def test_a_game_that_never_ends_is_cut_off(tmp_path):
    flags = ["--agents", 1, "--envs-per-agent", 4, "--minimum-batch-steps", 40, "--steps", 200]
    ended = program.run("--game", "tests.tiny_environment:Forever-v0", *flags, "--run-dir", tmp_path / "run")
    assert ended.returncode == 0, ended.stderr
    ended = program.run(
        "evaluate", tmp_path / "run", "--episodes", 3, "--most-steps", 50, "--json", tmp_path / "x.json"
    )
    assert ended.returncode == 0, ended.stderr
    assert "6 games cut off after 50 steps" in ended.stdout
    assert json.loads((tmp_path / "x.json").read_text())["ways"]["sampled"]["cut_off"] == 3


@pytest.mark.parametrize("env", [{"PYTHONUTF8": "0", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}], ids=["C", "ascii"])
def test_a_terminal_that_knows_no_utf_8_is_no_reason_to_fail(tmp_path, env):
    made = SpeedRun("Pong", 4, 2, 1, seconds=50.0)
    make_run(made, tmp_path)
    run = directory_of(made, tmp_path).rename(tmp_path / "runs" / "Läufe")
    (run / "config.json").write_text(json.dumps({"settings": to_dict(Settings())}))
    env = env | {"PYTHONCOERCECLOCALE": "0", "LANG": "C"}
    for command in (["watch", run], ["list", "--results", tmp_path], ["help"]):
        ended = program.run(*command, env=env)
        assert (ended.returncode, ended.stderr) == (0, ""), command


def test_flags_go_over_the_preset():
    from ga3c.commands.train import parse_settings

    settings = parse_settings(["--preset", "paper", "--learning-rate", "0.001", "--game", "Boxing"])[0]
    assert settings.learning.preset == "paper"
    assert (settings.learning.t_max, settings.learning.rmsprop_epsilon, settings.schedule.envs_per_agent) == (
        5,
        0.1,
        1,
    )
    assert settings.learning.learning_rate == 0.001


def test_the_papers_constants():
    from ga3c.commands.train import parse_settings

    settings = parse_settings(["--preset=paper"])[0]
    assert not settings.environment.life_loss_terminates
    learning = settings.learning
    assert (learning.t_max, learning.discount, learning.entropy_weight, learning.learning_rate) == (
        5,
        0.99,
        0.01,
        3e-4,
    )
    assert (learning.rmsprop_decay, learning.rmsprop_epsilon, learning.log_epsilon) == (0.99, 0.1, 1e-6)
    assert (learning.value_weight, learning.gradient_clip_norm, learning.minimum_batch_steps) == (1.0, 0.0, 40)
    assert learning.learning_rate_decay_steps == 0
    assert settings.schedule.policy_lag_limit_updates == 0
    assert learning.input_scaling == "bytes"
    assert (learning.return_lambda, learning.normalize_advantages) == (1.0, False)  # Eq. 5 as it stands


def test_the_machado_protocol():
    from ga3c.commands.train import parse_settings

    environment = parse_settings(["--protocol", "machado"])[0].environment
    assert (environment.sticky_action_probability, environment.full_action_set) == (0.25, True)
    assert (environment.no_op_max_steps, environment.life_loss_terminates) == (0, False)


def test_a_run_that_never_began_is_taken_back_as_far_as_the_disk_lets_it(monkeypatch, tmp_path):
    monkeypatch.setattr("ga3c.records.run_directory.RESULTS", tmp_path)
    path = run_directory.create(Settings())
    (path / "messages.csv").mkdir()  # cannot be removed as a file
    run_directory.discard(path)
    assert [left.name for left in path.iterdir()] == ["messages.csv"]


def test_paths_are_absolute_once_they_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_directory.PRETRAINED / "Boxing", tmp_path / "c")
    asked = parse_settings(["--run-dir", "a/b", "--from", "c"])[0]
    assert (asked.run.run_dir, asked.run.start_from) == (f"{tmp_path}/a/b", f"{tmp_path}/c")
    assert asked.environment.game == "Boxing"  # that of the agent, where none is named
    options = parse(PlotOptions, ["one", "/two", "--out", "x.svg"], PlotOptions(), "", "plot")
    assert [*options.runs, options.out] == [f"{tmp_path}/one", "/two", f"{tmp_path}/x.svg"]
    (tmp_path / "games.npz").touch()
    monkeypatch.setattr(train_options.clone_options, "_described", lambda _: (None, 100))
    for given, known in (("games.npz", f"{tmp_path}/games.npz"), ("pong/ga3c-v0", "pong/ga3c-v0")):  # Minari's name
        words = ["--algorithm", "clone", "--game", "Pong", "--dataset", given]
        assert parse_settings(words)[0].learning.dataset == known


def test_a_run_of_another_game_than_the_one_that_is_named_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(json.dumps({"settings": to_dict(Settings())}))
    assert chosen_runs.chosen(str(tmp_path / "run"), "pong") == tmp_path / "run"
    with pytest.raises(ConfigError, match="is a run of Pong: leave out --game Boxing, or the run"):
        chosen_runs.chosen(str(tmp_path / "run"), "Boxing")


def test_without_ray_a_line_says_so(monkeypatch):
    monkeypatch.setattr(installation, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="--cluster needs Ray, which is not installed"):
        parse_settings(["--cluster", "local"])


@pytest.mark.parametrize(
    ("number", "says"), [(errno.ENOSPC, "Cannot use /x/y: No space"), (errno.ENAMETOOLONG, "too long")]
)
def test_what_the_disk_does_not_take_is_one_line(number, says, monkeypatch, capfd):
    def full(_):
        raise OSError(number, os.strerror(number), "/x/y")

    monkeypatch.setattr("ga3c.commands.games.run", full)
    assert main(["games"]) == (1 if number == errno.ENOSPC else 2)
    assert says in capfd.readouterr().err
    monkeypatch.setattr("ga3c.commands.games.run", lambda _: os.close(-1))
    with pytest.raises(OSError, match="Bad file descriptor"):  # a fault of the program's
        main(["games"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "--json", ""], "--json '': an empty text names nothing."),
        (["train", "--run-dir", ""], "--run-dir '': an empty text names nothing."),
        (["Pong", "--game", "Boxing"], "'Pong' and --game name a game each: leave one out."),
        (["compare", "--game", "Pong", "--seeds", "1000000000"], "--seeds 1000000000 is out of range"),
        (["zoo", "Pong", "--seeds", "1000000000"], "--seeds 1000000000 is out of range"),
        (["reproduce", "ga3c", "fig6", "--seeds", "1000000000"], "--seeds 1000000000 is out of range"),
        (["reproduce", "cule", "fig4", "--game", "CartPole-v1"], "--game CartPole-v1 is no Atari game"),
        (["reproduce", "cule", "fig10", "--game", "Alien"], "--game Alien: no agent of it comes with the program."),
    ],
)
def test_what_names_nothing_or_too_much_is_one_line(arguments, said, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(program.ROOT)
    out = ["--out", str(tmp_path)] if arguments[0] in ("compare", "zoo", "reproduce") else []
    assert main([*arguments, *out]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match=r"--json .*pipe is no plain file: name one"):
        check_writable("--json", tmp_path / "pipe")
