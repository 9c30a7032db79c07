"""Figures and tables of Ape-X (Horgan et al. 2018)."""

from dataclasses import dataclass

from ga3c.errors import ConfigError
from ga3c.papers import CommonOptions


@dataclass(frozen=True)
class Options(CommonOptions):
    actors: tuple[int, ...] = ()
    """Numbers of actors: pods in fig11, games in fig3, fig4, fig6 and fig12."""
    capacities: tuple[int, ...] = ()
    """Sizes of the replay in fig5, in transitions."""
    copies: tuple[int, ...] = ()
    """Numbers of copies of each transition in fig6."""
    cluster: str = "local"
    """Where pods play in fig11, and at full scale in the other figures: local, auto or an address, as for training."""


def half(actors: int, options: Options) -> int:
    """Returns the games of each of the two agents that play at the scale cpu. Raises ConfigError where they are odd."""
    if actors % 2 and options.scale == "cpu":
        raise ConfigError(f"--actors {actors}: two agents share the games, so give an even number.")
    return actors // 2
