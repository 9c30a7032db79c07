"""The device of the model. This module loads TensorFlow without its messages: import it before all that needs it."""

import contextlib
import functools
import gc
import os
import platform
import sys
import tempfile
import warnings

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
        except Exception:
            notes.seek(0)
            os.write(stderr, notes.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextlib.contextmanager
def hidden(packages: tuple[str, ...]):
    """Lets imports of these packages fail, but of those that are loaded already.

    Only in this program's own processes: in a script or notebook, others may need what Keras makes of them.
    """
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    ours = "ga3c.__main__" in sys.modules or (spec is not None and spec.name == "ga3c.__main__")
    absent = [package for package in packages if ours and package not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))
    try:
        yield
    finally:
        for package in absent:
            del sys.modules[package]


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# oneDNN's convolutions learn in 0.4 to 0.75 of the time. By itself TensorFlow takes them only where cores have VNNI.
if platform.machine().lower() in ("x86_64", "amd64"):
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
gc.disable()  # imports leave no garbage, and the search for it takes a sixth of the time
# Keras loads these where it finds them, for pictures and data frames: a fifth to a third of the time.
with quiet(), hidden(("IPython", "matplotlib", "pandas", "scipy")):
    import tensorflow as tf
gc.freeze()
gc.enable()


@functools.cache
def set_up_device(device: str, threads: int) -> str:
    """Chooses TensorFlow's device and the threads of an operation, once for each process, before any Model.

    Returns "cpu" or "gpu". Raises ConfigError where a GPU was asked for and there is none.
    """
    with quiet():
        gpus = tf.config.list_physical_devices("GPU")
    if device == "gpu" and not gpus:
        raise ConfigError("TensorFlow finds no GPU here: use --device cpu, or check the driver with nvidia-smi.")
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        if device == "cpu":
            tf.config.set_visible_devices([], "GPU")
            gpus = []
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError:  # TensorFlow has computed in this process, of a notebook say: its devices stay
        if tf.config.list_logical_devices("GPU"):
            return "gpu"
        if device == "gpu":
            raise ConfigError("TensorFlow has computed on cores here: give --device gpu in a new process.") from None
        if gpus and device == "auto":
            warnings.warn("TensorFlow has computed on cores here: a new process can use the GPU.", stacklevel=2)
        return "cpu"
    return "gpu" if gpus else "cpu"


def count_gpus() -> int:
    """Returns the number of GPUs that TensorFlow may use: none in a process where it was set to the cores."""
    with quiet():
        return len(tf.config.get_visible_devices("GPU"))


@functools.cache
def set_up_devices(kind: str, numbers: tuple[int, ...] | None, threads: int) -> list[str]:
    """Chooses several devices, as `settings.devices.named` returns them. Returns TensorFlow's names of them.

    Raises ConfigError where one does not exist.
    """
    with quiet():
        gpus = tf.config.list_physical_devices("GPU")
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        if kind == "cpu":
            tf.config.set_visible_devices([], "GPU")
            parts = [tf.config.LogicalDeviceConfiguration() for _ in numbers]
            tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], parts)
        else:
            tf.config.set_visible_devices(_equal_gpus(gpus, numbers), "GPU")
            for gpu in tf.config.get_visible_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError as error:
        raise ConfigError("--devices are chosen before TensorFlow computes: give them in a new process.") from error
    return [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices(kind.upper())]


def _equal_gpus(gpus: list, numbers: tuple[int, ...] | None) -> list:
    """Returns the GPUs with these numbers, or all. Raises ConfigError where one is missing or they differ in kind."""
    if not gpus:
        raise ConfigError("TensorFlow finds no GPU here: use --devices cpu:2, or check the driver with nvidia-smi.")
    if missing := [number for number in numbers or () if number >= len(gpus)]:
        raise ConfigError(f"There is no GPU {missing[0]}: TensorFlow finds {len(gpus)}, from 0 on. See nvidia-smi.")
    gpus = [gpus[number] for number in numbers] if numbers else gpus
    if len({tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus}) > 1:
        raise ConfigError("These GPUs are not of one kind: all would wait for the slowest. Name equal ones.")
    return gpus


def scope(device: str):
    """Returns a context in which TensorFlow computes on a device."""
    return tf.device(device)


def threads(name: str) -> int:
    """Returns how many threads one TensorFlow operation gets on a machine without a GPU, for a network by name.

    Games and model share the cores, so few are best. Only the two largest networks keep all cores busy (measured in
    results/README.md), and so does DQN's, whose updates take ten times as long as the play between them.
    """
    cores = usable_cores()
    return cores if name in ("large-stride-1", "large-stride-2", "dqn") else max(1, cores // 4)
