"""The errors that end the program with a message for its user."""

LONGEST_LINE = 2_000  # letters


class ConfigError(ValueError):
    """A wrong setting. Its text is always one line that says what is wrong and what to do."""

    def __init__(self, text: str):
        line = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
        cut = f"{line[: LONGEST_LINE - 500]} ... {line[-500:]}"  # its end says what to do
        super().__init__(line if len(line) <= LONGEST_LINE else cut)


class Interrupted(KeyboardInterrupt):
    """A stop signal that came before there was anything to save."""

    def __init__(self, number: int):
        self.number = number


class TrainingFailed(RuntimeError):
    """A failure that ends the run. Its text says which part failed, and how."""
