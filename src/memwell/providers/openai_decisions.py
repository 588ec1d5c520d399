"""Typed questions answered by an endpoint of the OpenAI Decisions shape, through the official client."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memwell.domain.evidence import Target
from memwell.errors import JudgeError
from memwell.providers.decisions import DecisionAnswer, DecisionQuestion, broken, dumped, loaded, wire
from memwell.providers.endpoint import Endpoint, openai_troubles, trouble
from memwell.providers.paid import Answered, Paid

if TYPE_CHECKING:
    import openai


class OpenAIDecisions:
    """See ``decisions.DecisionProvider``. The confidence is the probability of the chosen option."""

    def __init__(self, endpoint: Endpoint, paid: Paid) -> None:
        self._endpoint = endpoint
        self._paid = paid
        self.name = f"decisions/{endpoint.model}"
        self.target: Target = endpoint.target

    def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Mapping[str, DecisionAnswer]:
        request = {"state": state, "questions": wire(questions)}
        return loaded(self._paid.ask("judge", self._endpoint.model, request, lambda: self._call(state, questions)))

    @cached_property
    def _client(self) -> openai.OpenAI:
        return self._endpoint.client()

    def _call(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Answered:
        client = self._client
        with openai_troubles(JudgeError, self.name):
            decision = client.decisions.create(
                model=self._endpoint.model,
                input=json.dumps(state, ensure_ascii=False),
                questions=[
                    {
                        "type": "choice",
                        "name": question.id,
                        "instructions": question.instructions,
                        "choices": [{"value": key, "description": text} for key, text in question.options.items()],
                    }
                    for question in questions
                ],
            )
        given = getattr(decision, "answers", None)
        if not isinstance(given, list):
            raise trouble(JudgeError, self.name, "endpoint_failed")
        answers = {}
        for answer in given:
            kind, name = getattr(answer, "type", None), getattr(answer, "name", None)
            if kind == "refusal":
                raise JudgeError(
                    f"{self.name} declined to answer", remedy="the evidence is kept", code="answer_refused"
                )
            if kind != "choice" or not isinstance(name, str) or name in answers:
                raise broken(self.name, "wrong_answer_type", "answered a choice with something else, or twice")
            shares = {share.value: share.probability for share in answer.probabilities}
            if answer.choice not in shares:
                raise broken(self.name, "choice_not_offered", "gave no probability to its own choice")
            answers[name] = DecisionAnswer(str(answer.choice), shares[answer.choice])
        usage = getattr(decision, "usage", None)
        if usage is None:
            return Answered(dumped(answers))
        return Answered(dumped(answers), usage.input_tokens, usage.output_tokens)
