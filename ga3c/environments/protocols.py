"""Protocols: the rules under which a score was made. Scores of different protocols cannot be compared.

The settings that change the game itself make a fingerprint, which is part of every run and result. Settings of
observations and of learning do not belong to it.
"""

import hashlib
import json
from dataclasses import replace

from ga3c import environments
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings
from ga3c.settings.presets import with_presets
from ga3c.settings.run import Settings

RULES = (
    "frame_skip_frames",
    "no_op_max_steps",
    "sticky_action_probability",
    "full_action_set",
    "fire_reset",
    "episode_cap_frames",
)
NAMES = ("paper", "machado", "dqn")
DQN_FRAMES = 18_000  # 5 minutes of a game, as in the evaluation of Mnih et al. 2015


def rules(settings: EnvironmentSettings) -> dict:
    """Returns the settings of Atari games that a score depends on, by name; none for Gymnasium's, whose id has the
    rules."""
    kind, _ = environments.resolve(settings.game)
    return {name: getattr(settings, name) for name in RULES} if kind == "atari" else {}


def under(settings: EnvironmentSettings, protocol: str) -> EnvironmentSettings:
    """Returns the settings with the rules of a named protocol. dqn is the paper's, with games of 5 minutes at most."""
    named = with_presets(Settings(), None, protocol).environment
    if protocol == "dqn":
        named = replace(named, episode_cap_frames=DQN_FRAMES)
    return replace(settings, protocol=named.protocol, **{name: getattr(named, name) for name in RULES})


def fingerprint(settings: EnvironmentSettings) -> str:
    """Returns the protocol's name ("own" if it has none) and a hash of its rules. Gymnasium's games have a hash where
    they have arguments or wrappers."""
    own = rules(settings)
    if not own:
        made = [settings.environment_arguments, *settings.wrapper]
        return f"gymnasium-{_hash(made)}" if any(made) else "gymnasium"
    name = next((name for name in NAMES if rules(under(settings, name)) == own), "own")
    numbers = {key: value if isinstance(value, bool) else float(value) for key, value in own.items()}
    return f"{name}-{_hash(numbers)}"


def _hash(values) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]


def mix(fingerprints) -> str | None:
    """Returns a warning if results have different fingerprints; None if all are the same."""
    different = sorted(set(fingerprints))
    return f"different protocols: {', '.join(different)}" if len(different) > 1 else None


def refuse_mixed(fingerprints) -> None:
    """Raises ConfigError if runs have different fingerprints."""
    if different := mix(fingerprints):
        raise ConfigError(f"These runs do not compare, {different}.")
