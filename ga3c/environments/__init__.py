"""Games in batches: which one a name means, and how to make it.

A batch of environments has `spec` (EnvironmentSpec), `reset() -> observations`,
`step(actions) -> observations, rewards, terminated, truncated, life_lost` (arrays [env, ...], rewards true and
unclipped) and `close()`. After a step that ended an episode, the next step of that environment restarts it:
it ignores its action and its reward is no transition. Those whose games start anew where their own code fails have
`lost`, bool [env]: in which the last step was none. Those that can go on in the middle of games have `state() ->
arrays by name` and its inverse `restore(arrays) -> observations`.
"""

import difflib
import random
import re
import reprlib
import sys

import numpy as np

from ga3c.environments import atari, control, emulators, gymnasium
from ga3c.environments.restarted import Restarts
from ga3c.errors import ConfigError
from ga3c.settings.game import EnvironmentSettings

LONGEST_NAME_BYTES = 200  # a directory is named after it


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def resolve(name: str) -> tuple[str, str]:
    """Which environment a name means, in any usual spelling; imports nothing that it names (`own_games` does).

    Returns ("atari", ROM name) or ("gymnasium", registered id), with the module that registers it where Gymnasium does
    not. Raises ConfigError, with the nearest names.
    """
    if len(name.encode(errors="replace")) > LONGEST_NAME_BYTES:
        raise ConfigError(f"Unknown game {reprlib.repr(name)}: no name is as long as that.")
    if ":" in name:
        gymnasium.check_form(name)
        return "gymnasium", name
    roms = {_plain(rom): rom for rom in atari.rom_names()}
    atari_id = re.fullmatch(r"(?:ALE/)?(.+?)(?:NoFrameskip|Deterministic)?(?:-v[045])?", name, re.IGNORECASE)
    key = _plain(atari_id.group(1)) if atari_id else ""
    if key in roms:
        return "atari", roms[key]
    tasks = {_plain(task): task for task in control.NAMES}
    if _plain(name) in tasks:
        return "gymnasium", f"{control.MODULE}:{tasks[_plain(name)]}"
    ids = gymnasium.known_ids()
    if name in ids:
        return "gymnasium", name
    by_plain_name = {_plain(text): text for text in [*map(atari.display_name, roms.values()), *ids]} | tasks
    near = [by_plain_name[n] for n in difflib.get_close_matches(_plain(name), by_plain_name, n=3, cutoff=0.5)]
    hint = f" Nearest: {', '.join(near)}." if near else " ./run.sh games lists those there are."
    raise ConfigError(f"Unknown game {name!r}.{hint}")


def first_seed(seed: int, agent: int) -> int:
    """Of an agent's first game; the others follow. Runs whose seeds are neighbours share no games."""
    return int(np.random.SeedSequence([seed, agent]).generate_state(1)[0] >> 1)


def gpu_obstacle(settings: EnvironmentSettings) -> str | None:
    """Why these games cannot be played on a GPU, where the model has one; None: they can."""
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
    """`count` environments of `settings.game` that step together, seeded seed, seed + 1, ... (2**31 is 0 again).

    `threads` and `on_gpu` are for Atari alone. `on_gpu`, where that has no `gpu_obstacle`: observations are arrays in
    the GPU's memory. `restarts` is for Gymnasium's: a game whose own code fails starts anew. Of a game of one's own
    the module is imported: who makes one that a run names has asked `own_games`. Raises ConfigError where the game
    cannot be had.
    """
    kind, name = resolve(settings.game)
    if kind == "atari" and emulators.ours(name, settings):
        from ga3c.environments.atari_ours import OwnAtariEnvironments, prepare  # load a compiler: nothing else needs it

        prepare()
        if on_gpu:
            from ga3c.environments.atari_cuda import CudaAtariEnvironments

            return CudaAtariEnvironments(name, settings, count, seed)
        return OwnAtariEnvironments(name, settings, count, seed, threads)
    if kind == "atari":
        return atari.AtariEnvironments(name, settings, count, seed, threads)
    return gymnasium.GymnasiumEnvironments(name, count, seed, adapt=settings.adapt_spaces, restarts=restarts)


def make_for_player(settings: EnvironmentSettings, count: int, seed: int, **options):
    """As `make`, for a process, a pod or a thread that plays: `seed` is its `first_seed`.

    It seeds what all code of a process shares, too. Agents are forked with the same state of it: games that draw from
    there would be copies of each other.
    """
    own = np.random.SeedSequence([seed, 2])  # with the seed alone it could be the first game's own
    shared, torch_seed = own.generate_state(2).tolist()
    random.seed(shared)
    np.random.seed(shared)
    games = make(settings, count, seed, **options)
    if torch := sys.modules.get("torch"):  # it begins with the same seed in each process
        torch.manual_seed(torch_seed)
    return games


def emulator_line(settings: EnvironmentSettings) -> str | None:
    """What a run says of the emulator that plays its game, where that is a choice."""
    kind, name = resolve(settings.game)
    return emulators.line(name, settings) if kind == "atari" else None


def said(settings: EnvironmentSettings, games, network: str) -> list[str]:
    """A run says these lines of the `games` that `make` made, and of the network that it gets for them."""
    if isinstance(games, gymnasium.GymnasiumEnvironments):
        return games.said(network)
    line = emulator_line(settings)
    return [line] if line else []


def screen(settings: EnvironmentSettings, games, count: int, seed: int):
    """The colour pictures of Atari games that `make` made: `reset()` and `step(actions)` after theirs."""
    _, name = resolve(settings.game)
    if emulators.ours(name, settings):
        from ga3c.environments.atari_ours import OwnAtariScreen  # as in `make`

        return OwnAtariScreen(games, settings.frame_skip_frames)
    return atari.AtariScreen(name, settings, seed, count)
