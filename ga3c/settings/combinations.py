"""Refuses settings that do not go together."""

import math

from ga3c.errors import ConfigError
from ga3c.machine import can_pin
from ga3c.settings import devices
from ga3c.settings.catalogue import ALGORITHMS, NETWORKS, PRESETS, listed, names, users
from ga3c.settings.game import game_arguments
from ga3c.settings.named_objects import check_form
from ga3c.settings.run import Settings


def check(settings: Settings) -> None:
    """Raises ConfigError for the first settings that do not go together."""
    learning = settings.learning
    _check_names(settings)
    if settings.run.checkpoint_games and not settings.schedule.one_thread:
        raise ConfigError(
            "--checkpoint-games is for games that one thread plays, not for those of agents: add --serial or "
            "--sampling batched, or leave it out."
        )
    if learning.vtrace_c_limit > learning.vtrace_rho_limit:
        raise ConfigError(
            f"--vtrace-c-limit {learning.vtrace_c_limit:g} is above --vtrace-rho-limit {learning.vtrace_rho_limit:g}: "
            "give one that is not."
        )
    if learning.learning_rate_schedule == "kl" and learning.algorithm not in (able := users("kl_target")):
        raise ConfigError(
            f"--learning-rate-schedule kl does not go with --algorithm {learning.algorithm}: it is for {listed(able)}."
        )
    if settings.schedule.pin_agents and not can_pin():
        raise ConfigError("--pin-agents works on Linux alone: leave it out.")
    if settings.run.device_updates == "asynchronous":
        _check_units(settings)
    if settings.run.devices is not None:
        _check_devices(settings)
    replay = settings.replay
    if replay.concurrent_training and settings.schedule.sampling == "alternating":
        raise ConfigError("--concurrent-training does not go with --sampling alternating: use synchronised.")
    if replay.replay_minimum_transitions > replay.replay_transitions:
        raise ConfigError(
            f"--replay-minimum-transitions {replay.replay_minimum_transitions} is above --replay-transitions "
            f"{replay.replay_transitions}: give one that is not."
        )
    if learning.algorithm == "clone":
        _check_clone(settings)
    if settings.schedule.sampling == "batched":
        _check_batched(settings)
    elif settings.environment.emulator == "gpu":
        raise ConfigError("--emulator gpu goes with --sampling batched: add that, or use --emulator ours.")
    elif settings.schedule.batches > 1 or settings.schedule.games:
        flag = "--games" if settings.schedule.games else "--batches"
        raise ConfigError(f"{flag} goes with --sampling batched: add that, or leave it out.")
    if replay.replay_eviction == "priority" and not replay.priority_alpha:
        raise ConfigError("--replay-eviction priority needs priorities: give a --priority-alpha above 0.")
    if settings.schedule.cluster:
        _check_cluster(settings)
    if settings.schedule.experience_age_limit_updates:
        _check_age_limit(settings)
    if replay.replay_shards:
        _check_shards(settings)
    if not replay.steps_per_update:
        _check_free_pace(settings)
    if replay.secondary_batch:
        _check_secondary(settings)


def _check_names(settings: Settings) -> None:
    """Raises ConfigError for what names no object, and for arguments that are none."""
    network, own = settings.learning.network, settings.learning.own_algorithm
    if network not in ("auto", *NETWORKS):
        check_form("--network", network, f"one of {('auto', *NETWORKS)}, or package.module:function")
    if own is not None:
        check_form("--own-algorithm", own, "package.module:Class")
    for wrapper in settings.environment.wrapper:
        check_form("--wrapper", wrapper, "package.module:Wrapper")
    game_arguments(settings.environment)


def _check_clone(settings: Settings) -> None:
    schedule = settings.schedule
    for given, flag in (
        (schedule.serial, "--serial"),
        (schedule.sampling != "asynchronous", f"--sampling {schedule.sampling}"),
        (schedule.cluster, "--cluster"),
        (settings.run.devices, "--devices"),
    ):
        if given:
            raise ConfigError(
                f"{flag} does not go with --algorithm clone, which learns from recorded games: leave it out."
            )


def _check_batched(settings: Settings) -> None:
    learning, schedule = settings.learning, settings.schedule
    if schedule.serial:
        raise ConfigError("--sampling batched is one thread as it is: leave --serial out.")
    if "batched" not in ALGORITHMS[learning.algorithm].samplings:
        others = listed(names(row for row in ALGORITHMS.values() if "batched" in row.samplings))
        raise ConfigError(
            f"--sampling batched does not go with --algorithm {learning.algorithm}: use --preset cule, or {others}."
        )
    if settings.environment.emulator == "gpu" and (settings.run.device == "cpu" or settings.run.devices):
        other = f"--devices {settings.run.devices}" if settings.run.devices else "--device cpu"
        raise ConfigError(f"--emulator gpu plays on the one GPU of the model, so not with {other}: leave one out.")
    if schedule.batches == 1:
        return
    if ALGORITHMS[learning.algorithm].replays:
        raise ConfigError(f"--batches goes with rollouts, and {learning.algorithm} has a replay memory: leave it out.")
    if learning.t_max % schedule.batches:
        raise ConfigError(
            f"--batches {schedule.batches} take turns in --t-max {learning.t_max} steps: give a divisor of that."
        )
    if not schedule.games:
        raise ConfigError(f"--batches {schedule.batches} share the games: give --games a multiple of that.")
    if schedule.games % schedule.batches:
        raise ConfigError(
            f"--games {schedule.games} cannot be dealt evenly to --batches {schedule.batches}: "
            f"use --games {max(1, schedule.games // schedule.batches) * schedule.batches}."
        )


