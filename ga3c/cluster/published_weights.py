"""The learner's weights in the object store: put there when somebody asks, and not more often than they change."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np
import ray

from ga3c.cluster.control_plane import ControlPlane
from ga3c.cluster.pod import Newest

PUT_SECONDS = 0.5  # between two copies, at the least
KEPT = 1000  # of which it is known when they were replaced: some minutes


class Weights:
    """Safe to call from every thread."""

    def __init__(self, model, steps: Callable[[], int], control: ControlPlane):
        """`model`: a `model.Model`. `steps()`: that it has learnt from."""
        self._model, self._steps, self._control = model, steps, control
        self._newest: Newest | None = None
        self._put_at = 0.0
        self._replaced: deque[tuple[int, float]] = deque(maxlen=KEPT)  # a version, and when a newer one was put there
        self.bytes = 0  # of one copy
        self._lock = threading.Lock()

    def newest(self) -> Newest:
        """Raises RayletDied."""
        with self._lock:
            newest, now = self._newest, time.monotonic()
            if newest is None or (newest.version != self._model.version and now - self._put_at >= PUT_SECONDS):
                arrays = self._model.network_state()
                self._control.check_store()
                if newest:
                    self._replaced.append((newest.version, now))
                self._newest = Newest(int(arrays["version"]), self._steps(), [ray.put(arrays)])
                self._put_at, self.bytes = now, sum(np.asarray(array).nbytes for array in arrays.values())
            return self._newest

    @property
    def version(self) -> int:
        """Of the learner's own, now."""
        return self._model.version

    def age_seconds(self, version: int) -> float:
        """How long there have been newer ones than these; NaN of none, or of what is too old to be known."""
        with self._lock:
            if self._newest and version == self._newest.version:
                return 0.0
            return next((time.monotonic() - when for one, when in self._replaced if one == version), math.nan)
