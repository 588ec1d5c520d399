"""The part of ``Memory`` that governs: permissions, correction, forgetting, receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memwell.composition import Engine
from memwell.domain.command import Receipt
from memwell.domain.scope import Scope, checked_id
from memwell.engine.cascade import Selection
from memwell.engine.correcting import Correction, CorrectionSource
from memwell.engine.forgetting import Forgotten, Preview
from memwell.engine.observing import Observed, permissions_from
from memwell.engine.progress import Progress, no_progress
from memwell.errors import InputError


class GovernedMemory:
    """Every command takes a ``command_id``: the same id and input give the first receipt again.

    Where it is omitted, a new one is made; it stands in the receipt.
    """

    _engine: Engine
    _owner: tuple[str, str]
    _user_id: str | None

    def permit(
        self,
        evidence_id: str,
        *,
        local: bool | None = None,
        cloud: bool | None = None,
        infer: bool | None = None,
        user_id: str | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Set what may be done with a source, and so with every memory that rests on it.

        Args:
            evidence_id: id of the source; ``explain`` shows those of a memory.
            local, cloud: whether it may be recalled for a local reader, and for a cloud endpoint.
            infer: whether memories may be formed from it.
        """
        return self._engine.governing.permit(
            evidence_id,
            self._optional_scope(user_id),
            self._owner,
            local=local,
            cloud=cloud,
            infer=infer,
            command_id=command_id,
        )

    def withdraw(self, evidence_id: str, *, user_id: str | None = None, command_id: str | None = None) -> Receipt:
        """Take a source back: nothing that rests on it alone is read any more."""
        scope = self._optional_scope(user_id)
        return self._engine.governing.withdraw(evidence_id, scope, self._owner, command_id=command_id)

    def observe(
        self,
        source_key: str,
        content: str,
        *,
        version: int,
        valid_from: str | datetime | None = None,
        valid_until: str | datetime | None = None,
        permissions: Mapping[str, bool] | None = None,
        user_id: str | None = None,
        session_id: str = "default",
        command_id: str | None = None,
    ) -> Observed:
        """Keep what a host observes, such as a setting or a calendar entry, at its newest version.

        It becomes a state, word for word; a newer version erases the one before with all that it led to, and an older
        one is refused. ``withdraw`` takes it back.

        Args:
            source_key: the host's name of what is observed.
            content: at most 64 KiB.
            version: a number that grows with every change.
            valid_from, valid_until: when it holds; from now on where omitted.
            permissions: ``local``, ``cloud`` and ``infer``; observations may not go to the cloud unless this says so.
        """
        return self._engine.observing.observe(
            self._scope(user_id),
            source_key,
            content,
            version=version,
            valid_from=valid_from,
            valid_until=valid_until,
            permissions=permissions_from(permissions),
            session_id=session_id,
            command_id=command_id,
        )

    def correct(
        self,
        memory_id: str | Sequence[str],
        content: str | None = None,
        *,
        source: CorrectionSource | Mapping[str, Any] | None = None,
        user_id: str | None = None,
        command_id: str | None = None,
    ) -> Correction:
        """Replace a memory that was never true by what is right; the wrong one becomes ``retracted``.

        Args:
            memory_id: the wrong memory, or several that one correction puts right.
            content: what is right.
            source: the message that says so: ``message_id``, ``session_id``, ``content`` and ``quote``, and ``at`` and
                ``preceding`` where known. It and the message that the host delivers are one source.
        """
        scope = self._optional_scope(user_id)
        return self._engine.correcting.correct(
            memory_id, content, scope, self._owner, source=source, command_id=command_id
        )

    def retract(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Withdraw a memory as never true, with nothing in its place."""
        return self._engine.governing.retract(
            memory_id,
            self._optional_scope(user_id),
            self._owner,
            command_id=command_id,
            expected_revision=expected_revision,
        )

    def unarchive(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Make a memory that was put away current again."""
        return self._engine.governing.unarchive(
            memory_id,
            self._optional_scope(user_id),
            self._owner,
            command_id=command_id,
            expected_revision=expected_revision,
        )

    def mute(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Keep a memory from ever being recalled; it stays current and is listed."""
        return self._mute(memory_id, True, user_id, command_id, expected_revision)

    def unmute(
        self,
        memory_id: str,
        *,
        user_id: str | None = None,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Let a muted memory be recalled again."""
        return self._mute(memory_id, False, user_id, command_id, expected_revision)

    def preview_forget(
        self,
        ids: Sequence[str] = (),
        *,
        evidence: Sequence[str] = (),
        session: str | None = None,
        person: str | None = None,
        query: str | None = None,
        everything: bool = False,
        user_id: str | None = None,
    ) -> Preview:
        """Show what forgetting would erase; nothing is changed.

        Args:
            ids, evidence: memories and sources, together at most 32.
            session: all that was said in this session.
            person: all that is about or names this person, or was said by them.
            query: memories and sources that hold all of these words.
            everything: all of the user's memory.
        """
        for name, given in (("ids", ids), ("evidence", evidence)):
            if isinstance(given, str):
                raise InputError(f"{name} is the text {given!r}", remedy="pass a list of ids")
        selection = Selection(tuple(ids), tuple(evidence), session, person, everything)
        return self._engine.forgetting.preview(self._scope(user_id), selection, query=query)

    def forget(
        self,
        token: str,
        *,
        command_id: str | None = None,
        user_id: str | None = None,
        progress: Progress = no_progress,
    ) -> Forgotten:
        """Erase for good exactly what the preview of ``token`` showed, in one transaction.

        Args:
            progress: called with steps done, steps in all and the next step.

        Raises:
            ForgetScopeError: it has changed since; preview again.
            FormationInProgressError: messages are being formed; repeat in a moment.
        """
        scope = self._optional_scope(user_id)
        return self._engine.forgetting.forget(token, command_id, scope, self._owner, progress)

    def clean(self) -> str:
        """Remove what erasing left in logs and indexes: ``complete``, or ``pending`` while an old reader holds it."""
        return self._engine.forgetting.clean()

    def receipt(self, command_id: str, *, user_id: str | None = None) -> Receipt:
        """The receipt of a command, its hash checked."""
        return self._engine.governing.receipt(command_id, self._scope(user_id))

    def _mute(
        self, memory_id: str, muted: bool, user_id: str | None, command_id: str | None, expected_revision: int | None
    ) -> Receipt:
        return self._engine.governing.mute(
            memory_id,
            muted,
            self._optional_scope(user_id),
            self._owner,
            command_id=command_id,
            expected_revision=expected_revision,
        )

    def _scope(self, user_id: str | None) -> Scope:
        chosen = user_id if user_id is not None else self._user_id
        return Scope(checked_id("user_id", chosen), *self._owner)

    def _optional_scope(self, user_id: str | None) -> Scope | None:
        """An id names one memory, so a user is only needed to insist on whose it is."""
        return None if user_id is None and self._user_id is None else self._scope(user_id)
