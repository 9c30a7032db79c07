"""Variants of a test, of which a few always run, and the others with `tests/run.sh --long` (tests/conftest.py).

A whole test that runs with --long alone has `@pytest.mark.long`.
"""

from collections.abc import Iterable

import pytest


def variants(every: Iterable, *always) -> list:
    """Returns parameters for `pytest.mark.parametrize`: those of `always` run in each run of the tests."""
    every = list(every)
    assert all(one in every for one in always)
    return [one if one in always else long(one) for one in every]


def long(*values, **options):
    """Returns the parameters of a variant that runs with --long alone."""
    return pytest.param(*values, marks=pytest.mark.long, **options)
