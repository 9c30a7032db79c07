"""Algorithms: loss and targets as pure functions of tensors."""
