"""Atari for everyone: a Gymnasium vector environment of our own emulator (README.md).

    import gymnasium, ga3c.atari
    envs = gymnasium.make_vec("ga3c/Pong-v0", num_envs=64)

Importing this package registers the games. The emulator and its compiler are loaded when the first game is made.
"""

import gymnasium

from ga3c.atari.names import GAME_NAMES, display_name

__all__ = ["AtariVectorEnv"]

for _rom in GAME_NAMES:
    gymnasium.register(
        f"ga3c/{display_name(_rom)}-v0",
        vector_entry_point="ga3c.atari.vector_env:AtariVectorEnv",
        kwargs={"game": _rom},
    )


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module 'ga3c.atari' has no attribute {name!r}")
    from ga3c.atari.vector_env import AtariVectorEnv

    return AtariVectorEnv
