"""Typed questions: one choice among named options each, and the contract that every answer must keep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memwell.domain.evidence import Target
from memwell.errors import DecisionContextError, DecisionContractError

MAX_OPTIONS = 255
_REMEDY = "the evidence is kept; repeat the call, or use another judge"


@dataclass(frozen=True, slots=True)
class DecisionQuestion:
    """A question with named options and what each means.

    Raises:
        DecisionContextError: fewer than two options, or more than 255.
    """

    id: str
    instructions: str
    options: Mapping[str, str]

    def __post_init__(self) -> None:
        if not 2 <= len(self.options) <= MAX_OPTIONS:
            raise DecisionContextError(
                f"question {self.id} has {len(self.options)} options",
                remedy=f"offer 2 to {MAX_OPTIONS} options",
                code="too_many_options" if self.options else "decision_context",
            )

    @property
    def chars(self) -> int:
        return len(self.instructions) + sum(len(key) + len(text) for key, text in self.options.items())


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """The chosen option, and how sure the provider is of it, 0 to 1; what that number means differs by provider."""

    choice: str
    confidence: float


class DecisionProvider(Protocol):
    """Answers typed questions. Any object with this shape may be injected.

    Attributes:
        name: name and version, recorded with every memory it decides about.
        target: whether the questions leave this machine.
    """

    name: str
    target: Target

    def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Mapping[str, DecisionAnswer]:
        """Answer exactly ``questions``, by id, from ``state``. Safe for threads."""


def checked(
    questions: Sequence[DecisionQuestion], answers: Mapping[str, DecisionAnswer], name: str
) -> Mapping[str, DecisionAnswer]:
    """``answers`` if they keep the contract: exactly the questions asked, an offered choice, a confidence of 0 to 1.

    Raises:
        DecisionContractError: they do not; nothing is asked again.
    """
    if not isinstance(answers, Mapping):
        raise broken(name, "wrong_answer_type", f"gave a {type(answers).__name__} for answers")
    for question in questions:
        answer = answers.get(question.id)
        if answer is None:
            raise broken(name, "missing_question", f"left question {question.id} unanswered")
        if not isinstance(answer, DecisionAnswer):
            raise broken(name, "wrong_answer_type", f"answered {question.id} with a {type(answer).__name__}")
        if answer.choice not in question.options:
            raise broken(name, "choice_not_offered", f"chose for {question.id} what was not offered")
        sure = answer.confidence
        if not isinstance(sure, int | float) or not math.isfinite(sure) or not 0 <= sure <= 1:
            raise broken(name, "bad_confidence", f"gave a confidence outside 0 to 1 for {question.id}")
    extra = answers.keys() - {question.id for question in questions}
    if extra:
        raise broken(name, "unasked_answer", f"answered {len(extra)} questions that nobody asked")
    return answers


def broken(name: str, code: str, what: str) -> DecisionContractError:
    """The error for an answer that breaks the contract."""
    return DecisionContractError(f"{name} {what}", remedy=_REMEDY, code=code)


def dumped(answers: Mapping[str, DecisionAnswer]) -> str:
    """``answers`` as text, to be kept before they are used."""
    return json.dumps({key: [answer.choice, answer.confidence] for key, answer in answers.items()})


def loaded(text: str) -> dict[str, DecisionAnswer]:
    """What ``dumped`` wrote."""
    return {key: DecisionAnswer(choice, confidence) for key, (choice, confidence) in json.loads(text).items()}


def wire(questions: Sequence[DecisionQuestion]) -> list[dict[str, Any]]:
    """``questions`` as plain values."""
    return [{"id": q.id, "instructions": q.instructions, "options": dict(q.options)} for q in questions]
