"""Recorded games: written in Minari's format or as seeds and actions alone, and read to be learned from."""
