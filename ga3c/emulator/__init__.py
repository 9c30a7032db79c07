"""An Atari 2600: one chip a file, compiled for a core."""
