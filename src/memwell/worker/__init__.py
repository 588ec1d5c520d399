"""Workers: claim jobs and carry them out, in this process or in one of their own."""

from memwell.worker.owners import Owners
from memwell.worker.warming import Warming
from memwell.worker.worker import Worker, never

__all__ = ["Owners", "Warming", "Worker", "never"]
