"""Lens: which records a reader may see, decided before any ranking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memwell.domain.evidence import Evidence, EvidenceStatus, Target
from memwell.domain.memory import Kind, MemoryRecord, State, Transition


@dataclass(frozen=True, slots=True)
class Lens:
    """What a read may see.

    Attributes:
        now: the reader's clock; a current memory whose period has passed is hidden.
        as_of: valid time asked about; reaches every version that held at that moment.
        known_at: transaction time asked about; what the store said then.
        include_past: also versions that are no longer current but were true.
        kinds: only these kinds, or all.
        include_muted: also what is muted: it is kept from being recalled, not from being superseded.
    """

    now: datetime
    as_of: datetime | None = None
    known_at: datetime | None = None
    include_past: bool = False
    target: Target = Target.LOCAL
    kinds: frozenset[Kind] | None = None
    include_muted: bool = False


def sees_memory(lens: Lens, memory: MemoryRecord, *, readable: bool) -> bool:
    """Whether ``memory`` may be returned.

    Args:
        memory: the version, as known at ``lens.known_at`` where that is set (see ``as_known``).
        readable: whether every evidence behind it is active and permitted for ``lens.target``.
    """
    if not readable or (memory.muted_at is not None and not lens.include_muted):
        return False
    if lens.kinds is not None and memory.kind not in lens.kinds:
        return False
    if lens.known_at is not None and memory.recorded_at > lens.known_at:
        return False
    if lens.as_of is not None:
        began = memory.valid_from <= lens.as_of
        return memory.state.was_true and began and (memory.valid_until is None or lens.as_of < memory.valid_until)
    if lens.include_past:
        return memory.state.was_true
    return memory.state is State.CURRENT and (memory.valid_until is None or lens.now < memory.valid_until)


def sees_evidence(lens: Lens, evidence: Evidence) -> bool:
    """Whether ``evidence`` may be quoted: active, permitted, said by ``as_of`` and known by ``known_at``."""
    return (
        evidence.status is EvidenceStatus.ACTIVE
        and evidence.permissions.allows(lens.target)
        and (lens.as_of is None or evidence.occurred_at <= lens.as_of)
        and (lens.known_at is None or evidence.recorded_at <= lens.known_at)
    )


def as_known(transitions: tuple[Transition, ...], moment: datetime) -> Transition | None:
    """The last of one memory's ``transitions`` (in revision order) that the store knew at ``moment``."""
    known = [transition for transition in transitions if transition.at <= moment]
    return known[-1] if known else None
