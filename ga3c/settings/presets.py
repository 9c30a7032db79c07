"""Settings with the defaults that --preset, --algorithm, --protocol and --batch stand for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ga3c.machine import usable_cores
from ga3c.settings.algorithm_row import Preset
from ga3c.settings.batches import with_batch
from ga3c.settings.catalogue import ALGORITHMS, PRESETS
from ga3c.settings.run import Settings

USUAL_FOR_ATARI = "ga3c-ppo"
_MACHADO = {
    "protocol": "machado",
    "sticky_action_probability": 0.25,
    "full_action_set": True,
    "no_op_max_steps": 0,
    "life_loss_terminates": False,
}


def with_presets(settings: Settings, preset: str | None, protocol: str | None, batch: int | None = None) -> Settings:
    """Returns `settings` with the defaults of a preset, a protocol and, with a replay, a batch put in.

    `preset` may also be the name of an algorithm, which stands for its first preset.
    """
    if preset in ALGORITHMS and preset not in PRESETS:
        preset = next((first.name for first in ALGORITHMS[preset].presets), None)
    if preset in PRESETS:
        row, own = PRESETS[preset]
        settings = _with(settings, "learning", {"preset": preset, "algorithm": row.name, **own.learning})
        settings = _with(settings, "schedule", {**own.schedule, **_agents(own)})
        settings = _with(_with(settings, "replay", own.replay), "environment", own.environment)
        if own.unit_for_each_core:
            settings = _with(settings, "run", _units())
        if batch and row.replays and settings.replay.steps_per_update:
            settings = with_batch(settings, batch)
    return _with(settings, "environment", _MACHADO) if protocol == "machado" else settings


def _with(settings: Settings, group: str, values: Mapping[str, Any]) -> Settings:
    return replace(settings, **{group: replace(getattr(settings, group), **values)})


def _units() -> dict[str, str]:
    cores = usable_cores()
    return {"devices": f"cpu:{cores}", "device_updates": "asynchronous"} if cores > 1 else {}


def _agents(preset: Preset) -> dict[str, int]:
    if preset.unit_for_each_core:
        return {"agents": usable_cores(), "envs_per_agent": 1}
    if preset.games:
        return agents_of(preset.games)
    if preset.games_about:
        fours = round(preset.games_about / (usable_cores() + 1) / 4)
        return {"envs_per_agent": 4 * max(1, fours)}  # a multiple of the minibatches; fewer only wait for answers
    return {"agents": max(preset.agents, usable_cores())} if preset.agents else {}


def agents_of(games: int) -> dict[str, int]:
    """Returns settings for so many games in as many agents as there are cores, or fewer: all have the same number."""
    agents = max(count for count in range(1, usable_cores() + 1) if games % count == 0)
    return {"agents": agents, "envs_per_agent": games // agents}
