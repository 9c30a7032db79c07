"""Experience replay: what was played, kept to be learned from many times."""
