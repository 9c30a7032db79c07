"""The catalogue of algorithms. Whoever asks which algorithms can do something asks here."""

import re
from collections.abc import Iterable, Sequence

from ga3c.settings.algorithm_row import AlgorithmRow, Preset
from ga3c.settings.replay_algorithms import REPLAY_ALGORITHMS
from ga3c.settings.rollout_algorithms import NO_ALGORITHM, ROLLOUT_ALGORITHMS

ALGORITHMS = {row.name: row for row in (*ROLLOUT_ALGORITHMS, *REPLAY_ALGORITHMS, NO_ALGORITHM)}
PRESETS = {preset.name: (row, preset) for row in ALGORITHMS.values() for preset in row.presets}
NETWORKS = tuple(
    dict.fromkeys(name for row in ALGORITHMS.values() for name in (*row.pictures, *row.vectors))
)  # in the order of the rows, each once
RESTRICTED = tuple(dict.fromkeys(name for row in ALGORITHMS.values() for name in row.settings))
"""The settings that some algorithms do not read."""


def preset_of(algorithm: str, name: str) -> Preset:
    """Returns the preset of this name if it is of the algorithm, else the algorithm's first one, or an empty one."""
    presets = {preset.name: preset for preset in ALGORITHMS[algorithm].presets}
    return presets.get(name) or next(iter(presets.values()), Preset("", ""))


def preset_for(actions: str, algorithm: str) -> str:
    """Returns a preset of another algorithm for games with these actions; if there is one, of the same pace."""
    free = preset_of(algorithm, "").waits_for_nothing
    kind = "discrete" if actions == "multidiscrete" else actions  # which has no presets of its own
    others = [
        one for row, one in PRESETS.values() if one.actions == kind and actions in row.actions and row.name != algorithm
    ]
    return min(others, key=lambda one: one.waits_for_nothing != free).name


def users(setting: str) -> tuple[str, ...]:
    """Returns the names of the algorithms that read a setting."""
    return names(row for row in ALGORITHMS.values() if setting in row.settings)


def names(rows: Iterable[AlgorithmRow]) -> tuple[str, ...]:
    """Returns the names of those that learn: not that of `none`."""
    return tuple(row.name for row in rows if row is not NO_ALGORITHM)


def listed(words: Sequence[str], last: str = "or") -> str:
    """Returns words as a sentence has them: "ppo, appo or pqn"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def full_text(setting: str, text: str) -> str:
    """Returns the help of a setting, with what the catalogue says of it: its values, or the algorithms it is for."""
    rows = ALGORITHMS.values()
    if setting == "algorithm":
        return "\n".join([text, *(f"{row.name}: {row.text}" for row in rows)])
    if setting == "preset":
        return "\n".join([text, *(f"{name}: {preset.text}" for name, (_, preset) in PRESETS.items())])
    if setting == "device_updates":
        can = names(row for row in rows if "asynchronous" in row.device_updates)
        return f"{text} It works with {listed(can, 'and')}."
    can, replaying = users(setting), names(row for row in rows if row.replays)
    if not can or can == replaying or len(can) == len(ALGORITHMS) - 1 or "It is for" in text:
        return text
    about, *values = re.split(r"\n(?=[\w-]+: )", text, maxsplit=1)  # what each value means stands below
    return "\n".join([f"{about} It is for {listed(can, 'and')}.", *values])


def table() -> str:
    """Returns the table of the README: what each algorithm learns from, and what it works with."""
    lines = ["| algorithm | presets | learns from | actions | games | `--sampling` |", "|---|---|---|---|---|---|"]
    for row in ALGORITHMS.values():
        source = "a replay" if row.replays else "a data set" if "dataset" in row.settings else "rollouts"
        cells = (
            f"`{row.name}`",
            ", ".join(f"`{preset.name}`" for preset in row.presets) or "-",
            "nothing" if row is NO_ALGORITHM else source,
            listed(row.actions),
            "pictures or vectors" if row.pictures else "vectors",
            "all" if "batched" in row.samplings else "all but batched" if len(row.samplings) > 1 else row.samplings[0],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
