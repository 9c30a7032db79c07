"""What the program says when it cannot go on."""

LONGEST_LINE = 2_000  # letters


class ConfigError(ValueError):
    """A wrong setting. Its text is one line that says what is wrong and what to do, whatever it quotes."""

    def __init__(self, text: str):
        line = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
        cut = f"{line[: LONGEST_LINE - 500]} ... {line[-500:]}"  # at the end it says what to do
        super().__init__(line if len(line) <= LONGEST_LINE else cut)


class TrainingFailed(RuntimeError):
    """A part of the program failed in a way that ends the run. Its text says which and how."""
