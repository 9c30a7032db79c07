"""Shows the commands and the first options: python -m ga3c help."""

import ast
import inspect
import itertools
import platform
import re
import textwrap
from dataclasses import fields
from importlib import metadata

from ga3c import __version__
from ga3c.commands import COMMANDS, VERSION
from ga3c.errors import ConfigError
from ga3c.settings import flag_of
from ga3c.settings.catalogue import full_text
from ga3c.settings.run import Settings

EXAMPLES = {
    "./run.sh --game Boxing": "train; Ctrl-C stops and saves",
    "./run.sh --game Boxing --resume": "go on with it",
    "./play.sh --game Boxing": "watch the agent play",
    "./run.sh dashboard": "see all runs in a browser",
}
# The options that people use first.
FIRST = (
    *("game", "protocol", "minutes", "steps", "episodes", "resume", "start_from", "name", "run_dir", "seed"),
    *("preset", "learning_rate", "network", "t_max", "agents", "envs_per_agent", "controller", "device"),
    *("console", "checkpoint_seconds"),
)
WIDTH = 80


def texts(group: type) -> dict[str, str]:
    """Returns the text of each setting of one group: what stands below it, with what the catalogue adds."""
    found, body = {}, ast.parse(textwrap.dedent(inspect.getsource(group))).body[0].body
    for setting, text in itertools.pairwise(body):
        if isinstance(setting, ast.AnnAssign) and isinstance(text, ast.Expr):
            name = setting.target.id
            found[name] = full_text(name, inspect.cleandoc(text.value.value))
    return found


def first_sentence(text: str) -> str:
    """Returns the sentence of a setting's text that says what it is."""
    return " ".join(re.split(r"(?<=\.)\s", text)[0].split())


def overview() -> str:
    """Returns examples, commands, and the options that people use first."""
    known = {name: text for group in fields(Settings) for name, text in texts(group.default_factory).items()}
    lines = ["GA3C trains an agent on a game, on the machine you have.", ""]
    lines += [f"  {command:33}{what}" for command, what in EXAMPLES.items()]
    lines += ["", "Commands, as the first word (COMMAND --help shows its options):", ""]
    lines += [f"  {name:11}{what}" for name, what in COMMANDS.items()]
    lines += ["", "Options of train that people use first (./run.sh --help-all shows every one):", ""]
    for name in FIRST:
        flag, indent = flag_of(name), " " * 23
        text = first_sentence(known[name])
        lines += textwrap.wrap(text, WIDTH, initial_indent=f"  {flag:21}", subsequent_indent=indent)
    return "\n".join(lines)


def version() -> str:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("tensorflow", "ale-py", "gymnasium"))
    return f"GA3C {__version__}, Python {platform.python_version()}, {packages}"


def run(arguments: list[str]) -> int:
    if arguments[:1] and arguments[0] in COMMANDS:
        raise ConfigError(f"help shows all commands: ./run.sh {arguments[0]} --help shows the options of one.")
    if arguments and arguments[0] not in (VERSION, "--help", "-h"):
        raise ConfigError(f"There is no command '{arguments[0]}': ./run.sh --help shows all.")
    print(version() if arguments[:1] == [VERSION] else overview())
    return 0
