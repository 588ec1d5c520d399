"""A worker: claims jobs one after the other until it is stopped."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from memwell.domain.jobs import Job
from memwell.engine.jobs import Jobs
from memwell.engine.ports import Store
from memwell.errors import MemwellError, StorageError
from memwell.telemetry import under_way
from memwell.worker.owners import Owners

# How often an idle worker looks for jobs of other processes.
POLL_SECONDS = 1.0
# How long a stop waits for the thread after the claim was given back.
STOP_SECONDS = 0.25
_LOG = logging.getLogger(__name__)


def never() -> bool:
    """Finds nothing to do."""
    return False


class Worker:
    """Carries out jobs of one store, in a thread of its own or in the caller's.

    Args:
        idle: called where no job is due; returns whether it found something to do.
        may_be_cut: the process may end while the thread is at work: it waits for an endpoint, and the job was given
            back. Local work ends soon, and native code must not be cut off in the middle.
    """

    def __init__(
        self,
        store: Store,
        jobs: Jobs,
        owners: Owners,
        idle: Callable[[], bool] = never,
        may_be_cut: bool = True,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._owners = owners
        self._idle = idle
        self._may_be_cut = may_be_cut
        self._guard = threading.Lock()
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._held: Job | None = None

    def wake(self) -> None:
        """Let the thread look for jobs now; it is started where there is none."""
        with self._guard:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self.run, name="memwell worker", daemon=self._may_be_cut)
                self._thread.start()
        self._woken.set()

    def run(self) -> None:
        """Work until ``stop``."""
        while not self._stopped.is_set():
            try:
                if self.drain() == 0 and not self._idle():
                    self._woken.wait(POLL_SECONDS)
                    self._woken.clear()
            except StorageError as error:
                if self._stopped.is_set():
                    return  # closed under a worker that was told to stop
                _LOG.warning("the store cannot be used", extra={"fields": {"code": error.code}})
                self._stopped.wait(POLL_SECONDS)

    def drain(self) -> int:
        """Carry out what is due now; returns how many jobs were tried."""
        self._jobs.release()
        tried = 0
        while not self._stopped.is_set():
            with self._guard:
                job = self._held = self._store.queue.claim(self._owners.name())
            if job is None:
                return tried
            tried += 1
            self._carry_out(job)
        return tried

    def stop(self) -> None:
        """Give back what is claimed, then wait a moment for the thread; safe to call twice."""
        self._stopped.set()
        self._woken.set()
        with self._guard:
            held, self._held = self._held, None
            thread = self._thread
        if held is not None:
            self._store.queue.give_back(held)
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)
        self._owners.leave()

    def _carry_out(self, job: Job) -> None:
        fields: dict[str, object] = {"job": job.id, "attempt": job.attempts}
        try:
            with under_way("job", job=job.id, attempt=job.attempts):
                self._jobs.carry_out(job)
            _LOG.debug("job done", extra={"fields": fields})
        except MemwellError as error:
            _LOG.info("job failed", extra={"fields": {**fields, "code": error.code}})  # the queue keeps the code too
        except Exception as error:
            # A fault of an injected part or of Memwell must not end the worker; the job shows it. A traceback might
            # hold somebody's words.
            _LOG.error("job failed", extra={"fields": {**fields, "error": type(error).__name__}})
            self._store.queue.fail(job, "internal", final=False)
        finally:
            with self._guard:
                self._held = None
