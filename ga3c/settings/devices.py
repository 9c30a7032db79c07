"""The devices that `--devices` names."""

import re

from ga3c.errors import ConfigError

MOST = 64


def named(text: str) -> tuple[str, tuple[int, ...] | None]:
    """Returns "gpu" and the numbers of GPUs, None for all; or "cpu" and a number for each part of the cores.

    Raises ConfigError where the text is something else.
    """
    wrong = ConfigError(f"--devices {text!r}: say gpu:all, gpu:0,1 or cpu:2.")
    kind, _, which = text.partition(":")
    if kind == "gpu" and which == "all":
        return kind, None
    if kind not in ("gpu", "cpu") or not re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", which):
        raise wrong
    numbers = tuple(map(int, which.split(",")))
    if kind == "gpu":
        if len(set(numbers)) < len(numbers):
            raise ConfigError(f"--devices {text} names one twice.")
        return kind, numbers
    if len(numbers) > 1:
        raise wrong
    if not 1 <= numbers[0] <= MOST:
        raise ConfigError(f"--devices {text}: give from 1 to {MOST} parts of the cores.")
    return kind, tuple(range(numbers[0]))
