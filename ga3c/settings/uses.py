"""Refuses a flag that has no effect in the run that it is given for, and says which runs can use it."""

from collections.abc import Iterator
from typing import NamedTuple

from ga3c.errors import ConfigError
from ga3c.machine import usable_cores
from ga3c.settings import devices, flag_of
from ga3c.settings.algorithm_row import RMSPROP
from ga3c.settings.catalogue import ALGORITHMS, RESTRICTED, listed, names, users
from ga3c.settings.named_objects import is_name
from ga3c.settings.presets import USUAL_FOR_ATARI
from ga3c.settings.run import Settings

ATARI = (
    *("protocol", "frame_skip_frames", "frame_size_pixels", "frame_stack", "no_op_max_steps", "fire_reset"),
    *("sticky_action_probability", "full_action_set", "life_loss_terminates", "stall_limit_steps"),
    *("episode_cap_frames", "emulator"),
)


class _Rule(NamedTuple):
    """Some settings, and whether they have an effect in this run."""

    holds: bool  # True: they have
    settings: tuple[str, ...]
    against: str  # what they do not go with
    users: str  # what they are for


def check(settings: Settings, default: Settings, given: set[str], is_atari: bool) -> None:
    """Raises ConfigError for the first setting that has no effect, or that nobody can mean.

    default: the settings without any flag. A flag that only repeats that something is off is allowed.
    given: the names of the settings whose flags were given.
    """
    _check(_rules(settings, is_atari), settings, default, given)
    learning, run = settings.learning, settings.run
    if "learning_rate" in given and not learning.learning_rate:
        raise ConfigError("--learning-rate 0 learns nothing: give more, or --algorithm none, which plays alone.")
    if "vtrace_rho_limit" in given and not learning.vtrace_rho_limit:
        raise ConfigError("--vtrace-rho-limit 0 learns nothing: give more.")
    steps = _batch_steps(settings)
    if "minibatches" in given and steps % learning.minibatches:
        fits = max(n for n in range(1, learning.minibatches) if steps % n == 0)
        raise ConfigError(
            f"--minibatches {learning.minibatches} does not divide a batch of {steps:,} steps: use {fits}."
        )
    columns = steps // learning.t_max
    if learning.memory != "none" and "minibatches" in ALGORITHMS[learning.algorithm].settings:
        _check_sequences(columns, learning.minibatches)
    cores = usable_cores()
    if "devices" in given and run.devices:
        kind, numbers = devices.named(run.devices)
        if kind == "cpu" and len(numbers) > cores:
            raise ConfigError(
                f"--devices {run.devices} is more parts than there are cores: use cpu:{cores} at the most."
            )
    if "tensorflow_threads" in given and run.tensorflow_threads > cores:
        raise ConfigError(
            f"--tensorflow-threads {run.tensorflow_threads} is more than there are cores: use {cores} at the most."
        )
    # Limits are those of each start. A clone's rate may stay where it is.
    falls = "learning_rate_schedule" in given or (settings.run.resume is not None and learning.algorithm != "clone")
    if falls and learning.learning_rate_schedule == "linear" and not _rate_ends(settings):
        raise ConfigError("--learning-rate-schedule linear needs an end: give --steps or --learning-rate-decay-steps.")


def _check_sequences(columns: int, minibatches: int) -> None:
    """Raises ConfigError where the rollouts of a batch cannot be dealt evenly to the minibatches."""
    if columns % minibatches:
        fits = max(n for n in range(1, minibatches) if columns % n == 0)
        raise ConfigError(
            f"--memory learns from whole rollouts, and --minibatches {minibatches} does not divide the {columns:,} of "
            f"a batch: use --minibatches {fits}, or more games."
        )


def check_seen(settings: Settings, given: set[str], network: str, spec) -> None:
    """Raises ConfigError likewise where an effect depends on what the game shows, and on the `network` for it.

    spec: the game's `rollout.EnvironmentSpec`.
    """
    game, mlp = f"the game {settings.environment.game}", network.endswith("mlp") or is_name(network)
    pictures = spec.has_pictures
    several = spec.layout is not None and not spec.layout.is_plain and network != "dpg-mlp" and not is_name(network)
    follows = settings.learning.entropy_target > 0 and not (spec.actions.continuous or spec.actions.masked)
    begins = not follows or settings.run.resume is None  # else the weight goes on from where it was
    of_new = "new runs, and --entropy-target for this one"
    rules = (
        _Rule(not mlp, ("precision",), f"--network {network}", "networks for pictures"),
        _Rule(not mlp or several or network == "separate-mlp", ("input_scaling",), f"--network {network}",
              "separate-mlp and networks for pictures"),
        _Rule(pictures, ("replay_compression",), game, "games that show pictures"),
        _Rule(not spec.actions.continuous, ("log_epsilon", "entropy_target"), game, "discrete actions"),
        _Rule(not spec.actions.masked, ("entropy_target",), game, "games that allow all actions"),
        _Rule(begins, ("entropy_weight",), "--resume and --entropy-target", of_new),
    )  # fmt: skip
    _check(rules, settings, Settings(), given)


