"""What a lens sees."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memwell.domain.evidence import EvidenceStatus, Permissions, Target
from memwell.domain.lens import Lens, as_known, sees_evidence, sees_memory
from memwell.domain.memory import Kind, State, Transition
from memwell.testing.doubles import START, make_evidence, make_memory

DAY = timedelta(days=1)
EVIDENCE = make_evidence("ev_1")
MEMORY = make_memory("mem_1", EVIDENCE)


@pytest.mark.parametrize("state", list(State))
def test_only_the_current_is_seen_unless_asked(state: State) -> None:
    memory = replace(MEMORY, state=state)
    assert sees_memory(Lens(START), memory, readable=True) is (state is State.CURRENT)
    for lens in (Lens(START, include_past=True), Lens(START, as_of=START)):
        assert sees_memory(lens, memory, readable=True) is state.was_true


@pytest.mark.parametrize("lens", [Lens(START), Lens(START, as_of=START), Lens(START, include_past=True)])
def test_hidden_is_hidden_from_every_lens(lens: Lens) -> None:
    assert not sees_memory(lens, MEMORY, readable=False)
    assert not sees_memory(lens, replace(MEMORY, muted_at=START), readable=True)
    assert not sees_memory(replace(lens, kinds=frozenset({Kind.EVENT})), MEMORY, readable=True)
    assert not sees_memory(replace(lens, known_at=START - DAY), MEMORY, readable=True)
    assert sees_memory(replace(lens, known_at=START), MEMORY, readable=True)


def test_validity_is_half_open() -> None:
    memory = replace(MEMORY, valid_until=START + DAY)
    for offset, seen in ((-DAY, False), (0 * DAY, True), (DAY / 2, True), (DAY, False)):
        assert sees_memory(Lens(START + 9 * DAY, as_of=START + offset), memory, readable=True) is seen
    assert sees_memory(Lens(START + DAY / 2), memory, readable=True)
    assert not sees_memory(Lens(START + DAY), memory, readable=True)


def test_evidence_needs_its_permission() -> None:
    local = replace(EVIDENCE, permissions=Permissions(local=True, cloud=False))
    assert sees_evidence(Lens(START), local)
    assert not sees_evidence(Lens(START, target=Target.CLOUD), local)
    for status in (EvidenceStatus.WITHDRAWN, EvidenceStatus.ERASED):
        assert not sees_evidence(Lens(START), replace(EVIDENCE, status=status))
    assert not sees_evidence(Lens(START, as_of=START - DAY), EVIDENCE)
    assert not sees_evidence(Lens(START, known_at=START - DAY), EVIDENCE)


def test_what_was_known_at_a_moment() -> None:
    steps = tuple(
        Transition("mem_1", number, state, None, None, START + number * DAY, "x", "p")
        for number, state in enumerate((State.CURRENT, State.ARCHIVED, State.CURRENT), 1)
    )
    assert as_known(steps, START) is None
    for number in (1, 2, 3):
        assert as_known(steps, START + number * DAY + DAY / 2) == steps[number - 1]
    assert as_known(steps, START + 2 * DAY) == steps[1]
