"""Where the model runs. Imported before anything that needs TensorFlow, it loads TensorFlow without its chatter."""

import contextlib
import functools
import os
import sys
import tempfile

from ga3c.errors import ConfigError
from ga3c.machine import usable_cores


@contextlib.contextmanager
def quiet():
    """Holds back what TensorFlow's C++ side writes to stderr when it starts; shows it if that fails."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as notes:
        os.dup2(notes.fileno(), 2)
        try:
            yield
        except BaseException:
            notes.seek(0)
            os.write(stderr, notes.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
with quiet():
    import tensorflow as tf


@functools.cache
def set_up_device(device: str, threads: int) -> str:
    """Chooses where TensorFlow runs, and how many threads an operation has, once for each process, before any Model.

    Returns "cpu" or "gpu". Raises ConfigError where a GPU was asked for and there is none.
    """
    with quiet():
        gpus = tf.config.list_physical_devices("GPU")
    if device == "gpu" and not gpus:
        raise ConfigError("TensorFlow finds no GPU here: use --device cpu, or check the driver with nvidia-smi.")
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
        gpus = []
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    return "gpu" if gpus else "cpu"


def threads(name: str) -> int:
    """How many threads to give one TensorFlow operation, on a machine without a GPU.

    Games and model share the cores, so a few are best; only the two largest networks keep all busy (results/README.md
    has the measurement), and DQN's, whose updates take ten times as long as the play between them.
    """
    cores = usable_cores()
    return cores if name in ("large-stride-1", "large-stride-2", "dqn") else max(1, cores // 4)
