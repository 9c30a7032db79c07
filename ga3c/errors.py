"""What the program says when it cannot go on."""


class ConfigError(ValueError):
    """A wrong setting. Its text is one line that says what is wrong and what to do."""


class TrainingFailed(RuntimeError):
    """A part of the program failed in a way that ends the run. Its text says which and how."""
