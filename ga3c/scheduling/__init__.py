"""Whose turn it is: who is predicted for together, and who may step or train now."""
