"""Where the model runs. Imported before anything that needs TensorFlow, it loads TensorFlow without its chatter."""

import contextlib
import functools
import gc
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
gc.disable()  # what is imported stays: looking for garbage in it is a sixth of the time
with quiet():
    import tensorflow as tf
gc.freeze()
gc.enable()


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


def count_gpus() -> int:
    """That TensorFlow finds here."""
    with quiet():
        return len(tf.config.list_physical_devices("GPU"))


@functools.cache
def set_up_devices(kind: str, numbers: tuple[int, ...] | None, threads: int) -> list[str]:
    """Likewise for several, as `settings.devices.named` has them. Returns TensorFlow's names of them.

    Raises ConfigError where one is not there.
    """
    with quiet():
        gpus = tf.config.list_physical_devices("GPU")
    if kind == "cpu":
        tf.config.set_visible_devices([], "GPU")
        parts = [tf.config.LogicalDeviceConfiguration() for _ in numbers]
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], parts)
    else:
        tf.config.set_visible_devices(_equal_gpus(gpus, numbers), "GPU")
        for gpu in tf.config.get_visible_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    return [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices(kind.upper())]


def _equal_gpus(gpus: list, numbers: tuple[int, ...] | None) -> list:
    """Those of these numbers, or all. Raises ConfigError."""
    if not gpus:
        raise ConfigError("TensorFlow finds no GPU here: use --devices cpu:2, or check the driver with nvidia-smi.")
    if missing := [number for number in numbers or () if number >= len(gpus)]:
        raise ConfigError(f"There is no GPU {missing[0]}: TensorFlow finds {len(gpus)}, from 0 on. See nvidia-smi.")
    gpus = [gpus[number] for number in numbers] if numbers else gpus
    if len({tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus}) > 1:
        raise ConfigError("These GPUs are not of one kind: all would wait for the slowest. Name equal ones.")
    return gpus


def scope(device: str):
    """In it TensorFlow computes there."""
    return tf.device(device)


def threads(name: str) -> int:
    """How many threads to give one TensorFlow operation, on a machine without a GPU.

    Games and model share the cores, so a few are best; only the two largest networks keep all busy (results/README.md
    has the measurement), and DQN's, whose updates take ten times as long as the play between them.
    """
    cores = usable_cores()
    return cores if name in ("large-stride-1", "large-stride-2", "dqn") else max(1, cores // 4)
