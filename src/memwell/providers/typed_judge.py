"""A judge that puts typed questions: first which head a candidate bears on, then what follows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from memwell.domain.decision import ALLOWED, Action, Situation
from memwell.engine.ports import Comparison, Head, Verdict
from memwell.errors import DecisionContextError
from memwell.providers.decisions import DecisionAnswer, DecisionProvider, DecisionQuestion, checked
from memwell.providers.prompts import Prompt, language_of, load_prompt

NONE = "NONE"
MULTIPLE = "MULTIPLE"
# Characters of a head that stand beside its option; the whole record stands once in the state.
LABEL_CHARS = 240
# What one candidate's material may take; heads that do not fit are left out, the least similar first.
MAX_QUESTION_CHARS = 60_000
MAX_HEADS = 64
# Bounds of one request, and requests at a time.
MAX_QUESTIONS = 64
MAX_REQUEST_CHARS = 100_000
PARALLEL = 4


@dataclass(frozen=True, slots=True)
class _Case:
    """A comparison with the ids under which its parts are spoken of.

    Attributes:
        heads: ids of the heads that are shown, most similar first.
    """

    number: int
    comparison: Comparison
    heads: tuple[str, ...]

    @property
    def candidate(self) -> str:
        return f"c{self.number + 1}"


@dataclass(frozen=True, slots=True)
class _Posed:
    """A case with its question of one stage; ``target`` is the head that the first stage chose."""

    case: _Case
    question: DecisionQuestion
    target: int | None = None

    @property
    def chars(self) -> int:
        return self.question.chars + len(json.dumps(_material(self.case), ensure_ascii=False))


class TypedJudge:
    """See ``ports.Judge``. A verdict's confidence is the product of both answers' confidences."""

    local = False

    def __init__(self, provider: DecisionProvider) -> None:
        self._provider = provider
        self.name = provider.name
        self.target = provider.target

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """See ``ports.Judge``.

        Raises:
            DecisionContextError: a candidate's material is beyond the budget, even without any head.
            DecisionContractError, JudgeError, BudgetError: there are no usable answers; nothing was decided.
        """
        known: dict[object, str] = {}
        cases = [_case(number, comparison, known) for number, comparison in enumerate(comparisons)]
        first = self._answers([_first(case) for case in cases if case.heads])
        chosen = {case.number: _target(case, first.get(case.candidate)) for case in cases}
        second = self._answers(
            [_second(case, chosen[case.number]) for case in cases if chosen[case.number] != MULTIPLE]
        )
        return [_verdict(case, chosen[case.number], first, second) for case in cases]

    def _answers(self, posed: Sequence[_Posed]) -> dict[str, DecisionAnswer]:
        """The answers to all questions, by candidate; several requests at a time."""
        packets = list(_packets(posed))
        with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
            asked = [pool.submit(copy_context().run, self._ask, packet) for packet in packets]
            return {key: answer for request in asked for key, answer in request.result().items()}

    def _ask(self, packet: Sequence[_Posed]) -> Mapping[str, DecisionAnswer]:
        questions = [posed.question for posed in packet]
        return checked(questions, self._provider.evaluate(_state(packet), questions), self.name)


def _case(number: int, comparison: Comparison, known: dict[object, str]) -> _Case:
    """The case with as many heads as its budget allows; ``known`` holds the ids of heads, grown by new ones."""
    keys: list[object] = [head.memory_id or (head.content, head.said_at) for head in comparison.heads[:MAX_HEADS]]
    heads = tuple(known.setdefault(key, f"m{len(known) + 1}") for key in keys)
    while True:
        case = _Case(number, comparison, heads)
        chars = len(json.dumps(_material(case), ensure_ascii=False))
        if chars <= MAX_QUESTION_CHARS:
            return case
        if not heads:
            raise DecisionContextError(
                f"the message of a candidate takes {chars:,} characters, more than {MAX_QUESTION_CHARS:,}",
                remedy="the evidence is kept; add long texts in several messages",
                code="material_too_large",
            )
        heads = heads[: len(heads) // 2]


def _prompt(case: _Case) -> Prompt:
    return load_prompt("judge", language_of(case.comparison.message))


def _first(case: _Case) -> _Posed:
    texts = _prompt(case).texts
    options = {key: _label(head) for key, head in zip(case.heads, case.comparison.heads, strict=False)}
    options |= {NONE: texts["none"]} | ({MULTIPLE: texts["multiple"]} if len(case.heads) > 1 else {})
    instructions = texts["target"].strip().format(candidate=case.candidate)
    return _Posed(case, DecisionQuestion(case.candidate, instructions, options))


def _label(head: Head) -> str:
    return f"[{head.kind.layer}/{head.kind} {head.said_at:%Y-%m-%d}] {head.content[:LABEL_CHARS]}"


def _target(case: _Case, answer: DecisionAnswer | None) -> int | str | None:
    """Index of the chosen head, ``MULTIPLE``, or ``None``."""
    if answer is None or answer.choice == NONE:
        return None
    if answer.choice == MULTIPLE:
        return MULTIPLE
    return case.heads.index(answer.choice)


def _second(case: _Case, target: int | str | None) -> _Posed:
    texts = _prompt(case).texts
    if isinstance(target, int):
        situation = case.comparison.situations[target]
        instructions = texts["action"].format(candidate=case.candidate, target=case.heads[target])
    else:
        situation = Situation.NO_TARGET
        instructions = texts["free"].format(candidate=case.candidate)
    options = {action.value: texts["actions"][action.value] for action in sorted(ALLOWED[situation])}
    shown = target if isinstance(target, int) else None
    return _Posed(case, DecisionQuestion(case.candidate, instructions, options), shown)


def _verdict(
    case: _Case,
    target: int | str | None,
    first: Mapping[str, DecisionAnswer],
    second: Mapping[str, DecisionAnswer],
) -> Verdict:
    sure = first[case.candidate].confidence if case.candidate in first else 1.0
    if target == MULTIPLE:
        return Verdict(Action.SUPPLEMENT, (), sure, "several memories only together cover it")
    answer = second[case.candidate]
    action = Action(answer.choice)
    confidence = round(sure * answer.confidence, 4)
    targets = (target,) if isinstance(target, int) else ()
    return Verdict(action, targets, confidence, f"answered {action}, {confidence:.2f}")


def _packets(posed: Sequence[_Posed]) -> Iterator[list[_Posed]]:
    """Questions in order, as many together as fit one request."""
    packet: list[_Posed] = []
    size = 0
    for item in posed:
        cost = item.chars
        if packet and (len(packet) == MAX_QUESTIONS or size + cost > MAX_REQUEST_CHARS):
            yield packet
            packet, size = [], 0
        packet.append(item)
        size += cost
    if packet:
        yield packet


def _state(packet: Sequence[_Posed]) -> dict[str, Any]:
    """All material of a request: each candidate with its message, and full records of the heads in play, once."""
    candidates: list[dict[str, Any]] = []
    current: dict[str, dict[str, Any]] = {}
    for posed in packet:
        material = _material(posed.case)
        candidates.append(material["candidate"])
        shown = material["current"] if posed.target is None else [material["current"][posed.target]]
        current.update((record["id"], record) for record in shown)
    return {"candidates": candidates, "current": list(current.values())}


def _material(case: _Case) -> dict[str, Any]:
    candidate = case.comparison.candidate
    told: dict[str, Any] = {
        "id": case.candidate,
        "text": candidate.content,
        "kind": candidate.kind.value,
        "about": candidate.subject,
        "said_at": f"{candidate.said_at:%Y-%m-%d %H:%M}",
        "message": case.comparison.message,
    }
    if case.comparison.preceding:
        told["before"] = case.comparison.preceding
    if candidate.valid_until is not None:
        told["until"] = f"{candidate.valid_until:%Y-%m-%d}"
    records = [_record(key, head) for key, head in zip(case.heads, case.comparison.heads, strict=False)]
    return {"candidate": told, "current": records}


def _record(key: str, head: Head) -> dict[str, Any]:
    return {
        "id": key,
        "text": head.content,
        "kind": head.kind.value,
        "about": head.subject,
        "said_at": f"{head.said_at:%Y-%m-%d %H:%M}",
    }
