"""GA3C: a queue-based asynchronous actor-critic (Babaeizadeh et al., ICLR 2017).

    Agent 1..N_A --- request: row t of my slot is ready ---> prediction queue ---> Predictor 1..N_P
    (process)    <-- action, log-probability and value are in your row -----------       |
        |                                                                              Model
        '----------- rollout in slot s is complete ---------> training queue ----> Trainer 1..N_T

The Controller changes the three counts to maximise trainings per second (TPS). A system wires all of it, the Server
runs the system. The map of the code: README.md. From Python: python/README.md.
"""

__version__ = "1.0.0"
__all__ = ["Agent", "ConfigError", "Run", "Scores", "TrainingFailed", "atari", "evaluate", "load", "train"]

_FOUND_IN = {
    "Agent": "python.loaded_agent",
    "ConfigError": "errors",
    "Run": "python.trained_run",
    "Scores": "python.measured",
    "TrainingFailed": "errors",
    "evaluate": "python.measured",
    "load": "python.loaded_agent",
    "train": "python.training",
}


def __getattr__(name: str):
    """Loads what is asked for: `import ga3c` alone loads nothing."""
    from importlib import import_module

    if name == "atari":
        return import_module("ga3c.atari")
    if name not in _FOUND_IN:
        raise AttributeError(f"module 'ga3c' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ga3c.{_FOUND_IN[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
