"""Every place of a run at which something may fail, in every way, and every moment at which the power may go:

    python -m tests.faults

With --real it is the whole program that fails, at one place after the other: half a minute for each.
"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults import real_run, small_run
from tests.faults.failing_os import CONTENTS, FAILURES, NAMES_KEPT
from tests.faults.test_records import calls, cut_power, fail, notes


def small_cases(root: Path) -> list[tuple]:
    """What to call with the directory and what else."""
    (root / "first").mkdir()
    changes, places = notes(root / "first"), range(1, calls(root) + 1)
    moments = itertools.product(range(1, len(changes) + 1), NAMES_KEPT, CONTENTS)
    print(f"{len(places)} calls, {len(changes)} changes of the disk.")
    return [(fail, case) for case in itertools.product(places, FAILURES, (1, 2, 5))] + [
        (cut_power, (changes[:until], kept, content)) for until, kept, content in moments
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", action="store_true", help="the whole program")
    parser.add_argument("--places", type=int, default=200, help="of the program, where its calls may fail")
    options = parser.parse_args()
    wrong = done = 0
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        root = Path(scratch)
        if options.real:
            ways = itertools.cycle([("killed", 1), ("error", 1), ("disk full", 5)])
            cases = [(real_run.fail, (at, *next(ways))) for at in range(1, options.places + 1)]
        else:
            small_run.without_the_rest(patch)
            cases = small_cases(root)
        for number, (what, case) in enumerate(cases):
            try:
                what(root / str(number), *case)
            except Exception as error:
                wrong += 1
                where = (len(case[0]), *case[1:]) if what is cut_power else case
                print(f"\n{what.__name__} {where}: {type(error).__name__}: {error}", file=sys.stderr)
            done += 1
            print(f"\r{done} of {len(cases)}, {wrong} wrong", end="", file=sys.stderr, flush=True)
    print(f"\n{done} cases, {wrong} wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
