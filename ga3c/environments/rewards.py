"""The default treatment of a game's rewards, if neither a flag nor a preset sets it.

Atari's rewards are clipped to one (Mnih et al. 2015). In other games, clipping would make large and small rewards
equal, so rewards are kept. The default constants suit rewards of about one; very large or very small rewards are
divided by their running deviation and clipped, as `--preset ppo-continuous` does.
"""

from dataclasses import replace

from ga3c import environments
from ga3c.settings.game import EnvironmentSettings

_KEPT = {"reward_clip": 10.0, "reward_scaling_discount": 0.99, "reward_scaling_limit": 10.0}
SETTINGS = frozenset(_KEPT)  # who gives one of these says all that happens to rewards


def usual(settings: EnvironmentSettings) -> EnvironmentSettings:
    """Returns the settings with the defaults for the game's rewards, unless a preset sets them. Raises ConfigError."""
    plain = EnvironmentSettings()
    presets_own = any(getattr(settings, name) != getattr(plain, name) for name in _KEPT)
    kind, _ = environments.resolve(settings.game)
    return settings if presets_own or kind == "atari" else replace(settings, **_KEPT)


def line(settings: EnvironmentSettings) -> str | None:
    """Returns the line about rewards that a run prints; None for Atari, whose protocol has the rule."""
    clip, limit = settings.reward_clip, settings.reward_scaling_limit
    if environments.resolve(settings.game)[0] == "atari":
        return None
    if not settings.reward_scaling_discount:
        return f"Rewards are clipped to +-{clip:g} (--reward-clip)." if clip else "Rewards are kept as they are."
    clipped = f", and clipped to +-{clip:g} then" if clip else ""
    scaled = f"divided by the running deviation of what they come to{clipped} (--reward-scaling-discount)"
    if not limit:
        return f"Rewards are {scaled}."
    return (
        f"Rewards are kept, but where one is above {limit:g} or all are below {1 / limit:g} in size, they are {scaled}."
    )
