"""From what goes to the operations that erase it."""

from __future__ import annotations

from dataclasses import replace

from memwell.domain.erasing import blacked_out
from memwell.domain.plan import EraseEvidence, EraseMemory, Operation, Redact
from memwell.domain.rights import may_go
from memwell.engine.calls import OUTAGES, target_of
from memwell.engine.cascade import Doomed
from memwell.engine.indexing import embed, index_operation, indexable_evidence
from memwell.engine.ports import Caching, Embedder, Store
from memwell.engine.support import unsupporting
from memwell.errors import EmbeddingError


def erasing(doomed: Doomed, embedder: Embedder) -> tuple[Operation, ...]:
    """Operations that erase ``doomed`` and index what is left of blacked out sources.

    Forgetting waits for no endpoint and no budget: where the embedder gives no answer, what is left is indexed later.
    """
    left = [
        replace(record, content=blacked_out(record.content, spans))
        for record, spans, _ in doomed.blacked_out.values()
        if spans and record.speaker.supports_memories and may_go(record, target_of(embedder))
    ]
    items = [indexable_evidence(record) for record in left]
    try:
        rows = embed(embedder, (text for item in items for text in item.texts))
    except EmbeddingError as error:
        if error.code not in OUTAGES:
            raise
        items, rows = [], {}
    return (
        *unsupporting(doomed.supported.values(), embedder),
        *(EraseMemory(memory.id, memory.revision) for memory in doomed.memories.values()),
        *(EraseEvidence(key) for key in doomed.evidence),
        *(Redact(record.id, spans, preceding) for record, spans, preceding in doomed.blacked_out.values()),
        *(index_operation(item, embedder.model, rows) for item in items),
    )


def clean(store: Store, embedder: Embedder) -> bool:
    """Remove what erasing left beside the records: vectors that the embedder keeps, words in logs and indexes.

    Returns:
        Whether nothing is left, so that no retry is due.
    """
    if isinstance(embedder, Caching):
        embedder.forget()
    return store.clean()
