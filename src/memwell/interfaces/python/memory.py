"""``Memory``: the engine for Python programs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memwell.composition import open_engine
from memwell.domain.evidence import Target
from memwell.domain.memory import MemoryRecord
from memwell.domain.people import Person
from memwell.domain.scope import checked_id
from memwell.domain.validity import utc
from memwell.engine.intake import Messages
from memwell.engine.ports import Clock, Embedder, Extractor, Ids, Judge
from memwell.engine.recall import Limits
from memwell.engine.results import PENDING, EvidencePage, Explanation, Page, SearchResult, Status, WriteResult
from memwell.engine.weights import Weights
from memwell.environment import load_settings
from memwell.errors import InputError, MemwellError
from memwell.interfaces.python.jobs import Jobs
from memwell.interfaces.python.observed import observed
from memwell.interfaces.python.portable import PortableMemory
from memwell.interfaces.python.times import local_time

if TYPE_CHECKING:
    from memwell.providers.decisions import DecisionProvider
    from memwell.providing import Probe

Moment = str | datetime


@observed("close", "scoped")
class Memory(PortableMemory):
    """Long-term memory in one file. Safe for threads; several processes may open the same file.

    Args:
        path: the store's file; default: ``MEMWELL_STORE``, or ``memwell.db`` in ``MEMWELL_HOME`` or the platform's
            folder for user data. It is created where it does not exist.
        user_id: default user for all calls; without it every call names one.
        app_id, agent_id: the other two parts of the scope.
        settings: further settings, such as ``{"chat": {"model": "m", "base_url": "http://127.0.0.1:11434/v1"}}``; see
            ``docs/providers.md``.
        embedder, extractor, judge, clock, ids: replace the builtin ones.
        weights: what each signal of recall weighs; see ``Weights``.
        decisions: lets a provider of typed questions judge.
        worker: carry out in a thread of this process what ``add(wait=False)`` leaves; otherwise others do.

    Raises:
        StorageError: the file cannot be opened, or is no store.
        ConfigurationError: a setting is unknown or unusable.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        user_id: str | None = None,
        app_id: str | None = None,
        agent_id: str | None = None,
        settings: Mapping[str, Any] | None = None,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        judge: Judge | None = None,
        decisions: DecisionProvider | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        weights: Weights | None = None,
        worker: bool = True,
    ) -> None:
        self._works = worker
        names = {"store": path, "user_id": user_id, "app_id": app_id, "agent_id": agent_id}
        read = load_settings(**{**(settings or {}), **{key: name for key, name in names.items() if name is not None}})
        self._owner = (checked_id("app_id", read.app_id), checked_id("agent_id", read.agent_id))
        self._user_id = None if read.user_id is None else checked_id("user_id", read.user_id)
        self._engine = open_engine(
            read,
            embedder=embedder,
            extractor=extractor,
            judge=judge,
            decisions=decisions,
            clock=clock,
            ids=ids,
            weights=weights,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; safe to call twice."""
        self._engine.close()

    def scoped(self, *, user_id: str | None = None, app_id: str | None = None, agent_id: str | None = None) -> Self:
        """The same open store for another scope; parts not given stay. Closing either one closes the store."""
        app, agent = self._owner
        other = copy.copy(self)
        other._owner = (
            app if app_id is None else checked_id("app_id", app_id),
            agent if agent_id is None else checked_id("agent_id", agent_id),
        )
        other._user_id = self._user_id if user_id is None else checked_id("user_id", user_id)
        return other

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        session_id: str = "default",
        at: Moment | None = None,
        request_id: str | None = None,
        wait: bool = True,
        dependencies: Sequence[str] = (),
    ) -> WriteResult:
        """Keep messages as evidence and form memories from them.

        Args:
            messages: a user's words, one message, or a list of OpenAI-style messages; each may have ``id``, ``name``
                and ``at`` (an aware datetime or ISO 8601 time with a zone).
            session_id: the conversation they are of.
            at: when they were said, where a message does not say so itself; default now.
            request_id: makes the call idempotent.
            wait: form memories before returning; otherwise a worker of this process does it afterwards, search
                returns the words as provisional quotes until then, and the result's status is ``"pending"``.
            dependencies: ``SearchResult.dependencies`` of what the assistant's messages were made from, so that what
                is forgotten later takes them along.

        Returns:
            What was stored and decided, with the reason of each decision.

        Raises:
            InputError: an argument is unusable; nothing was stored.
            EvidenceConflictError: a message id was stored before with other content.
            IdempotencyConflictError: the request id was used before with other input.
        """
        result = self._engine.remember.add(
            self._scope(user_id),
            messages,
            session_id=session_id,
            at=at,
            request_id=request_id,
            wait=wait,
            dependencies=dependencies,
        )
        if result.status == PENDING and self._works:
            self._engine.worker.wake()
        return result

    @property
    def jobs(self) -> Jobs:
        """Formation that waits: list it, retry what is dead, carry it out."""
        return Jobs(self._engine)

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        limit: int = 5,
        raw_limit: int = 0,
        profile_limit: int | None = None,
        procedure_limit: int = 0,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        target: str = "local",
        include_relations: bool = True,
    ) -> SearchResult:
        """Find what answers a question.

        Args:
            limit, profile_limit, procedure_limit, raw_limit: how many results each group may hold (0 to 1,000).
            as_of: ask what held then, instead of what holds now: an aware datetime, or a date or ISO 8601 time, in
                this machine's zone where it names none.
            known_at: ask what the store knew then.
            target: ``"local"``, or ``"cloud"`` where the text goes to a cloud endpoint; decides what may be used.
            include_relations: let each memory carry what it replaced and what conflicts with it.

        Returns:
            Groups of results; ``.text()`` gives them as context for a prompt.
        """
        defaults = Limits()
        return self._engine.recall.search(
            self._scope(user_id),
            query,
            limits=Limits(
                memories=limit,
                profile=defaults.profile if profile_limit is None else profile_limit,
                procedures=procedure_limit,
                raw=raw_limit,
            ),
            as_of=_moment("as_of", as_of),
            known_at=_moment("known_at", known_at),
            target=_target(target),
            include_relations=include_relations,
        )

    def get(self, memory_id: str, *, user_id: str | None = None, target: str = "local") -> MemoryRecord:
        """The memory of that id; ``NotFoundError`` where there is none, or it is another user's.

        Args:
            target: where it will be read, as for ``search``; the same for ``list``, ``history`` and ``explain``.
        """
        return self._engine.reading.get(memory_id, self._optional_scope(user_id), self._owner, _target(target))

    def list(
        self,
        *,
        user_id: str | None = None,
        include_history: bool = False,
        kind: str | None = None,
        said_from: Moment | None = None,
        said_until: Moment | None = None,
        limit: int = 50,
        cursor: str | None = None,
        target: str = "local",
    ) -> Page:
        """One page of memories, newest recorded first.

        Args:
            include_history: also those no longer current.
            kind: only this kind, such as ``"preference"``.
            said_from, said_until: half-open bounds on when it was said.
            limit: 1 to 1,000.
            cursor: ``Page.cursor`` of the page before.
        """
        return self._engine.reading.page(
            self._scope(user_id),
            include_history=include_history,
            kind=kind,
            said_from=_moment("said_from", said_from),
            said_until=_moment("said_until", said_until),
            limit=limit,
            cursor=cursor,
            target=_target(target),
        )

    def evidence(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        source_prefix: str | None = None,
        include_expired: bool = False,
        limit: int = 50,
        cursor: str | None = None,
        target: str = "local",
    ) -> EvidencePage:
        """One page of the sources as they were said or observed, newest recorded first; none that was taken back.

        Args:
            session_id: only those of this session.
            source_prefix: only observations whose source key begins so.
            include_expired: also observations whose time is over, until they are forgotten.
            limit: 1 to 1,000.
            cursor: ``EvidencePage.cursor`` of the page before.
        """
        return self._engine.reading.evidence(
            self._scope(user_id),
            session_id=session_id,
            source_prefix=source_prefix,
            include_expired=include_expired,
            limit=limit,
            cursor=cursor,
            target=_target(target),
        )

    def people(self, *, user_id: str | None = None, target: str = "local") -> tuple[Person, ...]:
        """Everyone of whom more than one name is known: the names, each with the memory that told it.

        Two people of one name stay two. Correcting, deleting or forgetting such a memory unlearns its names.
        """
        return self._engine.reading.people(self._scope(user_id), _target(target))

    def history(self, memory_id: str, *, user_id: str | None = None, target: str = "local") -> tuple[MemoryRecord, ...]:
        """All versions of what that memory is about, oldest first."""
        return self._engine.reading.history(memory_id, self._optional_scope(user_id), self._owner, _target(target))

    def explain(self, memory_id: str, *, user_id: str | None = None, target: str = "local") -> Explanation:
        """The quoted words behind a memory, the decision that made it, what it replaced and what replaced it."""
        return self._engine.reading.explain(memory_id, self._optional_scope(user_id), self._owner, _target(target))

    def update(
        self,
        memory_id: str,
        content: str,
        *,
        user_id: str | None = None,
        at: Moment | None = None,
        expected_revision: int | None = None,
    ) -> WriteResult:
        """Let ``content`` take over from a current memory; the old version stays in its history.

        Args:
            content: the words that hold now.
            at: since when; default now.
            expected_revision: refuse with ``PreconditionError`` where the memory has another revision by now.
        """
        return self._engine.managing.update(
            memory_id, content, self._optional_scope(user_id), self._owner, at=at, expected_revision=expected_revision
        )

    def delete(
        self, memory_id: str, *, user_id: str | None = None, expected_revision: int | None = None
    ) -> MemoryRecord:
        """Archive a memory: no search returns it, its history does. Nothing is erased.

        Args:
            expected_revision: refuse with ``PreconditionError`` where the memory has another revision by now.
        """
        return self._engine.managing.delete(
            memory_id, self._optional_scope(user_id), self._owner, expected_revision=expected_revision
        )

    def warm(self, *, wait: bool = False) -> None:
        """Load models and word lists ahead, in a thread, so that the first calls need not; servers do so.

        Args:
            wait: return when all is loaded.
        """
        self._engine.warming.start()
        if wait:
            self._engine.warming.wait()

    def try_endpoints(self) -> dict[str, MemwellError | None]:
        """Ask each model endpoint in use for something small: what is wrong with it, ``None`` where it answers well."""
        return {probe.name: _tried(probe) for probe in self._engine.probes}

    def resume(self) -> int:
        """Form memories from stored messages that a failed or killed write left unformed; returns how many."""
        return self._engine.remember.resume()

    def status(self) -> Status:
        """Figures of the whole store."""
        return self._engine.maintaining.status()

    def check(self) -> Sequence[str]:
        """Problems found by a whole check of integrity and invariants; empty when sound."""
        return self._engine.maintaining.check()

    def rebuild(self) -> None:
        """Make the keyword index and other derived rows again from the records."""
        self._engine.maintaining.rebuild()

    def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed records that lack vectors of the embedder in use; returns how many."""
        return self._engine.maintaining.reindex(progress)


def _moment(name: str, value: Moment | None) -> datetime | None:
    if value is None:
        return None
    return utc(name, local_time(name, value) if isinstance(value, str) else value)


def _target(value: str) -> Target:
    if value not in list(Target):
        raise InputError(f"target is {value!r}", remedy="use 'local' or 'cloud'")
    return Target(value)


def _tried(probe: Probe) -> MemwellError | None:
    try:
        probe.attempt()
    except MemwellError as error:
        return error
    return None
