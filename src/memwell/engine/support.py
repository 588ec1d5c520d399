"""Memories that lose a message they rest on and go on in the words of others."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from memwell.domain.clauses import core, places, plain
from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord, Source
from memwell.domain.plan import IndexRecord, Unsupport
from memwell.domain.rights import may_go
from memwell.domain.support import resting_on_rest
from memwell.engine.calls import OUTAGES, target_of
from memwell.engine.indexing import embed, index_operation, indexable_memory
from memwell.engine.ports import Embedder, View
from memwell.errors import EmbeddingError


@dataclass(frozen=True, slots=True)
class Support:
    """A memory that stays.

    Attributes:
        before, after: as it is, and in the words of what is left.
        evidence: what it rests on then, by id.
        unsaid: its words, and those of the messages that go, that nothing says any more.
    """

    before: MemoryRecord
    after: MemoryRecord
    evidence: Mapping[str, Evidence]
    unsaid: tuple[str, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """Ids of the evidence that it rests on no more."""
        return tuple(dict.fromkeys(s.evidence_id for s in self.before.sources if s.evidence_id not in self.evidence))

    @property
    def quotes(self) -> dict[str, str]:
        """What it rests on, as words by id of the evidence."""
        texts: dict[str, str] = {}
        for source in self.after.sources:
            quote = _quote(source, self.evidence)
            known = texts.get(source.evidence_id)
            texts[source.evidence_id] = quote if known is None else f"{known} … {quote}"
        return texts


def supports(view: View, memories: Iterable[MemoryRecord], gone: Container[str]) -> dict[str, Support]:
    """Those of ``memories`` that stay when the evidence in ``gone`` goes, by id."""
    listed = list(memories)
    evidence = view.evidence({source.evidence_id for memory in listed for source in memory.sources})
    found = {}
    for memory in listed:
        after = resting_on_rest(memory, lambda source: source.evidence_id in gone, evidence)
        if after is not None:
            left = {source.evidence_id: evidence[source.evidence_id] for source in after.sources}
            found[memory.id] = Support(memory, after, left, _unsaid(memory, after, evidence))
    return found


def _unsaid(before: MemoryRecord, after: MemoryRecord, evidence: Mapping[str, Evidence]) -> tuple[str, ...]:
    """Words of ``before`` and of its sources that do not stand in what ``after`` says or cites."""
    still = [plain(text) for text in (after.content, *(_quote(source, evidence) for source in after.sources))]
    said = [before.content, *(_quote(source, evidence) for source in before.sources if source.evidence_id in evidence)]
    return tuple(text for text in dict.fromkeys(said) if not any(places(other, core(text)) for other in still))


def _quote(source: Source, evidence: Mapping[str, Evidence]) -> str:
    return evidence[source.evidence_id].content[source.start : source.end]


def unsupporting(found: Iterable[Support], embedder: Embedder) -> tuple[Unsupport | IndexRecord, ...]:
    """Operations that take their lost sources from the memories, and index those in new words.

    They wait for no endpoint and no budget: where the embedder gives no answer, words are indexed later.
    """
    listed = list(found)
    steps = [Unsupport(one.before.id, one.before.revision, one.lost, tuple(one.evidence)) for one in listed]
    reworded = [
        one.after
        for one in listed
        if one.after.content != one.before.content
        and all(may_go(record, target_of(embedder)) for record in one.evidence.values())
    ]
    items = [indexable_memory(memory.id, memory) for memory in reworded]
    try:
        rows = embed(embedder, (text for item in items for text in item.texts))
    except EmbeddingError as error:
        if error.code not in OUTAGES:
            raise
        return tuple(steps)
    return (*steps, *(index_operation(item, embedder.model, rows) for item in items))