def _check_cluster(settings: Settings) -> None:
    schedule = settings.schedule
    if schedule.serial or schedule.sampling != "asynchronous":
        mode = "--serial" if schedule.serial else f"--sampling {schedule.sampling}"
        raise ConfigError(f"--cluster does not go with {mode}, where games wait for each other: leave one of them out.")
    if ALGORITHMS[settings.learning.algorithm].replays and settings.replay.steps_per_update:
        raise ConfigError("With a replay memory, --cluster goes with --steps-per-update 0: pods wait for no update.")


def _check_age_limit(settings: Settings) -> None:
    if not settings.schedule.cluster or ALGORITHMS[settings.learning.algorithm].replays:
        able = (row for row in ALGORITHMS.values() if not row.replays and len(row.samplings) > 1)
        others = listed(names(able))
        raise ConfigError(
            f"--experience-age-limit-updates is for pods without a replay: give --cluster with --algorithm {others}."
        )


def _check_shards(settings: Settings) -> None:
    if not settings.schedule.cluster or not ALGORITHMS[settings.learning.algorithm].replays:
        others = listed([name for name, (_, preset) in PRESETS.items() if preset.waits_for_nothing])
        raise ConfigError(f"--replay-shards is for pods and a replay: give --cluster and --preset {others}.")
    if settings.replay.checkpoint_replay:
        raise ConfigError("--checkpoint-replay does not go with --replay-shards: leave one of them out.")
    if settings.schedule.first_agents() < settings.replay.replay_shards:
        raise ConfigError("There are more --replay-shards than pods (--agents): each pod sends to one.")


def _check_free_pace(settings: Settings) -> None:
    schedule, replay = settings.schedule, settings.replay
    for given, flag in (
        (schedule.serial, "--serial"),
        (schedule.sampling != "asynchronous", f"--sampling {schedule.sampling}"),
        (replay.concurrent_training, "--concurrent-training"),
        (replay.secondary_batch, "--secondary-batch"),
    ):
        if given:
            raise ConfigError(
                f"With --steps-per-update 0 nobody waits for updates, so it does not go with {flag}: give a number of "
                "steps, or leave the other out."
            )


def _check_devices(settings: Settings) -> None:
    kind, _ = devices.named(settings.run.devices)
    if settings.run.device not in ("auto", kind):
        raise ConfigError(f"--device {settings.run.device} does not go with --devices {settings.run.devices}.")
    if settings.replay.concurrent_training:
        raise ConfigError("--concurrent-training does not go with --devices: leave one of them out.")
    if settings.run.xla == "on":
        raise ConfigError("--xla on does not go with --devices: leave it out.")


def _check_units(settings: Settings) -> None:
    learning, schedule = settings.learning, settings.schedule
    if settings.run.devices is None:
        raise ConfigError("--device-updates asynchronous needs several devices: name them with --devices.")
    if "asynchronous" not in ALGORITHMS[learning.algorithm].device_updates:
        others = listed(names(row for row in ALGORITHMS.values() if "asynchronous" in row.device_updates))
        raise ConfigError(
            f"--device-updates asynchronous does not go with --algorithm {learning.algorithm}: use {others}."
        )
    for given, flag in (
        (settings.replay.checkpoint_replay, "--checkpoint-replay"),
        (learning.learning_rate_schedule == "kl", "--learning-rate-schedule kl"),
        (learning.normalize_values, "--normalize-values"),
    ):
        if given:
            raise ConfigError(f"{flag} does not go with --device-updates asynchronous: leave it out.")
    if schedule.serial or schedule.sampling in ("asynchronous", "batched"):
        mode = "--serial" if schedule.serial else f"--sampling {schedule.sampling}"
        raise ConfigError(f"--device-updates asynchronous does not go with {mode}: use --sampling synchronised.")


def _check_secondary(settings: Settings) -> None:
    replay, batch = settings.replay, settings.replay.secondary_batch
    if settings.learning.algorithm not in (able := users("secondary_batch")):
        raise ConfigError(f"--secondary-batch learns from a replay: use --algorithm {listed(able)}, or leave it out.")
    others = {
        "--serial": settings.schedule.serial,
        "--sampling batched": settings.schedule.sampling == "batched",
        "--concurrent-training": replay.concurrent_training,
        "--devices": settings.run.devices,
    }
    for flag, given in others.items():
        if given:
            raise ConfigError(f"--secondary-batch does not go with {flag}: leave one of them out.")
    if batch * replay.steps_per_update % replay.batch:
        raise ConfigError(
            f"--secondary-batch {batch} cannot learn as often from each transition as --batch {replay.batch} with "
            f"--steps-per-update {replay.steps_per_update}: give a multiple of "
            f"{replay.batch // math.gcd(replay.batch, replay.steps_per_update)}."
        )
