"""Figures and tables of CuLE (Dalton et al. 2020)."""

from dataclasses import dataclass
from typing import Literal

from ga3c.papers import CommonOptions


@dataclass(frozen=True)
class Options(CommonOptions):
    games: tuple[int, ...] = ()
    """Numbers of games that step together (paper: environments); table4 takes one, for each device."""
    devices: tuple[int, ...] = ()
    """Numbers of devices in table4. At cpu scale they are parts of the cores."""
    loads: tuple[Literal["emulation", "inference"], ...] = ()
    """What fig3 shows. Default: both."""
    all_games: bool = False
    """fig3 is of all Atari games that our emulator plays: with --loads emulation --games 64 that is ten minutes."""
