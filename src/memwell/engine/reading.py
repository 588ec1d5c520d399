"""Reading memories: quotes, relations, lists, version chains, explanations."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memwell.domain.evidence import Evidence, EvidenceStatus, Target, keyed_prefix
from memwell.domain.lens import Lens, as_known
from memwell.domain.memory import Kind, Links, MemoryRecord, State
from memwell.domain.people import Person
from memwell.domain.rights import readable
from memwell.domain.scope import Scope, checked_id
from memwell.engine.items import Quote
from memwell.engine.people import known_people
from memwell.engine.ports import Clock, Store, View
from memwell.engine.queries import EvidenceQuery, PageQuery
from memwell.engine.results import EvidencePage, Explanation, Page
from memwell.errors import InputError, NotFoundError

MAX_PAGE = 1_000


def quotes_of(view: View, memories: Iterable[MemoryRecord]) -> dict[str, tuple[Quote, ...]]:
    """The quoted spans behind each memory, by memory id; sources that are gone are left out."""
    listed = list(memories)
    evidence = view.evidence({source.evidence_id for memory in listed for source in memory.sources})
    return {memory.id: _quotes(memory, evidence) for memory in listed}


def _quotes(memory: MemoryRecord, evidence: Mapping[str, Evidence]) -> tuple[Quote, ...]:
    return tuple(
        Quote(
            evidence_id=record.id,
            message_id=record.message_id,
            session_id=record.session_id,
            speaker=record.speaker.value,
            name=record.name,
            said_at=record.occurred_at,
            start=source.start,
            end=source.end,
            text=record.content[source.start : source.end],
        )
        for source in memory.sources
        if (record := evidence.get(source.evidence_id)) is not None and record.status is EvidenceStatus.ACTIVE
    )


def known_then(view: View, memory: MemoryRecord, known_at: datetime | None) -> MemoryRecord:
    """``memory`` as the store knew it at ``known_at``; sources and links learnt later are left out."""
    if known_at is None:
        return memory
    then = as_known(view.transitions(memory.id), known_at)
    if then is None:
        return memory
    linked = view.memories({linked for name in Links.__slots__ for linked in getattr(memory.links, name)})
    links = {
        name: tuple(i for i in getattr(memory.links, name) if i in linked and linked[i].recorded_at <= known_at)
        for name in Links.__slots__
    }
    evidence = view.evidence(source.evidence_id for source in memory.sources)
    return replace(
        memory,
        state=then.state,
        valid_until=then.valid_until,
        muted_at=then.muted_at,
        revision=then.revision,
        retired_at=memory.retired_at if memory.retired_at and memory.retired_at <= known_at else None,
        links=Links(**links),
        sources=tuple(s for s in memory.sources if evidence[s.evidence_id].recorded_at <= known_at),
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """The read use cases other than search."""

    store: Store
    clock: Clock

    def get(
        self, memory_id: str, scope: Scope | None, owner: tuple[str, str], target: Target = Target.LOCAL
    ) -> MemoryRecord:
        """The memory of that id.

        Args:
            target: where it will be read; decides which sources may be behind it.
            scope: the scope it must be of, or ``None`` where the id alone names it.
            owner: application and agent it must be of.

        Raises:
            NotFoundError: there is none here.
        """
        with self.store.view() as view:
            return _found_for(view, memory_id, scope, owner, target)

    def history(
        self, memory_id: str, scope: Scope | None, owner: tuple[str, str], target: Target = Target.LOCAL
    ) -> tuple[MemoryRecord, ...]:
        """The memory's version chain, oldest first, as far as it may be read at ``target``."""
        with self.store.view() as view:
            _found_for(view, memory_id, scope, owner, target)
            chain = _readable_among(view, view.chain(memory_id), target)
            return tuple(sorted(chain.values(), key=lambda m: (m.valid_from, m.recorded_at, m.id)))

    def explain(
        self, memory_id: str, scope: Scope | None, owner: tuple[str, str], target: Target = Target.LOCAL
    ) -> Explanation:
        """Quotes, decision, what it replaced and what replaced it, as far as that may be read at ``target``."""
        with self.store.view() as view:
            memory = _found_for(view, memory_id, scope, owner, target)
            links = memory.links
            linked = view.memories({i for name in Links.__slots__ for i in getattr(links, name)})
            shown = _readable_among(view, linked.values(), target)

            def those(ids: Sequence[str]) -> tuple[MemoryRecord, ...]:
                return tuple(shown[i] for i in ids if i in shown)

            return Explanation(
                memory=memory,
                quotes=quotes_of(view, [memory])[memory.id],
                replaced=those((*links.supersedes, *links.corrects)),
                replaced_by=those((*links.superseded_by, *links.corrected_by)),
                conflicts=those(links.conflicts_with),
                transitions=view.transitions(memory_id),
            )

    def page(
        self,
        scope: Scope,
        *,
        include_history: bool = False,
        kind: str | None = None,
        said_from: datetime | None = None,
        said_until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
        target: Target = Target.LOCAL,
    ) -> Page:
        """One page of memories, newest recorded first.

        Args:
            include_history: also those that are no longer current.
            kind: only this kind.
            limit: 1 to 1,000 memories.
            cursor: ``Page.cursor`` of the page before.
            target: where the page will be read.
        """
        _check_limit(limit)
        with self.store.view() as view:
            rows = view.page(
                PageQuery(
                    scope=scope,
                    limit=limit + 1,
                    states=frozenset(State) - {State.ERASED} if include_history else frozenset({State.CURRENT}),
                    kinds=None if kind is None else frozenset({kind_named(kind)}),
                    said_from=said_from,
                    said_until=said_until,
                    live_at=None if include_history else self.clock.now(),
                    after=None if cursor is None else _read_cursor(cursor),
                    target=target,
                )
            )
        more = len(rows) > limit
        rows = rows[:limit]
        return Page(tuple(rows), _cursor(rows[-1]) if more else None)

    def people(self, scope: Scope, target: Target = Target.LOCAL) -> tuple[Person, ...]:
        """Everyone of whom more than one name is known, as far as it may be read at ``target``."""
        with self.store.view() as view:
            return known_people(view, scope, Lens(now=self.clock.now(), target=target)).persons

    def evidence(
        self,
        scope: Scope,
        *,
        session_id: str | None = None,
        source_prefix: str | None = None,
        include_expired: bool = False,
        limit: int = 50,
        cursor: str | None = None,
        target: Target = Target.LOCAL,
    ) -> EvidencePage:
        """One page of sources that are neither withdrawn nor erased, newest recorded first.

        Args:
            session_id: only those of this session.
            source_prefix: only observations whose source key begins so.
            include_expired: also observations whose time is over.
            limit: 1 to 1,000 sources.
            cursor: ``EvidencePage.cursor`` of the page before.
            target: where the page will be read.
        """
        _check_limit(limit)
        with self.store.view() as view:
            rows = view.traces(scope).page(
                EvidenceQuery(
                    limit=limit + 1,
                    session_id=None if session_id is None else checked_id("session_id", session_id),
                    origin_prefix=None if source_prefix is None else keyed_prefix(source_prefix),
                    after=None if cursor is None else _read_cursor(cursor),
                    target=target,
                    alive_at=None if include_expired else self.clock.now(),
                )
            )
        return EvidencePage(tuple(rows[:limit]), _cursor(rows[limit - 1]) if len(rows) > limit else None)