def _check(rules, settings: Settings, default: Settings, given: set[str]) -> None:
    values, usual = (
        {name: value for group in vars(s).values() for name, value in vars(group).items()} for s in (settings, default)
    )
    for rule in rules:
        for name in rule.settings:
            if rule.holds or name not in given or _says_nothing(values[name], usual[name]):
                continue
            raise ConfigError(
                f"{_said(name, values[name])} does not go with {rule.against}: it is for {rule.users}. Leave it out."
            )


def _said(name: str, value) -> str:
    """Returns a setting with its value as the command line has it."""
    if isinstance(value, bool):
        return flag_of(name if value else f"no_{name}")
    if isinstance(value, tuple):
        return f"{flag_of(name)} {' '.join(value)}"
    return f"{flag_of(name)} {value:g}" if isinstance(value, float) else f"{flag_of(name)} {value}"


def _says_nothing(value, usual) -> bool:
    return value == "off" or (value == usual and (not value or value in (1, "auto")))


def _rules(settings: Settings, is_atari: bool) -> Iterator[_Rule]:
    algorithm, preset = settings.learning.algorithm, settings.learning.preset
    chosen = f"--preset {preset}" if preset == USUAL_FOR_ATARI else f"--algorithm {algorithm}"  # it may be unnamed
    game = settings.environment
    yield _Rule(is_atari, ATARI, f"the game {game.game}", "Atari games")
    one, others = f"the game {game.game}", "other games than Atari's"
    yield _Rule(not is_atari, ("adapt_spaces", "action_masks", "environment_arguments", "wrapper"), one, others)
    yield _Rule(is_atari or game.observation != "ram", ("observation",), one, "Atari games")
    yield _Rule(not is_atari or game.observation != "flat", ("observation",), one, others)
    seen = game.observation != "ram"
    yield _Rule(seen, ("frame_size_pixels", "frame_stack"), "--observation ram", "--observation auto")
    scaled = game.reward_scaling_discount > 0
    yield _Rule(scaled, ("reward_scaling_limit",), "--reward-scaling-discount 0", "rewards that are scaled")
    optimizer = settings.learning.optimizer
    of_optimizers = dict.fromkeys(RMSPROP, ("rmsprop",)) | {"adam_epsilon": ("adam", "muon")}
    for name in RESTRICTED:
        if name in of_optimizers and optimizer != "auto":
            fit = of_optimizers[name]
            yield _Rule(optimizer in fit, (name,), f"--optimizer {optimizer}", f"--optimizer {' or '.join(fit)}")
            continue
        able = users(name)
        others = "all others" if len(able) == len(ALGORITHMS) - 1 else listed(able)
        yield _Rule(algorithm in able, (name,), chosen, others)
    yield from _rules_of_play(settings)
    yield from _rules_of_others(settings)


def _rules_of_play(settings: Settings) -> Iterator[_Rule]:
    """Yields rules for settings of who plays, and of who waits for whom."""
    schedule, algorithm = settings.schedule, settings.learning.algorithm
    alone, together, pods = schedule.serial, schedule.sampling != "asynchronous", bool(schedule.cluster)
    mode = "--serial" if alone else f"--sampling {schedule.sampling}" if together else "--cluster"
    free, replaying = not (alone or together), ALGORITHMS[algorithm].replays
    control = ("controller", "controller_seconds", "policy_lag_limit_updates")
    who = "agents of this machine that do not wait for each other"
    yield _Rule(not alone, ("sampling",), mode, "games of agents")
    yield _Rule(free and not pods, ("predictors", "max_prediction_batch", *control), mode, who)
    yield _Rule(free, ("trainers",), mode, "agents that do not wait for each other")
    without = "algorithms without a replay memory"
    yield _Rule(not replaying, ("trainers", *control, "minimum_batch_steps"), f"--algorithm {algorithm}", without)
    learning = "algorithms that learn from what is played"
    yield _Rule(algorithm != "clone", ("trainers", *control), f"--algorithm {algorithm}", learning)
    here = not (alone or pods or schedule.sampling == "batched")
    yield _Rule(here, ("agent_silence_seconds", "pin_agents"), mode, "agents in processes of this machine")
    yield _Rule(not schedule.games, ("agents", "envs_per_agent"), f"--games {schedule.games}", "games of agents")
    waiting = listed(names(row for row in ALGORITHMS.values() if not row.learns_at_once))
    exact = settings.learning.minimum_batch_steps == _batch_steps(settings)
    yield _Rule(
        alone or free or _plays_on(settings) or exact,
        ("minimum_batch_steps",),
        mode,
        f"{waiting}, and for games that do not wait for each other",
    )


