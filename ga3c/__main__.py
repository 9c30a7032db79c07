"""python -m ga3c [train|play|evaluate|plot|reproduce|benchmark] ...; train is the default."""

import difflib
import importlib
import sys

COMMANDS = {
    "train": "train an agent (the default)",
    "play": "watch a trained agent play",
    "evaluate": "measure a trained agent over many games",
    "plot": "draw the curves of one or more runs",
    "benchmark": "measure how fast this machine trains, and how fast it could",
    "reproduce": "make a figure or table of the paper again",
}


def main(arguments: list[str]) -> int:
    """Runs the command that the first word names. Returns the exit status."""
    from ga3c.config import ConfigError

    command = "train"
    if arguments and not arguments[0].startswith("-"):
        command, *arguments = arguments
    try:
        if command not in COMMANDS:
            near = difflib.get_close_matches(command, COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(COMMANDS)}."
            raise ConfigError(f"Unknown command '{command}': {hint}")
        return importlib.import_module(f"ga3c.commands.{command}").run(arguments)
    except ConfigError as error:
        print(f"ga3c: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # before the command had anything to save
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
