"""Typed questions answered by Jev, or any server of its protocol, through the official ``typesafe-sdk``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memwell.domain.evidence import Target
from memwell.errors import JudgeError
from memwell.providers.decisions import DecisionAnswer, DecisionQuestion, broken, dumped, loaded, wire
from memwell.providers.endpoint import Endpoint, missing_extra, status_trouble, trouble
from memwell.providers.paid import Answered, Paid

if TYPE_CHECKING:
    from typesafe_sdk import TypeSafeClient

_RETRIED = {429, 502, 503, 504, 529}
_FIRST_BACKOFF_SECONDS = 0.2


class Jev:
    """See ``decisions.DecisionProvider``.

    The confidence is the probability that the server gives to the chosen option. Its own ``confidence`` is left aside:
    servers of this protocol compute it in different ways, while probabilities mean the same everywhere.
    """

    def __init__(self, endpoint: Endpoint, paid: Paid) -> None:
        self._endpoint = endpoint
        self._paid = paid
        self.name = f"jev/{endpoint.model}"
        self.target: Target = endpoint.target

    def evaluate(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Mapping[str, DecisionAnswer]:
        request = {"state": state, "questions": wire(questions)}
        return loaded(self._paid.ask("judge", self._endpoint.model, request, lambda: self._call(state, questions)))

    @cached_property
    def _client(self) -> TypeSafeClient:
        try:
            from typesafe_sdk import RetryPolicy, TypeSafeClient
        except ImportError:
            raise missing_extra("jev") from None
        retry = RetryPolicy(
            max_retries=self._endpoint.retries, http_statuses=set(_RETRIED), backoff_initial=_FIRST_BACKOFF_SECONDS
        )
        key = self._endpoint.key or ("none" if self._endpoint.url else None)
        return TypeSafeClient(
            api_key=key,
            base_url=self._endpoint.url,
            model=self._endpoint.model,
            timeout=self._endpoint.timeout,
            retry=retry,
        )

    def _call(self, state: Mapping[str, Any], questions: Sequence[DecisionQuestion]) -> Answered:
        client = self._client
        import typesafe_sdk as sdk

        asked = {q.id: sdk.Choice(instructions=q.instructions, criteria=dict(q.options)) for q in questions}
        try:
            response = client.system_one(state=dict(state), questions=asked)
        except sdk.TypeSafeAPIResponseValidationError:
            raise broken(self.name, "wrong_answer_type", "gave an answer that is not of the protocol") from None
        except sdk.TypeSafeAPITimeoutError:
            raise trouble(JudgeError, self.name, "endpoint_timeout") from None
        except sdk.TypeSafeAPIConnectionError:
            raise trouble(JudgeError, self.name, "endpoint_unreachable") from None
        except sdk.TypeSafeAPIError as error:
            raise status_trouble(JudgeError, self.name, error.status) from None
        except (sdk.TypeSafeError, ValueError):
            raise trouble(JudgeError, self.name, "endpoint_failed") from None
        answers = {}
        for key, answer in response.answers.items():
            if not isinstance(answer, sdk.ChoiceAnswer):
                raise broken(self.name, "wrong_answer_type", "answered a choice with something else")
            if answer.choice not in answer.probabilities:
                raise broken(self.name, "choice_not_offered", "gave no probability to its own choice")
            answers[key] = DecisionAnswer(answer.choice, answer.probabilities[answer.choice])
        return Answered(dumped(answers), response.usage.input_tokens, response.usage.output_tokens)
