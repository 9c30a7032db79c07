"""The rules of who is predicted for together, and who may step or train now."""
