"""What may be shown: evidence by its permissions, memories by those of all evidence behind them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memwell.domain.evidence import Evidence, EvidenceStatus, Target
from memwell.domain.memory import MemoryRecord


def interpretable(record: Evidence, target: Target) -> bool:
    """Whether a model at ``target`` may read ``record`` to form memories: it needs the right to infer, and to go there.

    Args:
        target: ``CLOUD`` for an endpoint that is not on this machine.
    """
    return record.status is EvidenceStatus.ACTIVE and record.permissions.infer and may_go(record, target)


def may_go(record: Evidence, target: Target) -> bool:
    """Whether words of ``record`` may be handed to a model at ``target``; what stays on this machine goes nowhere."""
    return target is Target.LOCAL or record.permissions.allows(target)


def sendable(record: Evidence, target: Target) -> bool:
    """Whether the words of ``record`` may be read at ``target``."""
    return record.status is EvidenceStatus.ACTIVE and record.permissions.allows(target)


def readable(memory: MemoryRecord, evidence: Mapping[str, Evidence], target: Target) -> bool:
    """Whether every source behind ``memory`` may be read at ``target``.

    Args:
        evidence: the evidence that it cites, by id; what is missing may not be read.
    """
    sources: Iterable[str] = (source.evidence_id for source in memory.sources)
    return all((record := evidence.get(key)) is not None and sendable(record, target) for key in sources)
