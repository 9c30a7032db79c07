"""Lists the games there are: python -m ga3c games."""

from dataclasses import dataclass

from ga3c.commands.command_line import parse
from ga3c.environments import atari, control, gymnasium
from ga3c.records import run_directory

DESCRIPTION = "Lists the games that --game takes."
COLUMNS, WIDTH = 4, 19


@dataclass(frozen=True)
class GamesOptions:
    gymnasium: bool = False
    """List the environments that Gymnasium has registered, and dm_control's tasks, too."""


def table(names: list[str]) -> str:
    """Returns the names in columns, to be read downwards."""
    rows = -(-len(names) // COLUMNS)
    lines = ("".join(f"{name:{WIDTH}}" for name in names[row::rows]) for row in range(rows))
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def run(arguments: list[str]) -> int:
    options = parse(GamesOptions, arguments, GamesOptions(), DESCRIPTION, "games")
    shipped = {path.name for path in run_directory.PRETRAINED.glob("*") if path.is_dir()}
    names = sorted(map(atari.display_name, atari.rom_names()))
    print(f"{len(names)} Atari games (*: an agent for it comes with the program, ./play.sh --game NAME shows it):\n")
    print(table([name + "*" * (name in shipped) for name in names]))
    if options.gymnasium:
        print("\nGymnasium's environments; those with discrete actions, or bounded ones (Box), can be learned:\n")
        print("\n".join(f"  {name}" for name in sorted(gymnasium.known_ids())))
        print("\ndm_control's tasks:\n")
        print("\n".join(f"  {name}" for name in control.NAMES))
    else:
        print("\nAny usual spelling will do (ms_pacman, ALE/Pong-v5). Also Gymnasium's ids and dm_control's tasks")
        print("(CartPole-v1, humanoid-walk; --gymnasium lists them), and your own: package.module:EnvId.")
    return 0
