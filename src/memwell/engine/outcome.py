"""A write's answer as journalled for its request id: ids, spans and numbers, no user text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memwell.domain.decision import Action, Decision
from memwell.domain.memory import Kind, Source
from memwell.domain.support import quoted
from memwell.engine.ports import View
from memwell.engine.results import Passage, WriteResult


def journalled(result: WriteResult) -> Mapping[str, Any]:
    """``result`` without its words, as a JSON-able mapping."""
    return {
        "evidence_ids": list(result.evidence_ids),
        "memory_ids": list(result.memory_ids),
        "status": result.status,
        "decisions": [
            {name: value for name, value in decision.to_dict().items() if name != "content"}
            for decision in result.decisions
        ],
        "passed": [[p.evidence_id, p.start, p.end, p.reason] for p in result.passed],
    }


def replayed_result(view: View, outcome: Mapping[str, Any], request_id: str) -> WriteResult:
    """The first result again, its words read from the evidence; words erased since are empty."""
    texts = {record.id: record.content for record in view.evidence(outcome["evidence_ids"]).values()}
    return WriteResult(
        evidence_ids=tuple(outcome["evidence_ids"]),
        memory_ids=tuple(outcome["memory_ids"]),
        decisions=tuple(_decision(row, texts) for row in outcome["decisions"]),
        status=outcome["status"],
        passed=tuple(_passage(row, texts) for row in outcome["passed"]),
        request_id=request_id,
        replayed=True,
    )


def _decision(row: Mapping[str, Any], texts: Mapping[str, str]) -> Decision:
    sources = tuple(
        Source(source["evidence_id"], source["start"], source["end"], datetime.fromisoformat(source["said_at"]))
        for source in row["sources"]
    )
    return Decision(
        action=Action(row["action"]),
        confidence=row["confidence"],
        reason=row["reason"],
        sources=sources,
        content=quoted(texts, sources),
        targets=tuple(row["targets"]),
        memory_id=row["memory_id"],
        kind=Kind(row["kind"]),
    )


def _passage(row: Sequence[Any], texts: Mapping[str, str]) -> Passage:
    evidence_id, start, end, reason = row
    return Passage(evidence_id, start, end, texts.get(evidence_id, "")[start:end], reason)
