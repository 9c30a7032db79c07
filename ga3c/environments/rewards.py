"""What training makes of a game's rewards, where neither a flag nor a preset says it.

To clip them to one is Atari's protocol (Mnih et al. 2015): in other games it would make a large reward as good as a
small one. There they are kept. Constants that were found with rewards of about one do not learn from thousands, nor
from thousandths: those are divided by their running deviation, and clipped as `--preset ppo-continuous` does.
"""

from dataclasses import replace

from ga3c import environments
from ga3c.settings.game import EnvironmentSettings

FLAGS = ("--reward-clip", "--reward-scaling-discount", "--reward-scaling-limit")
_KEPT = {"reward_clip": 10.0, "reward_scaling_discount": 0.99, "reward_scaling_limit": 10.0}


def usual(settings: EnvironmentSettings) -> EnvironmentSettings:
    """With what is usual for the rewards of its game; a preset's own stay. Raises ConfigError where there is no such
    game."""
    plain = EnvironmentSettings()
    presets_own = any(getattr(settings, name) != getattr(plain, name) for name in _KEPT)
    kind, _ = environments.resolve(settings.game)
    return settings if presets_own or kind == "atari" else replace(settings, **_KEPT)


def line(settings: EnvironmentSettings) -> str | None:
    """What a run says of its rewards; of Atari, whose protocol says it, nothing."""
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
