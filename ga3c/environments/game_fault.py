"""The fault of a game's own code that is found by looking at what it returns."""


class GameFault(Exception):
    """A game returned a value that it must not return."""
