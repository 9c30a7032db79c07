"""The learner's weights in the object store: put there when somebody asks, and not more often than they change."""

import threading
import time
from collections.abc import Callable

import ray

from ga3c.cluster.pod import Newest

PUT_SECONDS = 0.5  # between two copies, at the least


class Weights:
    """Safe to call from every thread."""

    def __init__(self, model, steps: Callable[[], int]):
        """`model`: a `model.Model`. `steps()`: that it has learnt from."""
        self._model, self._steps = model, steps
        self._newest: Newest | None = None
        self._put_at = 0.0
        self._lock = threading.Lock()

    def newest(self) -> Newest:
        with self._lock:
            newest, now = self._newest, time.monotonic()
            if newest is None or (newest.version != self._model.version and now - self._put_at >= PUT_SECONDS):
                arrays = self._model.network_state()
                self._newest = Newest(int(arrays["version"]), self._steps(), [ray.put(arrays)])
                self._put_at = now
            return self._newest
