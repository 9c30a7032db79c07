"""A setting that has no effect is refused where it is asked for, in one line that says what can use it."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from ga3c import algorithms
from ga3c.commands.train_options import parse_settings
from ga3c.errors import ConfigError
from ga3c.model import Model
from ga3c.rollout import EnvironmentSpec, continuous, discrete
from ga3c.settings import uses
from ga3c.settings.catalogue import ALGORITHMS, RESTRICTED, users
from ga3c.settings.learning import LearningSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings
from ga3c.settings.saved_settings import to_dict

VECTOR = EnvironmentSpec("Tiny", (3,), "float32", discrete(2), 1)
NUMBERS = VECTOR._replace(actions=continuous([-1.0], [1.0]))
PICTURE = VECTOR._replace(observation_shape=(84, 84, 4), observation_dtype="uint8")
CARTPOLE = "--game CartPole-v1"
IDLE = {
    f"{CARTPOLE} --frame-stack 8": "--frame-stack 8 does not go with the game CartPole-v1: it is for Atari games.",
    f"{CARTPOLE} --frame_skip_frames=8": "--frame-skip-frames 8 does not go with the game CartPole-v1",
    f"{CARTPOLE} --protocol machado": "--protocol machado does not go with the game CartPole-v1",
    f"{CARTPOLE} --no-life-loss-terminates": "--no-life-loss-terminates does not go with the game CartPole-v1",
    f"{CARTPOLE} --minibatches 4": "--minibatches 4 does not go with --algorithm a3c: it is for ppo, appo or pqn.",
    "--preset dqn --atoms 21": "--atoms 21 does not go with --algorithm dqn: it is for c51.",
    f"{CARTPOLE} --replay-compression": "does not go with --algorithm a3c: it is for dqn, c51 or dpg.",
    "--preset ppo-paper --max-prediction-batch 9": "--max-prediction-batch 9 does not go with --sampling synchronised",
    "--cluster local --predictors 3": "--predictors 3 does not go with --cluster: it is for agents of this machine",
    "--preset cule --agents 3": "--agents 3 does not go with --games 120: it is for games of agents.",
    "--preset a2c --minimum-batch-steps 160": "it is for a3c, and for games that do not wait for each other.",
    "--preset apex-dqn --controller on": "does not go with --algorithm dqn: it is for algorithms without a replay",
    "--controller off --controller-seconds 5": "--controller off: it is for --controller on or paper.",
    "--preset apex-dqn --exploration-start 0.5": "--exploration per-game: it is for --exploration schedule.",
    "--preset dqn --priority-beta 0.5": "--priority-alpha 0: it is for --priority-alpha above 0.",
    "--serial --sampling alternating": "--sampling alternating does not go with --serial: it is for games of agents.",
    "--preset ppo-paper --steps 9e6 --learning-rate-decay-steps 5e6": "it is for runs without one of them.",
    "--learning-rate 0": "--learning-rate 0 learns nothing: give more, or --algorithm none",
    "--preset ppo-paper --minibatches 7": "--minibatches 7 does not divide a batch of 1,024 steps: use 4.",
    "--devices cpu:7 --preset a2c": "--devices cpu:7 is more parts than there are cores: use cpu:2 at the most.",
    "--tensorflow-threads 3": "--tensorflow-threads 3 is more than there are cores: use 2 at the most.",
    "--learning-rate-schedule linear --learning-rate-decay-steps 0": "give --steps or --learning-rate-decay-steps.",
    "--preset ppo-paper --kl-target 0.02": "--learning-rate-schedule linear: it is for --learning-rate-schedule kl.",
    "--preset appo --entropy-target-decay-steps 9": "--entropy-target 0: it is for --entropy-target above 0",
    f"{CARTPOLE} --entropy-target 0.5": "--entropy-target 0.5 does not go with --algorithm a3c: it is for ppo or appo.",
    f"{CARTPOLE} --kl-target 0.02": "--kl-target 0.02 does not go with --algorithm a3c: it is for ppo or appo.",
    f"{CARTPOLE} --learning-rate-schedule kl": "kl does not go with --algorithm a3c: it is for ppo or appo.",
    "--preset pqn --normalize-values": "--normalize-values does not go with --algorithm pqn",
    "--rmsprop-decay 0.9": "does not go with --optimizer muon: it is for --optimizer rmsprop.",
    "--trust": "--trust is for --resume",
}
USED = (
    "--learning-rate-decay-steps 9e6",
    "--preset appo --learning-rate-schedule kl --learning-rate-decay-steps 9",
    f"{CARTPOLE} --emulator auto --start-steps-limit 9",
    "--frame-stack 2 --protocol machado",
    "--preset a2c --minimum-batch-steps 80 --controller off --predictors 1",
    f"{CARTPOLE} --sampling alternating --minimum-batch-steps 40",
    "--preset appo --minibatches 8 --trainers 2",
    "--preset cule --batches 10",
    "--serial --agents 2 --envs-per-agent 4",
    "--preset rainbow --priority-beta 0.5 --atoms 21",
    "--preset ppo-paper --learning-rate-decay-steps 5e6",
    "--preset appo --learning-rate-schedule kl --kl-target 0.02 --normalize-values",
    "--batches 1",
    "--controller off --policy-lag-limit-updates 0",
    "--controller paper --policy-lag-limit-updates 2",
)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(uses, "usable_cores", lambda: 2)


@pytest.mark.parametrize("line", IDLE)
def test_what_has_no_effect_is_refused_with_what_can_use_it(line):
    with pytest.raises(ConfigError) as refused:
        parse_settings(line.split())
    assert IDLE[line] in str(refused.value)


@pytest.mark.parametrize("line", USED)
def test_what_has_an_effect_or_says_what_holds_anyway_is_taken(line):
    parse_settings(line.split())


def test_what_an_old_run_holds_is_no_offence(tmp_path):
    settings = Settings()
    environment = replace(settings.environment, game="CartPole-v1", frame_stack=8)
    old = replace(settings, environment=environment, learning=replace(settings.learning, learning_rate=0.0, epochs=9))
    (tmp_path / "config.json").write_text(json.dumps({"settings": to_dict(old)}))
    assert parse_settings(["--resume", str(tmp_path), "--minutes", "1"])[0].environment.frame_stack == 8
    with pytest.raises(ConfigError, match="--frame-stack 4 does not go with the game"):
        parse_settings(["--resume", str(tmp_path), "--frame-stack", "4"])


def test_where_a_number_begins_is_said_to_a_new_run_alone(tmp_path):
    """The rate that follows KL and the weight that follows an entropy are in the checkpoint."""
    settings, resume = parse_settings(["--game", "Pong"])[0], ["--resume", str(tmp_path)]
    (tmp_path / "config.json").write_text(json.dumps({"settings": to_dict(settings)}))
    with pytest.raises(ConfigError, match="--learning-rate-schedule kl: it is for new runs, and --kl-target for this"):
        parse_settings([*resume, "--learning-rate", "1e-4"])
    parse_settings([*resume, "--kl-target", "1e-3"])
    resumed, _, given = parse_settings([*resume, "--entropy-weight", "0.01"])
    with pytest.raises(ConfigError, match="--entropy-target: it is for new runs, and --entropy-target for this"):
        uses.check_seen(resumed, given, "compact", PICTURE)
    masked = PICTURE._replace(actions=PICTURE.actions._replace(masked=True))  # there it follows nothing
    uses.check_seen(resumed, given, "compact", masked)
    asked = parse_settings(["--preset", "ppo", "--entropy-target", "0.5"])
    with pytest.raises(ConfigError, match="it is for games that allow all actions"):
        uses.check_seen(asked.settings, asked.given, "compact", masked)


def test_what_depends_on_what_the_game_shows_is_refused_once_that_is_known():
    for words, seen, says in (
        ("--precision bfloat16", ("mlp", VECTOR), "--network mlp: it is for networks for pictures"),
        ("--input-scaling bytes", ("dqn-mlp", VECTOR), "separate-mlp and networks for pictures"),
        ("--preset dqn --replay-compression", ("dqn-mlp", VECTOR), "it is for games that show pictures"),
        ("--preset a2c --log-epsilon 0.1", ("separate-mlp", NUMBERS), "it is for discrete actions"),
    ):
        settings, _, asked = parse_settings(words.split())
        with pytest.raises(ConfigError, match=says):
            uses.check_seen(settings, asked, *seen)
        uses.check_seen(settings, asked, "small", PICTURE)


def watched(group, read: set[str]):
    """Settings that note which of them are read."""

    class Watched(type(group)):
        def __getattribute__(self, name):
            read.add(name)
            return super().__getattribute__(name)

    return Watched(**vars(group))


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "none"])
def test_each_algorithm_reads_the_settings_that_it_is_said_to_use(algorithm):
    read: set[str] = set()
    constants = ["--preset", "ppo-paper"] if algorithm == "ppo" else ["--algorithm", algorithm]
    settings = with_presets(Settings(), "clone", None) if algorithm == "clone" else parse_settings(constants)[0]
    settings = replace(settings, learning=watched(settings.learning, read), replay=watched(settings.replay, read))
    actions = continuous([-1.0], [1.0]) if algorithm == "dpg" else discrete(2)
    spec = EnvironmentSpec("Tiny", (3,), "float32", actions, 1)
    made = algorithms.make(settings, actions)
    read.clear()  # of the model's own
    made.learning_rate(0), made.exploration(0, 2)
    model = Model(spec, replace(LearningSettings(), algorithm=algorithm, t_max=2), made, 1, xla=False)
    model.warm_up(1, 1, 4)
    model.decide(np.zeros((1, 3), np.float32))
    own = {field.name for field in fields(LearningSettings)} | {"double_q"}
    # Read with per-game or kl alone, for the network, and by a replay.
    hidden = {
        "exploration_base",
        "exploration_exponent",
        "exploration_levels",
        "kl_target",
        "entropy_target_decay_steps",
    }
    hidden |= {"normalize_values", "memory", "memory_units", "discount", "dataset"}
    hidden |= {"epochs"} if algorithm == "clone" else set()  # of the whole data set
    for name in set(RESTRICTED) & own - hidden:
        assert (name in read) == (algorithm in users(name)), name
