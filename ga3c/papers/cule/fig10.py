"""Figure 10 of the paper: scores of trained agents on both emulators.

The paper's agents learn on its own emulator and are tested while they do. Here those that come with the program play,
which have learned on ale-py's. Both play the same games, and an agent draws the same numbers: where the emulators do
the same, each game ends with the same score.
"""

from itertools import product
from pathlib import Path

from ga3c.errors import ConfigError
from ga3c.experiments.aggregates import in_words
from ga3c.experiments.comparison import evaluated
from ga3c.experiments.tables import rounded, write_rows
from ga3c.papers.cule import Options
from ga3c.records.run_directory import PRETRAINED, game_directory
from ga3c.views.drawing import WHISKER
from ga3c.views.panels import panels

RUNS = "cule-fig10"
READS = ("game", "episodes")
EMULATORS = ("ale", "ours")
NAMES = {"ale": "ale-py", "ours": "ours"}


def shipped() -> tuple[str, ...]:
    """Games of which an agent comes with the program."""
    return tuple(sorted(directory.name for directory in PRETRAINED.iterdir() if directory.is_dir()))


def reproduce(options: Options, out: Path) -> str:
    found = {}
    out.mkdir(parents=True, exist_ok=True)
    for game, emulator in product(options.game or shipped(), EMULATORS):
        found[game, emulator] = _evaluation(game, emulator, options.episodes, out)["ways"]["sampled"]
    write_rows(out / "fig10.csv", [_row(game, emulator, way) for (game, emulator), way in found.items()])
    draw(found, out / "fig10.png")
    return _words(found)


def _evaluation(game: str, emulator: str, episodes: int, out: Path) -> dict:
    """Returns what `evaluate --json` wrote, at an earlier start or now. Raises RunFailed, and ConfigError for a game
    of which no agent comes with the program."""
    agent = PRETRAINED / game_directory(game).name
    if not agent.is_dir():
        raise ConfigError(f"--game {game}: no agent of it comes with the program. There are {', '.join(shipped())}.")
    file, who = out / f"{agent.name}-{emulator}.json", f"The agent of {game} on {NAMES[emulator]}"
    return evaluated(file, episodes, who, [str(agent), "--emulator", emulator])


def _row(game: str, emulator: str, way: dict) -> dict:
    names = ("mean", "low", "high", "std", "min", "max")
    numbers = rounded({name: way[name] for name in names})
    scores = " ".join(f"{score:g}" for score in way["scores"])
    return {"game": game, "emulator": emulator, "games": len(way["scores"]), **numbers, "scores": scores}


def draw(found: dict[tuple[str, str], dict], file: Path) -> None:
    """A panel for each game: the mean on each emulator with two standard deviations, as in the paper, and each game."""
    names = list(dict.fromkeys(game for game, _ in found))
    with panels(file, 1, len(names), size=(2.2 * len(names) + 1, 3.5)) as (axes,):
        for axis, game in zip(axes, names, strict=True):
            for x, emulator in enumerate(EMULATORS):
                way, colour = found[game, emulator], f"C{x}"
                axis.bar(x, way["mean"], yerr=2 * way["std"], color=colour, alpha=0.6, width=0.6, error_kw=WHISKER)
                axis.plot([x] * len(way["scores"]), way["scores"], ".", color=colour)
            axis.set_xticks(range(len(EMULATORS)), NAMES.values())
            axis.set(title=game, ylabel="score" if game == names[0] else "")


def _words(found: dict[tuple[str, str], dict]) -> str:
    lines = []
    for game in dict.fromkeys(game for game, _ in found):
        ale, ours = (found[game, emulator] for emulator in EMULATORS)
        same = sum(one == other for one, other in zip(ale["scores"], ours["scores"], strict=True))
        between = [in_words(way["low"], way["high"], way["scores"]) for way in (ale, ours)]
        lines.append(
            f"{game}: {ale['mean']:.2f} on ale-py ({between[0]}), {ours['mean']:.2f} on ours "
            f"({between[1]}); {same} of {len(ale['scores'])} games with the same score."
        )
    return "\n".join([*lines, "Paper: no relevant difference between the two."])
