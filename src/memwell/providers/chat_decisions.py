"""The same typed questions put to a chat model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memwell.domain.evidence import Target
from memwell.errors import DecisionContractError, JudgeError
from memwell.providers.chat import ChatModel
from memwell.providers.decisions import DecisionAnswer, DecisionQuestion, checked, wire
from memwell.providers.prompts import language_of, load_prompt
from memwell.providers.reading import UnusableError


class ChatDecisions:
    """See ``decisions.DecisionProvider``.

    The confidence is what the model says of itself: it is no probability, and rather too high. An answer that breaks
    the contract is asked for once more.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = f"chat/{model.name}+judge-{load_prompt('judge', 'en').version}"
        self.target: Target = model.endpoint.target

    def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Mapping[str, DecisionAnswer]:
        def read(answer: Any, last: bool) -> Mapping[str, DecisionAnswer]:
            try:
                return checked(questions, _answers(answer), self.name)
            except DecisionContractError as error:
                if last:
                    raise
                raise UnusableError(error.code, error.message) from None

        material = {"state": state, "questions": wire(questions)}
        prompt = load_prompt("judge", language_of(json.dumps(state, ensure_ascii=False)))
        return self._model.ask_json("judge", prompt, material, read, JudgeError)


def _answers(answer: Any) -> dict[str, Any]:
    """What is given for each question; what is no answer stands as it is, for ``checked`` to refuse."""
    given = answer.get("answers") if isinstance(answer, Mapping) else None
    if not isinstance(given, Mapping):
        raise UnusableError("wrong_schema", 'it has no "answers"')
    return {str(key): _answer(value) for key, value in given.items()}


def _answer(value: Any) -> Any:
    if not isinstance(value, Mapping) or not isinstance(value.get("choice"), str):
        return value
    return DecisionAnswer(value["choice"], value.get("confidence", 0.5))
