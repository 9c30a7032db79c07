"""A trained agent at play, or a person."""