def found(view: View, memory_id: str, scope: Scope | None, owner: tuple[str, str]) -> MemoryRecord:
    """The memory of that id if it is in ``scope`` (or, without one, of ``owner``'s application and agent)."""
    memory = view.memories([memory_id]).get(memory_id)
    if (
        memory is None
        or memory.state is State.ERASED
        or (scope is not None and memory.scope != scope)
        or (memory.scope.app_id, memory.scope.agent_id) != owner
    ):
        raise NotFoundError(f"no memory {memory_id!r} here", remedy="list the memories to see their ids")
    return memory


def _found_for(view: View, memory_id: str, scope: Scope | None, owner: tuple[str, str], target: Target) -> MemoryRecord:
    """``found``, for a reader at ``target``."""
    memory = found(view, memory_id, scope, owner)
    if not _readable_among(view, [memory], target):
        raise NotFoundError(
            f"memory {memory_id!r} may not be read here", remedy=f"permit {target} reading of the sources it rests on"
        )
    return memory


def _readable_among(view: View, memories: Iterable[MemoryRecord], target: Target) -> dict[str, MemoryRecord]:
    """Those of ``memories`` that are not erased and may be read at ``target``, by id."""
    listed = [memory for memory in memories if memory.state is not State.ERASED]
    evidence = view.evidence({source.evidence_id for memory in listed for source in memory.sources})
    return {memory.id: memory for memory in listed if readable(memory, evidence, target)}


def kind_named(name: str) -> Kind:
    """The kind of that name; ``InputError`` names the possible ones."""
    try:
        return Kind(name)
    except ValueError:
        kinds = ", ".join(kind.value for kind in Kind)
        raise InputError(f"kind is {name!r}", remedy=f"use one of {kinds}", code="unknown_kind") from None


def _check_limit(limit: object) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
        raise InputError(f"limit is {limit!r}", remedy=f"use a whole number, 1 to {MAX_PAGE:,}")


def _cursor(record: MemoryRecord | Evidence) -> str:
    return base64.urlsafe_b64encode(f"{record.recorded_at.isoformat()} {record.id}".encode()).decode()


def _read_cursor(cursor: str) -> tuple[datetime, str]:
    try:
        if not isinstance(cursor, str):
            raise ValueError("not text")
        moment, memory_id = base64.urlsafe_b64decode(cursor.encode()).decode().split(" ", 1)
        return datetime.fromisoformat(moment).astimezone(UTC), memory_id
    except (ValueError, binascii.Error):
        raise InputError(
            f"cursor {str(cursor)[:40]!r} is not one this store gave",
            remedy="pass the cursor of a page unchanged, or none",
        ) from None
