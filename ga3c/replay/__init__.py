"""Experience replay: a memory of transitions that are learned from many times."""
