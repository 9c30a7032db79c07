"""The names of the games: as ROM files (ms_pacman), and in Gymnasium's ids (ga3c/MsPacman-v0)."""

import difflib
import re

from ga3c.emulator.proven import PROVEN

GAME_NAMES = tuple(sorted(PROVEN))


def display_name(rom: str) -> str:
    """Returns MsPacman for ms_pacman: the spelling of Gymnasium's ids and of the folders in results/."""
    return rom.title().replace("_", "")


def plain(name: str) -> str:
    """Returns mspacman for MsPacman, ms_pacman and the like."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def rom_of(name: str) -> str:
    """Returns ms_pacman for MsPacman, ms_pacman or the like. Raises ValueError, with the nearest names."""
    roms = {plain(rom): rom for rom in GAME_NAMES}
    wanted = plain(name) if isinstance(name, str) else ""
    if wanted in roms:
        return roms[wanted]
    near = [roms[one] for one in difflib.get_close_matches(wanted, roms, n=3, cutoff=0.5)]
    hint = f"Nearest: {', '.join(near)}." if near else "ga3c.atari.names.GAME_NAMES lists all."
    raise ValueError(f"Unknown game {name!r}. {hint}")
