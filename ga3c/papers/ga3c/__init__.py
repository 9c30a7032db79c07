"""Figures and tables of GA3C (Babaeizadeh et al., ICLR 2017)."""

from dataclasses import dataclass

from ga3c.papers import CommonOptions
from ga3c.settings.learning import Network


@dataclass(frozen=True)
class Options(CommonOptions):
    agents: tuple[int, ...] = ()
    """Numbers of agents (paper: N_A)."""
    predictors: tuple[int, ...] = ()
    """Numbers of predictors (paper: N_P)."""
    trainers: tuple[int, ...] = ()
    """Numbers of trainers (paper: N_T)."""
    network: tuple[Network, ...] = ()
    """Networks, the one to start from first."""
