"""The part of ``Memory`` that exports and takes in bundles."""

from __future__ import annotations

import os
from pathlib import Path

from memwell.composition import Engine
from memwell.domain.evidence import Target
from memwell.domain.scope import Scope
from memwell.engine.bundle import unpack
from memwell.engine.portable import Imported, ImportPlan
from memwell.errors import BundleError, InputError
from memwell.interfaces.python.governing import GovernedMemory


class PortableMemory(GovernedMemory):
    """Bundles: files that hold all that is kept of one user."""

    _engine: Engine

    def export_bundle(
        self, path: str | os.PathLike[str], *, user_id: str | None = None, target: str | None = None
    ) -> int:
        """Write all that is kept of a user to a file; the same content gives the same bytes.

        Args:
            path: the file; a bundle that is there is replaced once the new one is whole.
            target: ``"local"`` or ``"cloud"`` leaves out what may not be read there; by default nothing is left out.

        Returns:
            The size of the file in bytes.

        Raises:
            InputError: the path is a folder, or a file that is no bundle; nothing was written.
        """
        if target is not None and target not in list(Target):
            raise InputError(f"target is {target!r}", remedy="use 'local', 'cloud' or none")
        data = self._engine.portable.export(self._scope(user_id), None if target is None else Target(target))
        file = Path(path)
        _check_replaceable(file)
        try:
            part = file.with_name(f"{file.name}.part")
            part.write_bytes(data)
            part.replace(file)
        except OSError as error:
            raise InputError(
                f"{str(path)!r} cannot be written: {error.strerror}", remedy="name a file in a folder you may write to"
            ) from None
        return len(data)

    def plan_import(self, path: str | os.PathLike[str], *, user_id: str | None = None) -> ImportPlan:
        """Show what taking in a bundle would do; nothing is changed.

        Args:
            user_id: whose memory it becomes; by default that of the user it names.

        Raises:
            BundleError: the file is no bundle of this version, is torn, or contradicts what is stored.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {str(path)!r}: {error.strerror}", remedy="name a readable file") from None
        scope: Scope | None = None if user_id is None else self._scope(user_id)
        return self._engine.portable.plan(data, scope, self._owner)

    def apply_import(self, plan: ImportPlan) -> Imported:
        """Take in exactly what ``plan`` shows, in one transaction, and embed what came in.

        Raises:
            StaleImportError: the store has changed since; plan again.
        """
        done = self._engine.portable.apply(plan)
        self._engine.maintaining.reindex()
        return done


def _check_replaceable(file: Path) -> None:
    """Refuse to write over what is no bundle, the store itself above all."""
    if file.is_dir() or not file.name:
        raise InputError(f"{str(file)!r} is a folder", remedy="name a file in it")
    if not file.exists():
        return
    try:
        unpack(file.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror}", remedy="name a new file") from None
    except BundleError:
        raise InputError(f"{str(file)!r} is there already and is no bundle", remedy="name a new file") from None
