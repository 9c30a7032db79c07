"""The console lines of `train` at the start and at the end of a run."""

import sys
from pathlib import Path

from ga3c import environments, networks
from ga3c.environments import rewards
from ga3c.errors import ConfigError
from ga3c.records import checkpoint
from ga3c.records.console import Console
from ga3c.records.files import reason
from ga3c.rollout import EnvironmentSpec
from ga3c.settings.replay import BETA_STEPS
from ga3c.settings.run import Settings
from ga3c.text import count, duration, place, word
from ga3c.views.plot import draw
from ga3c.views.standing import standing


def say_start(settings: Settings, run_dir: Path, games, console: Console) -> None:
    """Says what is trained, where, and what was made of the game."""
    console.say(f"Training {games.spec.name} in {place(run_dir)}  (Ctrl-C stops and saves)")
    network = networks.resolve(settings.learning.network, games.spec, settings.learning.algorithm)
    for line in (*environments.start_lines(settings.environment, games, network), rewards.line(settings.environment)):
        if line:
            console.say(line)
    console.say("Curves in a browser:")
    console.say(f"{word(Path(sys.executable).with_name('tensorboard'))} --logdir {word(run_dir)}")
    console.say("Loading TensorFlow.")


def say_model(settings: Settings, system, console: Console) -> None:
    """Says which network learns, where, and when what falls or grows with the steps ends, if no --steps says it."""
    model, learning = system.model, settings.learning
    network = f"{model.network_name} network, {model.parameters:,} parameters"
    console.say(f"{network}, on the {system.device}; seed {learning.seed}.")
    end = learning.learning_rate_decay_steps
    if learning.learning_rate_schedule == "linear" and end and settings.run.steps is None:
        console.say(f"The learning rate falls to 0 at {end:,} steps: then learning ends. --steps moves that.")
    replay = settings.replay
    if replay.priority_alpha and replay.priority_beta != replay.priority_beta_final and settings.run.steps is None:
        console.say(f"Priorities are corrected as in a run of {BETA_STEPS:,} steps. --steps moves that.")


def say_totals(totals, settings: Settings, spec: EnvironmentSpec, systems: list, console: Console) -> None:
    """Says what the run has come to. `systems`: the run's own, and the secondary learner's if there is one."""
    stats = systems[0].stats
    console.say(
        f"{count(totals.steps, 'step')} ({count(totals.steps * spec.frames_per_step, 'frame')}), "
        f"{count(totals.episodes, 'game')}, {count(totals.updates, 'update')} in {duration(totals.seconds)}"
        + _score(stats)
    )
    if settings.run.steps and totals.steps > settings.run.steps:
        asked, more = settings.run.steps, count(totals.steps - settings.run.steps, "step")
        if stats.steps_before >= asked:
            console.say(f"--steps {asked} counts all steps of a run, and this one had as many before.")
        else:
            console.say(f"These are {more} more than --steps {asked}: {_why_more(settings)}.")
    if stats.recent_scores() and (known := standing(settings.environment, totals.steps)):
        console.say(known)
    for second in systems[1:]:
        console.say(f"secondary: {count(second.stats.totals().updates, 'update')}{_score(second.stats)}")


def _score(stats) -> str:
    games = len(stats.recent_scores())  # 100 at the most
    return f"; mean score of the last {count(games, 'game')} {stats.mean_score():.2f}." if games else "."


def _why_more(settings: Settings) -> str:
    """Returns why a run has made more steps than it was asked for."""
    if settings.schedule.cluster:
        return "pods hand over what they had played until they heard of the end"
    if settings.replay.concurrent_training:
        return "a block of concurrent training goes on to its end"
    return "every game finishes the step that it is in"


def say_saved(runs: list[Path], saved: bool, console: Console) -> None:
    """Says where the run lies and how to go on with it. `saved`: its last checkpoint is there."""
    run_dir = runs[0]
    if not saved and not checkpoint.saved(run_dir / "checkpoints"):
        if run_dir.is_dir():
            console.say("Nothing could be saved: make room, and start again.")
        else:
            console.say(f"{place(run_dir)} was moved or removed, so its last steps are lost. If it was moved:")
            console.say("./run.sh --resume ITS-NEW-PLACE")
        return
    if not saved:
        console.say("The last checkpoint could not be written. This takes the one before:")
        console.say(f"./run.sh --resume {word(run_dir)}")
        return
    console.say(f"Saved in {place(run_dir)}")
    for what, command in (("Go on", "./run.sh --resume"), ("Watch it play", "./play.sh")):
        console.say(f"{what}:")
        console.say(f"{command} {word(run_dir)}")  # on a line of its own, to be copied


def draw_last(runs: list[Path], console: Console) -> None:
    """Draws the curves of a run that has ended."""
    run_dir = runs[0]
    try:
        draw(runs, run_dir / "plot.png")
    except (ConfigError, OSError) as error:  # a log that is too large to be read: the run has ended well
        console.say(f"Cannot draw {place(run_dir / 'plot.png')}: {reason(error).rstrip('.')}.")
