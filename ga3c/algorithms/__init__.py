"""Algorithms: how to act, and what to learn from what was played, as pure functions of tensors."""
