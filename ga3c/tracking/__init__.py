"""Trackers of experiments (W&B, MLflow, TensorBoard), each in a process of its own, fed from the logs of a run."""
