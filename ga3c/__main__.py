"""python -m ga3c [train|watch|play|evaluate|plot|report|dashboard|...] ...; train is the default."""

import difflib
import importlib
import os
import sys

COMMANDS = {
    "train": "train an agent (the default)",
    "watch": "look at a run that goes on or has ended",
    "play": "watch a trained agent play",
    "evaluate": "measure a trained agent over many games",
    "compare": "train several settings over several seeds and compare them",
    "export": "put a trained agent into a small directory, to ship or to keep",
    "plot": "draw the curves of one or more runs",
    "report": "write a page about a run, to send to somebody",
    "dashboard": "see all runs in a browser",
    "doctor": "check what this machine has, and what it reaches",
    "benchmark": "measure how fast this machine trains, and how fast it could",
    "reproduce": "make a figure or table of the paper again",
}


def main(arguments: list[str]) -> int:
    """Runs the command that the first word names. Returns the exit status."""
    from ga3c.errors import ConfigError

    os.umask(os.umask(0o022) | 0o002)  # whatever is written: not for everybody to write
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
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes its stdout once more at the end
        return 0
    except KeyboardInterrupt:  # before the command had anything to save
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
