"""Places drawn from rows, all as often."""

import numpy as np

from ga3c.replay.rows import Rows


def drawn(rows: Rows, first: np.ndarray, last: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """int64 [count], with replacement, of the rows first <= row < last of each group, int64 [groups] both; what is no
    transition is drawn again. There has to be one."""
    found, ends = np.empty(0, np.int64), np.cumsum(last - first)
    while len(found) < count:
        number = random.integers(ends[-1] * rows.envs, size=count - len(found))
        row, env = np.divmod(number, rows.envs)
        group = np.searchsorted(ends, row, side="right")
        row = last[group] - (ends[group] - row)
        place = (group * rows.length + row % rows.length) * rows.envs + env
        found = np.concatenate([found, place[rows.valid[place]]])
    return found
