"""Puts the learner's weights into the object store when a pod needs them, at most once for each change."""

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
KEPT = 1000  # versions whose time of replacement is known: some minutes


class Weights:
    """The published weights. Safe to call from every thread."""

    def __init__(self, model, steps: Callable[[], int], control: ControlPlane):
        """`model`: a `model.Model`. `steps()`: the steps that it has learnt from."""
        self._model, self._steps, self._control = model, steps, control
        self._newest: Newest | None = None
        self._put_at = 0.0
        self._replaced: deque[tuple[int, float]] = deque(maxlen=KEPT)  # a version, and when a newer one was put there
        self.bytes = 0  # of one copy
        self._lock = threading.Lock()

    def newest(self) -> Newest:
        """Returns the newest weights, and puts them into the store if need be. Raises RayletDied."""
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
        """The version of the learner's own weights."""
        return self._model.version

    def age_seconds(self, version: int) -> float:
        """Returns how long newer weights than these have been there; NaN for a version that is not known any more."""
        with self._lock:
            if self._newest and version == self._newest.version:
                return 0.0
            return next((time.monotonic() - when for one, when in self._replaced if one == version), math.nan)
