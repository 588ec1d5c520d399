"""Vectors of records: which texts of a record are embedded, and the operation that stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from memwell.domain.decision import Candidate
from memwell.domain.evidence import Evidence
from memwell.domain.indexed import evidence_prefix, memory_prefix
from memwell.domain.memory import MemoryRecord, Span
from memwell.domain.plan import IndexRecord, Unit, Vector
from memwell.domain.rights import may_go
from memwell.engine.calls import Errand, on_behalf, target_of
from memwell.engine.ports import Embedder, Matrix, WordEmbedder
from memwell.engine.vectors import checked, pack, windows

# A document is found by its vectors; comparing all its words would make searches slow.
_WORDED_WINDOWS = 8


@dataclass(frozen=True)
class Indexable:
    """A record's text as it is embedded: its windows, each behind ``prefix`` (the speaker's name); cut once."""

    unit: Unit
    record_id: str
    text: str
    prefix: str = ""

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        return windows(self.text)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(self.prefix + self.text[span.start : span.end] for span in self.spans)


def indexable_evidence(evidence: Evidence) -> Indexable:
    return Indexable(Unit.EVIDENCE, evidence.id, evidence.content, evidence_prefix(evidence))


def indexable_memory(memory_id: str, statement: MemoryRecord | Candidate) -> Indexable:
    return Indexable(Unit.MEMORY, memory_id, statement.content, memory_prefix(statement.qualifiers))


class Embedded(NamedTuple):
    """A text's vector, and the codes of its telling words from an embedder that makes them."""

    vector: Matrix
    words: bytes | None


def embed(embedder: Embedder, texts: Iterable[str]) -> Mapping[str, Embedded]:
    """What the embedder makes of each text; each distinct text is embedded once, all in one batch.

    Raises:
        EmbeddingError: the embedder failed or gave an unusable vector.
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return {}
    words: Sequence[bytes | None] = [None] * len(distinct)
    if isinstance(embedder, WordEmbedder):
        rows, words = embedder.passages_with_words(distinct)
    else:
        rows = embedder.passages(distinct)
    matrix = checked(rows, embedder.dimensions, len(distinct))
    return dict(zip(distinct, map(Embedded, matrix, words), strict=True))


def index_operation(item: Indexable, model: str, rows: Mapping[str, Embedded]) -> IndexRecord:
    """The operation that stores ``item``'s vectors, looked up in ``rows``.

    Words are kept of evidence alone, and of a long text those of its first windows.
    """
    vectors = []
    for place, (span, text) in enumerate(zip(item.spans, item.texts, strict=True)):
        vector, words = rows[text]
        if item.unit is not Unit.EVIDENCE:
            words = None
        elif words is not None and place >= _WORDED_WINDOWS:
            words = b""
        vectors.append(Vector(span.start, span.end, pack(vector), words))
    return IndexRecord(item.unit, item.record_id, model, tuple(vectors))


def index_both(embedder: Embedder, evidence: Evidence, memory: MemoryRecord) -> tuple[IndexRecord, ...]:
    """Operations that index ``evidence`` and the ``memory`` that rests on it alone.

    There are none where its words may not go to the embedder; another embedder makes up for them later.

    Raises:
        EmbeddingError: the embedder failed or gave an unusable vector.
    """
    if not may_go(evidence, target_of(embedder)):
        return ()
    items = (indexable_memory(memory.id, memory), indexable_evidence(evidence))
    with on_behalf(Errand(evidence.scope)):
        rows = embed(embedder, (text for item in items for text in item.texts))
    return tuple(index_operation(item, embedder.model, rows) for item in items)


def first_rows(items: Iterable[Indexable], rows: Mapping[str, Embedded], dimensions: int) -> Matrix:
    """The first window's vector of each item, shape ``(len(items), dimensions)``; zeros where it was not embedded."""
    nothing = Embedded(np.zeros(dimensions, np.float32), None)
    firsts = [rows.get(item.texts[0], nothing).vector for item in items]
    return np.stack(firsts) if firsts else np.zeros((0, dimensions), np.float32)
