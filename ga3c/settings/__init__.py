"""Every setting of a run: its meaning, unit, symbol in the paper and default.

The command line is made from these classes (`ga3c/commands/command_line.py`): a field is a flag, the text
below it is its help. "Paper" is Babaeizadeh et al., ICLR 2017.
"""
