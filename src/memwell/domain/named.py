"""What a plan names: the records that must be loaded to work out what it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memwell.domain.evidence import Evidence
from memwell.domain.jobs import Job
from memwell.domain.memory import Links, MemoryRecord
from memwell.domain.plan import (
    AddEvidence,
    AddJob,
    AddMemory,
    AddSources,
    Bury,
    EraseEvidence,
    EraseMemory,
    FinishJob,
    IndexRecord,
    MarkFormed,
    Mute,
    Permit,
    Plan,
    Redact,
    RestoreMemory,
    Retire,
    Shorten,
    Unit,
    Unsupport,
    Withdraw,
)


@dataclass(frozen=True, slots=True)
class Named:
    """The records that a plan names, as the store holds them: by id, and evidence also by origin.

    Attributes:
        jobs: those that the plan adds or finishes; where it erases words, also every unfinished one of its scope, and
            finished ones about evidence that it erases or blacks out. Their evidence is loaded too.
        citing: ids of the memories, loaded too, that rest on evidence which the plan erases or blacks out.
        buried: ids of new records of the plan that have a tombstone, by id or by where they come from.
    """

    memories: Mapping[str, MemoryRecord] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    origins: Mapping[str, Evidence] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    buried: frozenset[str] = frozenset()
    citing: Mapping[str, frozenset[str]] = field(default_factory=dict)


def named_ids(plan: Plan) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Ids of the memories and of the evidence, and the origins, that a store must load for ``resolve``."""
    memories: set[str] = set()
    evidence: set[str] = set()
    origins: set[str] = set()
    for operation in plan.operations:
        match operation:
            case AddEvidence(evidence=record, dependencies=dependencies):
                evidence.update((record.id, *dependencies))
                memories.update(dependencies)
                origins.add(record.origin)
            case AddMemory(memory=memory) | RestoreMemory(memory=memory):
                memories.add(memory.id)
                for name in Links.__slots__:
                    memories.update(getattr(memory.links, name))
                evidence.update(source.evidence_id for source in memory.sources)
            case AddSources(memory_id=memory_id, sources=sources):
                memories.add(memory_id)
                evidence.update(source.evidence_id for source in sources)
            case IndexRecord(unit=unit, record_id=record_id):
                (memories if unit is Unit.MEMORY else evidence).add(record_id)
            case MarkFormed(evidence_ids=ids) | AddJob(job=Job(evidence_ids=ids)):
                evidence.update(ids)
            case Retire() | Shorten() | Mute() | EraseMemory():
                memories.add(operation.memory_id)
            case Unsupport(memory_id=memory_id, lost=lost, left=left):
                memories.add(memory_id)
                evidence.update((*lost, *left))
            case Permit() | Withdraw() | EraseEvidence() | Redact():
                evidence.add(operation.evidence_id)
            case Bury(tombstone=tombstone):
                (memories if tombstone.unit is Unit.MEMORY else evidence).add(tombstone.record_id)
    return frozenset(memories), frozenset(evidence), frozenset(origins)


def named_jobs(plan: Plan) -> frozenset[str]:
    """Ids of the jobs that a store must load for ``resolve``."""
    added = (operation.job.id for operation in plan.operations if isinstance(operation, AddJob))
    finished = (operation.job_id for operation in plan.operations if isinstance(operation, FinishJob))
    return frozenset((*added, *finished))


def erases(plan: Plan) -> bool:
    """Whether words of any record go."""
    return any(isinstance(operation, EraseMemory | EraseEvidence | Redact) for operation in plan.operations)


def losing_words(plan: Plan) -> frozenset[str]:
    """Ids of the evidence that the plan erases or blacks out."""
    return frozenset(
        operation.evidence_id for operation in plan.operations if isinstance(operation, EraseEvidence | Redact)
    )