def _rules_of_others(settings: Settings) -> Iterator[_Rule]:
    """Yields rules for settings that have an effect with one value of another setting alone."""
    learning, replay, controller = settings.learning, settings.replay, settings.schedule.controller
    schedule, until = learning.learning_rate_schedule, settings.run.steps is not None
    scheduled = ("exploration_start", "exploration_end", "exploration_decay_steps")
    per_game = ("exploration_base", "exploration_exponent", "exploration_levels")
    of_priorities = ("priority_error", "priority_beta", "priority_beta_final")
    pace = replay.steps_per_update
    for holds, these, flag, value, wanted in (
        (controller != "off", ("controller_seconds",), "--controller", controller, "on or paper"),
        (learning.memory != "none", ("memory_units",), "--memory", "none", "gru or lstm"),
        (learning.entropy_target > 0, ("entropy_target_decay_steps",), "--entropy-target", 0, "above 0"),
        (schedule == "kl", ("kl_target",), "--learning-rate-schedule", schedule, "kl"),
        (learning.exploration == "schedule", scheduled, "--exploration", learning.exploration, "schedule"),
        (learning.exploration == "per-game", per_game, "--exploration", learning.exploration, "per-game"),
        (replay.priority_alpha > 0, of_priorities, "--priority-alpha", 0, "above 0"),
        (not pace, ("prefetch_batches", "replay_copies"), "--steps-per-update", pace, "0"),
        (not replay.replay_shards, ("prefetch_batches",), "--replay-shards", replay.replay_shards, "0"),
        (replay.replay_eviction == "priority", ("eviction_alpha",), "--replay-eviction", "oldest", "priority"),
    ):
        yield _Rule(holds, these, f"{flag} {value}", f"{flag} {wanted}")
    alone, apart = settings.run.device_updates == "synchronous", "--device-updates asynchronous"
    for holds, name, wanted in (
        (not alone, "device_pull_steps", apart),
        (not alone and learning.algorithm == "ppo", "device_exchange_minibatches", f"--algorithm ppo and {apart}"),
    ):
        against = "--device-updates synchronous" if alone else f"--algorithm {learning.algorithm}"
        yield _Rule(holds, (name,), against, wanted)
    both = "--learning-rate-schedule linear and --steps"
    yield _Rule(not (schedule == "linear" and until), ("learning_rate_decay_steps",), both, "runs without one of them")
    begins = schedule != "kl" or settings.run.resume is None  # else the rate goes on from where it was
    of_new = "new runs, and --kl-target for this one"
    yield _Rule(begins, ("learning_rate",), "--resume and --learning-rate-schedule kl", of_new)


def _plays_on(settings: Settings) -> bool:
    """Returns True if agents step together and yet do not wait for updates: the algorithm does not learn at once."""
    lockstep = settings.schedule.sampling in ("synchronised", "alternating")
    return lockstep and not ALGORITHMS[settings.learning.algorithm].learns_at_once


def _batch_steps(settings: Settings) -> int:
    """Returns the number of steps in one update from rollouts, when the run begins."""
    learning, schedule = settings.learning, settings.schedule
    agents, envs = schedule.first_agents(), schedule.envs_per_agent
    if schedule.sampling == "batched":
        return learning.t_max * (schedule.games_of(agents) // schedule.batches)
    if schedule.sampling != "asynchronous" and not schedule.serial and not _plays_on(settings):
        return learning.t_max * agents * envs
    rollout = learning.t_max * envs * (agents if schedule.serial else 1)
    return -(-learning.minimum_batch_steps // rollout) * rollout


def _rate_ends(settings: Settings) -> bool:
    return bool(settings.learning.learning_rate_decay_steps or settings.run.steps)
