"""Bundles by the names of their files, for callers who hold no plan from one call to the next."""

from __future__ import annotations

from memwell.engine.portable import Imported, ImportPlan
from memwell.interfaces.python.memory import Memory


class Files:
    """The use cases of ``Memory`` that are about a file, with results that can be sent to another process.

    Args:
        memory: for the scope that calls are about, unless they name another user.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def export_bundle(self, path: str, *, user_id: str | None = None, target: str | None = None) -> int:
        """Write all that is kept of a user to a file; a bundle that is there is replaced.

        Args:
            path: the file.
            target: ``local`` or ``cloud`` leaves out what may not be read there; by default nothing is left out.

        Returns:
            The size of the file in bytes.
        """
        return self._memory.export_bundle(path, user_id=user_id, target=target)

    def plan_import(self, path: str, *, user_id: str | None = None) -> ImportPlan:
        """Show what taking in a bundle would do; nothing is changed.

        Args:
            path: the bundle.
        """
        return self._memory.plan_import(path, user_id=user_id)

    def apply_import(self, path: str, hash: str, *, user_id: str | None = None) -> Imported:  # noqa: A002 - as shown
        """Take in a bundle exactly as its plan said.

        Args:
            path: the bundle.
            hash: of the plan that is to be done.

        Raises:
            StaleImportError: it is the hash of another plan.
        """
        plan = self._memory.plan_import(path, user_id=user_id)
        plan.check_confirmed(hash)
        return self._memory.apply_import(plan)
