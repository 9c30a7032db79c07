"""Every setting of a run: its meaning, unit, symbol in the paper and default.

The command line is made from these classes (`ga3c/commands/command_line.py`): a field is a flag, the text
below it is its help. "Paper" is Babaeizadeh et al., ICLR 2017.
"""


def flag_of(name: str) -> str:
    """Returns what the command line calls a setting, by the name of its field."""
    return "--from" if name == "start_from" else f"--{name.replace('_', '-')}"
