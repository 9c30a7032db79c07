"""Protocols: under which rules a score was made. Scores of different ones do not compare.

The settings that change the game itself make a fingerprint, which every run and result carries. How the agent sees a
frame, and what it learns from, are its own business.
"""

import hashlib
import json
from dataclasses import replace

from ga3c import environments
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
DQN_FRAMES = 18_000  # of a game: 5 minutes (Mnih et al. 2015, its evaluation)


def rules(settings: EnvironmentSettings) -> dict:
    """What a score depends on, by the names of the settings; nothing where a Gymnasium id says it all."""
    kind, _ = environments.resolve(settings.game)
    return {name: getattr(settings, name) for name in RULES} if kind == "atari" else {}


def under(settings: EnvironmentSettings, protocol: str) -> EnvironmentSettings:
    """The same game, seen in the same way, under the rules of a named protocol; dqn: the paper's, in short games."""
    named = with_presets(Settings(), None, protocol).environment
    if protocol == "dqn":
        named = replace(named, episode_cap_frames=DQN_FRAMES)
    return replace(settings, protocol=named.protocol, **{name: getattr(named, name) for name in RULES})


def fingerprint(settings: EnvironmentSettings) -> str:
    """The protocol's name (own: it has none) and a number that is the same for the same rules alone."""
    own = rules(settings)
    if not own:
        return "gymnasium"
    name = next((name for name in NAMES if rules(under(settings, name)) == own), "own")
    numbers = {key: value if isinstance(value, bool) else float(value) for key, value in own.items()}
    return f"{name}-{hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:8]}"


def mix(fingerprints) -> str | None:
    """What to say beside results of these fingerprints; None where all are the same."""
    different = sorted(set(fingerprints))
    return f"different protocols: {', '.join(different)}" if len(different) > 1 else None
