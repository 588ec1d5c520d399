"""Loading ahead what the first call of a process would otherwise wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


class Warming:
    """Takes small steps in a thread, until they end or it is stopped.

    Args:
        steps: each loads something that stays loaded; none reads or writes a store, or asks an endpoint.
    """

    def __init__(self, steps: Iterable[Callable[[], object]]) -> None:
        self._steps = steps
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin where it has not begun."""
        with self._guard:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="memwell warming")
                self._thread.start()

    def wait(self) -> None:
        """Until all is loaded, or it was stopped."""
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        """End after the step under way; safe to call twice."""
        with self._guard:
            self._stopped.set()
        self.wait()

    def _run(self) -> None:
        for step in self._steps:
            if self._stopped.is_set():
                return
            step()
