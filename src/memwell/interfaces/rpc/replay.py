"""What was answered to the last changes, so that a host that lost an answer may send its request again."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from memwell.errors import IdempotencyConflictError
from memwell.interfaces.rpc.envelope import Envelope

# What is kept of an answer: ids, states and numbers, nothing that anybody said.
_KEPT = frozenset(
    {
        "id",
        "evidence_ids",
        "memory_ids",
        "status",
        "scene",
        "request_id",
        "state",
        "revision",
        "replayed",
        "hash",
        "counts",
    }
)


class Replays:
    """A bounded cache of answers without their words.

    Args:
        size: how many answers are kept; the oldest goes first.
    """

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._answers: OrderedDict[str, tuple[str, Mapping[str, Any]]] = OrderedDict()

    def answer(self, envelope: Envelope) -> Mapping[str, Any] | None:
        """The answer to the same request before, without its words; ``None`` for a new one.

        Raises:
            IdempotencyConflictError: the id was another request's.
        """
        known = self._answers.get(envelope.id)
        if known is None:
            return None
        if known[0] != _digest(envelope):
            raise IdempotencyConflictError(
                f"id {envelope.id!r} was another request's", remedy="give each request an id of its own"
            )
        return known[1]

    def keep(self, envelope: Envelope, result: Mapping[str, Any]) -> None:
        """Keep what ``result`` says besides words."""
        kept = {name: value for name, value in result.items() if name in _KEPT or isinstance(value, int)}
        self._answers[envelope.id] = (_digest(envelope), kept)
        if len(self._answers) > self._size:
            self._answers.popitem(last=False)


def _digest(envelope: Envelope) -> str:
    asked = json.dumps([envelope.method, envelope.params], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()
