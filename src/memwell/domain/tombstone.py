"""Tombstones: what is kept of erased records so that they can never come back. No text, only ids and keyed hashes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from memwell.domain.evidence import Evidence
from memwell.domain.memory import Span
from memwell.domain.unit import Unit

HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Where an erased record was.

    Attributes:
        at: when it was erased.
        spans: the parts that were blacked out, where the rest of a source stayed; ``None``: all of it.
        origin_hash, replay_hash: see ``source_hashes``; ``None`` for memories.
        hash_key: the key they were made with.
    """

    record_id: str
    unit: Unit
    at: datetime
    spans: tuple[Span, ...] | None = None
    origin_hash: bytes | None = None
    replay_hash: bytes | None = None
    hash_key: bytes | None = None

    def merged(self, later: Tombstone) -> Tombstone:
        """Both as one: deletion only grows, and the hashes of the words as they first were stay."""
        whole = self.spans is None or later.spans is None
        spans = None if whole else united((*(self.spans or ()), *(later.spans or ())))
        known = self if self.origin_hash is not None else later
        return replace(
            self,
            at=min(self.at, later.at),
            spans=spans,
            origin_hash=known.origin_hash,
            replay_hash=known.replay_hash,
            hash_key=known.hash_key,
        )


def source_hashes(record: Evidence, key: bytes) -> tuple[bytes, bytes]:
    """Keyed hashes (BLAKE2b) by which a source is known again when it is sent once more.

    The first is of its origin; the second of who said which words at which microsecond, for hosts that give their
    messages no ids.
    """
    said = f"{record.speaker.value}\n{record.occurred_at.isoformat()}\n{record.content}"
    return keyed_hash(record.origin, key), keyed_hash(said, key)


def keyed_hash(text: str, key: bytes) -> bytes:
    """Keyed BLAKE2b of ``text``, as the ledger, receipts and tombstones keep it."""
    return blake2b(text.encode(), key=key, digest_size=HASH_BYTES).digest()


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """``spans`` in order, those that overlap or touch made one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)
