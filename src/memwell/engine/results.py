"""What the use cases return: frozen values with ``to_dict``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memwell.domain.decision import Decision
from memwell.domain.evidence import Evidence, Target
from memwell.domain.memory import MemoryRecord, Transition
from memwell.engine.compose import DEFAULT_TEXT_CHARS, context_text
from memwell.engine.items import MemoryItem, PendingCorrection, Quote, RawItem
from memwell.errors import InputError


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence from which nothing was formed, and why."""

    evidence_id: str
    start: int
    end: int
    text: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


# Status of a write whose memories are formed later.
PENDING = "pending"


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one ``add`` or ``update`` did.

    Attributes:
        evidence_ids: one per stored message, in order (dropped messages have none).
        memory_ids: memories formed or confirmed.
        decisions: one per candidate, in order.
        passed: sentences from which nothing was proposed.
        status: ``committed``, ``known`` (all was known already), ``raw_only`` (only evidence was kept) or ``pending``
            (a job will form the rest).
        job_id: of that job.
        timings: seconds by step; not journalled, so empty on a replay.
        replayed: this is the first result of the same ``request_id`` again.
    """

    evidence_ids: tuple[str, ...]
    memory_ids: tuple[str, ...]
    decisions: tuple[Decision, ...]
    status: str
    passed: tuple[Passage, ...] = ()
    scene: str = "chat"
    request_id: str | None = None
    timings: Mapping[str, float] = field(default_factory=dict)
    replayed: bool = False
    job_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "evidence_ids": list(self.evidence_ids),
            "memory_ids": list(self.memory_ids),
            "decisions": [decision.to_dict() for decision in self.decisions],
            "passed": [passage.to_dict() for passage in self.passed],
            "status": self.status,
            "scene": self.scene,
            "request_id": self.request_id,
            "timings": dict(self.timings),
            "replayed": self.replayed,
            "job_id": self.job_id,
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Groups of results, each ranked by itself.

    Attributes:
        memories: facts of any kind that answer the question.
        profile: standing facts about the owner, for questions about the owner; none that ``memories`` holds.
        procedures: experiences, only with ``procedure_limit``.
        raw: verbatim evidence, only with ``raw_limit``.
        provisional: what was said of late and waits to be formed; empty where nothing waits.
        pending: corrections that have not taken effect yet; ``correction_status`` marks the memories they are about.
        degraded: code of the trouble because of which only keywords were searched; ``None`` where there was none.
        dependencies: ids of every memory and evidence record used.
    """

    question: str
    target: Target
    memories: tuple[MemoryItem, ...] = ()
    profile: tuple[MemoryItem, ...] = ()
    procedures: tuple[MemoryItem, ...] = ()
    raw: tuple[RawItem, ...] = ()
    provisional: tuple[RawItem, ...] = ()
    degraded: str | None = None
    pending: tuple[PendingCorrection, ...] = ()

    @property
    def dependencies(self) -> tuple[str, ...]:
        ids: dict[str, None] = {}
        for item in (*self.memories, *self.profile, *self.procedures):
            for memory in (item.memory, *item.previous, *item.conflicts):
                ids[memory.id] = None
                ids.update((source.evidence_id, None) for source in memory.sources)
        ids.update((item.id, None) for item in (*self.raw, *self.provisional))
        ids.update((item.evidence_id, None) for item in self.pending)
        return tuple(ids)

    def text(self, max_chars: int = DEFAULT_TEXT_CHARS) -> str:
        """Context for a prompt: sectioned, dated, fenced as data, at most ``max_chars`` characters; deterministic."""
        if not isinstance(max_chars, int) or max_chars < 0:
            raise InputError(f"max_chars is {max_chars!r}", remedy="give the number of characters that fit, 0 or more")
        waiting = {item.id for item in self.provisional}
        quoted = waiting | {item.evidence_id for item in self.pending}
        return context_text(
            (self.memories, self.profile, self.procedures),
            pending=[item for item in self.pending if item.evidence_id not in waiting],
            provisional=self.provisional,
            raw=[item for item in self.raw if item.id not in quoted],
            max_chars=max_chars,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "target": self.target.value,
            "memories": [item.to_dict() for item in self.memories],
            "profile": [item.to_dict() for item in self.profile],
            "procedures": [item.to_dict() for item in self.procedures],
            "raw": [item.to_dict() for item in self.raw],
            "provisional": [item.to_dict() for item in self.provisional],
            "pending": [item.to_dict() for item in self.pending],
            "degraded": self.degraded,
            "dependencies": list(self.dependencies),
        }


@dataclass(frozen=True, slots=True)
class Page:
    """One page of memories, newest recorded first; ``cursor`` asks for the next, ``None`` at the end.

    ``for memory in page`` goes through the memories, ``len(page)`` counts them.
    """

    memories: tuple[MemoryRecord, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[MemoryRecord]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    def to_dict(self) -> dict[str, Any]:
        return {"memories": [memory.to_dict() for memory in self.memories], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """One page of sources, newest recorded first; like ``Page``."""

    evidence: tuple[Evidence, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self.evidence)

    def __len__(self) -> int:
        return len(self.evidence)

    def to_dict(self) -> dict[str, Any]:
        return {"evidence": [record.to_dict() for record in self.evidence], "cursor": self.cursor}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a memory comes from and what became of it."""

    memory: MemoryRecord
    quotes: tuple[Quote, ...]
    replaced: tuple[MemoryRecord, ...]
    replaced_by: tuple[MemoryRecord, ...]
    conflicts: tuple[MemoryRecord, ...]
    transitions: tuple[Transition, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "memory": self.memory.to_dict(),
            "quotes": [quote.to_dict() for quote in self.quotes],
            "formation": self.memory.formation.to_dict(),
            "replaced": [memory.to_dict() for memory in self.replaced],
            "replaced_by": [memory.to_dict() for memory in self.replaced_by],
            "conflicts": [memory.to_dict() for memory in self.conflicts],
            "transitions": [
                {
                    "memory_id": step.memory_id,
                    "revision": step.revision,
                    "state": step.state.value,
                    "valid_until": step.valid_until and step.valid_until.isoformat(),
                    "muted_at": step.muted_at and step.muted_at.isoformat(),
                    "cause": step.cause,
                    "at": step.at.isoformat(),
                    "plan_id": step.plan_id,
                }
                for step in self.transitions
            ],
        }


@dataclass(frozen=True, slots=True)
class Status:
    """Figures of a whole store: counts, sizes, schema, and how much of it the current embedder has indexed."""

    location: str
    embedder: str
    extractor: str
    judge: str
    indexed: float
    figures: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {
            "location": self.location,
            "embedder": self.embedder,
            "extractor": self.extractor,
            "judge": self.judge,
            "indexed": self.indexed,
            **self.figures,
        }
