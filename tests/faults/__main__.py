"""Every place of the small run at which something may fail, in every way, and every moment at which the power may go:

python -m tests.faults
"""

import itertools
import sys
import tempfile
from pathlib import Path

import pytest

from tests.faults import small_run
from tests.faults.failing_os import CONTENTS, FAILURES, NAMES_KEPT
from tests.faults.test_records import calls, cut_power, fail, notes


def main() -> int:
    wrong = done = 0
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        small_run.without_the_rest(patch)
        root = Path(scratch)
        (root / "first").mkdir()
        changes, places = notes(root / "first"), range(1, calls(root) + 1)
        cases = [
            *((fail, case) for case in itertools.product(places, FAILURES, (1, 2, 5))),
            *(
                (cut_power, (changes[:until], kept, content))
                for until, kept, content in itertools.product(range(1, len(changes) + 1), NAMES_KEPT, CONTENTS)
            ),
        ]
        for number, (what, case) in enumerate(cases):
            try:
                what(root / str(number), *case)
            except Exception as error:
                wrong += 1
                where = case if what is fail else (len(case[0]), *case[1:])
                print(f"\n{what.__name__} {where}: {type(error).__name__}: {error}", file=sys.stderr)
            done += 1
            print(f"\r{done} of {len(cases)}, {wrong} wrong", end="", file=sys.stderr, flush=True)
    print(f"\n{len(places)} calls, {len(changes)} changes of the disk: {done} cases, {wrong} wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
