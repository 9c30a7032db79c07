"""Batches of games: resolves a game's name, and makes its environments.

A batch of environments has `spec` (EnvironmentSpec), `reset() -> observations`,
`step(actions) -> observations, rewards, terminated, truncated, life_lost` (arrays [env, ...], rewards unclipped) and
`close()`. After a step that ends an episode, the next step of that environment restarts it: this step ignores its
action and is no transition. Environments that restart games whose own code fails have `lost`, bool [env]: True if the
last step failed. Environments that can be saved in the middle of games have `state() -> arrays by name` and its inverse
`restore(arrays) -> observations`.
"""

import difflib
import random
import re
import reprlib
import sys

import numpy as np

from ga3c.atari.names import plain
from ga3c.emulator import machine_code
from ga3c.environments import atari, atari_ram, control, emulators, gymnasium, parallel, parallel_names
from ga3c.environments.restarted import Restarts
from ga3c.errors import ConfigError
from ga3c.settings import named_objects
from ga3c.settings.game import EnvironmentSettings

LONGEST_NAME_BYTES = 200  # a folder is named after it


def resolve(name: str) -> tuple[str, str]:
    """Resolves a game's name, in any usual spelling. It imports no module that the name mentions (`own_games` does).

    Returns ("atari", ROM name) or ("gymnasium", id); the id begins with "module:" if a module registers it. Raises
    ConfigError, with the nearest names.
    """
    if len(name.encode(errors="replace")) > LONGEST_NAME_BYTES:
        raise ConfigError(f"Unknown game {reprlib.repr(name)}: no name is as long as that.")
    if ":" in name:
        gymnasium.check_form(name)
        return "gymnasium", name
    roms = {plain(rom): rom for rom in atari.rom_names()}
    atari_id = re.fullmatch(r"(?:ALE/)?(.+?)(?:NoFrameskip|Deterministic)?(?:-v[045])?", name, re.IGNORECASE)
    key = plain(atari_id.group(1)) if atari_id else ""
    if key in roms:
        return "atari", roms[key]
    tasks = {plain(task): task for task in control.NAMES}
    if plain(name) in tasks:
        return "gymnasium", f"{control.MODULE}:{tasks[plain(name)]}"
    ids = gymnasium.known_ids()
    if name in ids:
        return "gymnasium", name
    by_plain_name = {plain(text): text for text in [*map(atari.display_name, roms.values()), *ids]} | tasks
    near = [by_plain_name[n] for n in difflib.get_close_matches(plain(name), by_plain_name, n=3, cutoff=0.5)]
    hint = f" Nearest: {', '.join(near)}." if near else " ./run.sh games lists those there are."
    raise ConfigError(f"Unknown game {name!r}.{hint}")


def first_seed(seed: int, agent: int) -> int:
    """Returns the seed of an agent's first game; its others follow. Runs with adjacent seeds share no games."""
    return int(np.random.SeedSequence([seed, agent]).generate_state(1)[0] >> 1)


def gpu_obstacle(settings: EnvironmentSettings) -> str | None:
    """Returns why the GPU cannot play these games; None if it can."""
    kind, name = resolve(settings.game)
    return emulators.gpu_obstacle(name, settings) if kind == "atari" else "it is for Atari games"


def make(
    settings: EnvironmentSettings,
    count: int,
    seed: int,
    threads: int = 1,
    on_gpu: bool = False,
    restarts: Restarts | None = None,
):
    """Makes `count` environments of `settings.game` that step together, seeded seed, seed + 1, ... (modulo 2**31).

    `threads` and `on_gpu` are for Atari only. With `on_gpu`, which must have no `gpu_obstacle`, observations lie in the
    GPU's memory. `restarts` is for Gymnasium only: a game whose own code fails is made again. The module of a user's
    own game is imported; for a game that a run names, ask `own_games` first. Raises ConfigError.
    """
    kind, name = resolve(settings.game)
    if kind == "atari" and emulators.ours(name, settings):
        from ga3c.atari.batch import prepare  # loads a compiler: only these games need it
        from ga3c.environments.atari_ours import OwnAtariEnvironments

        prepare()
        if on_gpu:
            from ga3c.atari.gpu_batch import GpuBatch

            return OwnAtariEnvironments(name, settings, count, seed, kind=GpuBatch)
        return OwnAtariEnvironments(name, settings, count, seed, threads)
    if kind == "atari" and settings.observation == "ram":
        return atari_ram.RamAtariEnvironments(name, settings, count, seed)
    if kind == "atari":
        return atari.AtariEnvironments(name, settings, count, seed, threads)
    return gymnasium_games(name, settings, count, seed, restarts=restarts)


def seen(settings: EnvironmentSettings, played_here: bool):
    """Returns what a run knows of its games: closed ones, or their `spec` alone. Raises ConfigError.

    The `spec` is enough where other processes play games of our own emulator. Then the emulator is not loaded here,
    unless it has to be compiled first.
    """
    kind, name = resolve(settings.game)
    if not played_here and kind == "atari" and emulators.ours(name, settings) and machine_code.is_ready():
        return atari.played_elsewhere(name, settings)
    return closed(settings)


def closed(settings: EnvironmentSettings):
    """Returns a game that is closed already, for what is known of it, such as its `spec`. Raises ConfigError."""
    games = make(settings, 1, 0)
    games.close()
    return games


def gymnasium_games(name: str, settings: EnvironmentSettings, count: int, seed: int, **options):
    """Makes games of Gymnasium, or of PettingZoo, whose module is imported here. Raises ConfigError."""
    if ":" in name:
        gymnasium.registered(name)
    kind = parallel.ParallelEnvironments if parallel_names.maker(name) else gymnasium.GymnasiumEnvironments
    return kind(name, settings, count, seed, **options)


def most_at_once(settings: EnvironmentSettings) -> int:
    """Returns the number of games of a ready vector environment; 0 where any number can be made."""
    return getattr(named_objects.given(settings.game), "num_envs", 0)


def make_for_player(settings: EnvironmentSettings, count: int, seed: int, **options):
    """Makes the games of a process, pod or thread that plays, as `make` does; `seed` is its `first_seed`.

    It also seeds the random generators that a process shares. Agents are forked with the same state of them, so games
    that draw from them would be copies of each other.
    """
    own = np.random.SeedSequence([seed, 2])  # not [seed], which could be the first game's own
    shared, torch_seed = own.generate_state(2).tolist()
    random.seed(shared)
    np.random.seed(shared)
    games = make(settings, count, seed, **options)
    if torch := sys.modules.get("torch"):  # Torch has the same seed in each process
        torch.manual_seed(torch_seed)
    return games


def emulator_line(settings: EnvironmentSettings) -> str | None:
    """Returns the line about the emulator that a run prints; None if there is no choice."""
    kind, name = resolve(settings.game)
    return emulators.line(name, settings) if kind == "atari" else None


def start_lines(settings: EnvironmentSettings, games, network: str) -> list[str]:
    """Returns the lines that a run prints about its `games`, and about their network."""
    if hasattr(games, "start_lines"):
        return games.start_lines(network)
    line = emulator_line(settings)
    return [line] if line else []


def screen(settings: EnvironmentSettings, games, count: int, seed: int):
    """Returns the colour screen of Atari games of `make`. Call its `reset()` and `step(actions)` after theirs."""
    _, name = resolve(settings.game)
    if emulators.ours(name, settings):
        from ga3c.environments.atari_ours import OwnAtariScreen  # as in `make`

        return OwnAtariScreen(games)
    return atari.AtariScreen(name, settings, seed, count)
