"""Figures and tables of Ape-X (Horgan et al. 2018)."""

from dataclasses import dataclass

from ga3c.papers import CommonOptions


@dataclass(frozen=True)
class Options(CommonOptions):
    actors: tuple[int, ...] = ()
    """Numbers of actors: pods in fig11, games in fig4."""
    cluster: str = "local"
    """Where pods play in fig11, and at full scale in fig4: local, auto or an address, as for training."""
