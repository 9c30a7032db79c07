"""How far what a file says is from what the agent says."""

from typing import NamedTuple

import numpy as np

from ga3c.errors import ConfigError
from ga3c.exports.signature import Arrays
from ga3c.rollout import FORBIDDEN

# The largest difference that is rounding, for what a file or the agent computes with. Of numbers above 1 it is a share.
LARGEST = {"float32": 1e-3, "bfloat16": 0.05, "float16": 0.05, "int8": 0.5}
LEAST_SAME = {"float32": 0.99, "bfloat16": 0.9, "float16": 0.95, "int8": 0.5}  # of best actions, as a share


class Agreement(NamedTuple):
    """How far the answers to some observations are apart."""

    largest: float  # difference of two numbers
    output: str  # the name of the output in which it is
    same: float  # the share of observations with the same best action; 1 where actions are continuous
    count: int  # observations

    def __str__(self) -> str:
        same = "" if self.same == 1 else f"; {self.same:.1%} of best actions are the same"
        largest = f"{self.largest:.1g} from the agent ({self.output})"
        return f"largest difference {largest}, in {self.count:,} observations of play{same}"


def agreement(said: Arrays, expected: Arrays) -> Agreement:
    """Compares what a file says with what the agent says."""
    if said.keys() != expected.keys():
        return Agreement(np.inf, ", ".join(sorted(said.keys() ^ expected.keys())), 0.0, 0)
    discrete = expected["action"].dtype.kind in "iu"
    numbers = [name for name in expected if name != "action" or not discrete]
    largest = {name: _difference(said[name], expected[name]) for name in numbers}
    output = max(largest, key=largest.get)
    count = len(expected["action"])
    same = said["action"].reshape(count, -1) == expected["action"].reshape(count, -1)
    return Agreement(largest[output], output, float(same.all(axis=1).mean()) if discrete else 1.0, count)


def _difference(said: np.ndarray, expected: np.ndarray) -> float:
    """Returns the largest difference, as a share of the largest number where that is above 1."""
    if said.shape != expected.shape:
        return np.inf
    counted = expected > FORBIDDEN / 2
    scale = max(1.0, float(np.abs(expected[counted]).max(initial=0)))
    apart = np.abs(said - expected)[counted | (said > FORBIDDEN / 2)]
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0) / scale)


def check(found: Agreement, file: str, quantize: str | None = None, precision: str = "float32") -> None:
    """Raises ConfigError where a file does not say what the agent says. precision: that of the agent's network."""
    rounding = quantize or precision
    if not (found.largest <= LARGEST[rounding] and found.same >= LEAST_SAME[rounding]):
        advice = f"leave --quantize {quantize} out" if quantize else "use another format"
        raise ConfigError(f"{file} is not what the agent says, and was not kept: {found}. {advice.capitalize()}.")
