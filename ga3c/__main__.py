"""python -m ga3c [COMMAND or GAME] [OPTIONS]; train is the default command, `help` lists all."""

import contextlib
import difflib
import errno
import importlib
import os
import signal
import sys

from ga3c import text
from ga3c.commands import COMMANDS, VERSION
from ga3c.errors import ConfigError, Interrupted
from ga3c.installation import IS_INSTALLED, SOURCES

WITHOUT_MODEL = ("dashboard", "doctor", "games", "help", "list", "plot", "watch")
# Of files, with the status: a name that the user has given; a disk that takes nothing, and with it what was under way.
OF_FILES = dict.fromkeys((errno.EACCES, errno.EROFS, errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.EEXIST), 2)
OF_FILES |= dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EIO), 1)
HELP, ALL = ("help", "--help", "-h"), "--help-all"


def main(arguments: list[str]) -> int:
    """Runs the command that the first word names. Returns the exit status."""
    with text.standing_here():
        return _main(arguments)


def _main(arguments: list[str]) -> int:
    _leave_working_directory()
    os.umask((os.umask(0o022) | 0o002) & 0o077)  # what is written is not for everybody to change, but for its owner
    text.take_streams()
    _end_with_parent()
    try:
        try:
            status = _run(*_command(arguments))
        except SystemExit as end:  # the help of the command, say
            status = end.code or 0
        sys.stdout.flush()
        return status
    except ConfigError as error:
        print(f"ga3c: {text.one_line(error)}", file=sys.stderr)
        return 2
    except ImportError as error:
        package = _package(error)
        if package == "ga3c":
            raise
        reason = "" if "\n" in str(error) else f" ({error})"
        advice = f"delete {sys.prefix} and start ./run.sh again"
        if os.path.realpath(sys.prefix) != os.path.realpath(SOURCES / ".venv"):
            advice = f"this is {sys.executable}, and ./run.sh has a Python of its own, so start that"
        if IS_INSTALLED:
            advice = "pip install --upgrade 'ga3c[all]'"
        if os.pathsep in os.environ.get("PYTHONPATH", ""):  # beside our own there is the user's
            advice += ". If PYTHONPATH names packages of another Python, unset it first"
        what = f"The package {package} is missing or damaged{reason}: {advice}."
        print(f"ga3c: {text.one_line(what)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        return 0
    except OSError as error:
        status = OF_FILES.get(error.errno)
        if not status or (status == 2 and not error.filename):
            raise
        what = f"Cannot use {error.filename or 'the disk'}: {error.strerror}."
        print(f"ga3c: {text.one_line(what)}", file=sys.stderr)
        return status
    except KeyboardInterrupt as stopped:  # the command had nothing to save yet
        sys.stdout.close()  # it may be this that took so long: nobody reads it
        return 128 + (stopped.number if isinstance(stopped, Interrupted) else signal.SIGINT)


def command() -> int:
    """Runs what the words of this process say: the command `ga3c` of an installed package."""
    return main(sys.argv[1:])


def _run(command: str, arguments: list[str]) -> int:
    if command not in COMMANDS:
        game = _game(command)
        if any(word.partition("=")[0] == "--game" for word in arguments):
            raise ConfigError(f"'{command}' and --game name a game each: leave one out.")
        command, arguments = "train", [*game, *arguments]
    if command not in WITHOUT_MODEL:
        from ga3c.machine import check_limits

        check_limits()
    return importlib.import_module(f"ga3c.commands.{command}").run(arguments)


def _command(arguments: list[str]) -> tuple[str, list[str]]:
    """Returns the command and its own arguments."""
    first = arguments[0] if arguments else ""
    if first in HELP or first == VERSION:
        return "help", arguments[first in HELP :]
    if first == ALL:
        return "train", ["--help"]
    if first and not first.startswith("-"):
        return first, arguments[1:]
    return "train", arguments


def _game(word: str) -> list[str]:
    """Returns the flag for a first word that is no command but a game. Raises ConfigError if it is neither."""
    from ga3c import environments

    try:
        environments.resolve(word)
    except ConfigError as error:
        near = difflib.get_close_matches(word, COMMANDS, n=1)
        games = str(error).partition(" Nearest: ")[2]
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(COMMANDS)}."
        hint = f"the nearest games are {games}" if games and not near else hint
        raise ConfigError(f"Unknown command '{word}': {hint}") from None
    return ["--game", word]


def _leave_working_directory() -> None:
    """Imports nothing from the working directory, which Python searches first unless PYTHONSAFEPATH is set."""
    with contextlib.suppress(OSError):
        here, own = os.getcwd(), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        if here != own:
            sys.path[:] = [directory for directory in sys.path if directory not in ("", here)]


def _package(error: ImportError) -> str:
    """Returns the package that could not be imported, or where Python does not say, the one that failed at it."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return (error.name or trace.tb_frame.f_globals["__name__"]).partition(".")[0]


def _end_with_parent() -> None:
    """Ends this program with the one that started it, if `experiments.runs.child_environment` named that."""
    parent = os.environ.pop("GA3C_PARENT", "")
    if parent:
        from ga3c.machine import signal_at_parents_end

        signal_at_parents_end(signal.SIGTERM)
        if str(os.getppid()) != parent:  # it has ended already
            sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(command())
