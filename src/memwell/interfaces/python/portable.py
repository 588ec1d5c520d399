"""The part of ``Memory`` that exports and takes in bundles."""

from __future__ import annotations

import os
from dataclasses import replace

from memwell.composition import Engine
from memwell.domain.evidence import Target
from memwell.domain.scope import Scope
from memwell.engine.bundle import unpack
from memwell.engine.portable import Imported, ImportPlan
from memwell.engine.progress import Progress, no_progress
from memwell.errors import InputError
from memwell.interfaces.python.files import check_replaceable, named, write_whole
from memwell.interfaces.python.governing import GovernedMemory


class PortableMemory(GovernedMemory):
    """Bundles: files that hold all that is kept of one user, or of a whole store."""

    _engine: Engine

    def export_bundle(
        self,
        path: str | os.PathLike[str],
        *,
        user_id: str | None = None,
        whole_store: bool = False,
        target: str | None = None,
        progress: Progress = no_progress,
    ) -> int:
        """Write all that is kept of a user, or of everybody, to a file; the same content gives the same bytes.

        Args:
            path: the file; a bundle that is there is replaced once the new one is whole.
            whole_store: every user, application and agent of the store; not together with ``user_id``.
            target: ``"local"`` or ``"cloud"`` leaves out what may not be read there; by default nothing is left out.
            progress: called with steps done, steps in all and the next step.

        Returns:
            The size of the file in bytes.

        Raises:
            InputError: the path is a folder, or a file that is no bundle; nothing was written.
        """
        if target is not None and target not in list(Target):
            raise InputError(f"target is {target!r}", remedy="use 'local', 'cloud' or none")
        if whole_store and user_id is not None:
            raise InputError(f"user_id is {user_id!r} beside whole_store", remedy="give one of them")
        file = named(path)
        check_replaceable(file, lambda found: bool(unpack(found)), "bundle")
        sent = None if target is None else Target(target)
        portable = self._engine.portable
        data = portable.export_store(sent, progress) if whole_store else portable.export(self._scope(user_id), sent)
        write_whole(file, data)
        return len(data)

    def plan_import(self, path: str | os.PathLike[str], *, user_id: str | None = None) -> ImportPlan:
        """Show what taking in a bundle would do; nothing is changed.

        Args:
            user_id: whose memory it becomes; by default that of the user it names, also where this memory is bound to
                another user, which the plan's warnings then say. A bundle of a whole store names them all.

        Raises:
            BundleError: the file is no bundle of this version, is torn, or contradicts what is stored.
        """
        try:
            data = named(path).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {str(path)!r}: {error.strerror}", remedy="name a readable file") from None
        scope: Scope | None = None if user_id is None else self._scope(user_id)
        plan = self._engine.portable.plan(data, scope, self._owner)
        users = [part.bundle.scope.user_id for part in plan.scopes]
        if user_id is None and len(users) == 1 and self._user_id not in (None, users[0]):
            note = f"it goes to user {users[0]!r}, whom the bundle names, and not to {self._user_id!r}"
            return replace(plan, notes=(note,))
        return plan

    def apply_import(self, plan: ImportPlan, *, progress: Progress = no_progress) -> Imported:
        """Take in exactly what ``plan`` shows, each scope in one transaction, and embed what came in.

        Args:
            progress: called with steps done, steps in all and the next step.

        Raises:
            StaleImportError: the store has changed since; plan again.
        """
        done = self._engine.portable.apply(plan, progress)
        total = plan.counts["added"]
        self._engine.maintaining.reindex(lambda count: progress(min(count, total), total, "embedding"))
        return done
