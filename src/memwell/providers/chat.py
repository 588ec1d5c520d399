"""A chat model behind any OpenAI-compatible endpoint, asked for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from memwell.errors import MemwellError
from memwell.providers.endpoint import Endpoint, openai_troubles, trouble
from memwell.providers.paid import Answered, Paid, SpentError
from memwell.providers.prompts import Prompt
from memwell.providers.reading import UnusableError, read_json

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
Message = Mapping[str, str]


class ChatModel:
    """Asks a chat model; what it thought is never used.

    Args:
        endpoint: where it is.
        paid: makes the calls.
        options: further fields of the request, such as ``{"temperature": 0}`` or ``{"response_format": …}``.
    """

    def __init__(self, endpoint: Endpoint, paid: Paid, options: Mapping[str, Any] | None = None) -> None:
        self.endpoint = endpoint
        self._paid = paid
        self._options = dict(options or {})

    @property
    def name(self) -> str:
        return self.endpoint.model

    def ask_json(
        self,
        purpose: str,
        prompt: Prompt,
        material: Mapping[str, Any],
        read: Callable[[Any, bool], T],
        error: type[MemwellError],
    ) -> T:
        """The model's answer about ``material`` as ``read`` makes it, after at most one rewrite.

        Args:
            read: gets the JSON, and whether this is the last answer there will be.
            error: the class of what is raised where there is no usable answer.
        """
        messages: list[Message] = [
            {"role": "system", "content": prompt.system.strip()},
            {"role": "user", "content": json.dumps(material, ensure_ascii=False)},
        ]
        first = self.ask(purpose, messages, error)
        try:
            return read(read_json(first), False)
        except UnusableError as unusable:
            problem = unusable
        again = [
            *messages,
            {"role": "assistant", "content": first},
            {"role": "user", "content": prompt.rewrite.strip().format(problem=problem.problem)},
        ]
        try:
            return read(read_json(self.ask(purpose, again, error, once=True)), True)
        except SpentError:
            return self._last_of(first, read, problem, error)
        except UnusableError as unusable:
            raise self._unusable(unusable, error) from None

    def _last_of(
        self, first: str, read: Callable[[Any, bool], T], problem: UnusableError, error: type[MemwellError]
    ) -> T:
        """What the first answer gives where the rewrite was asked for and got lost."""
        try:
            return read(read_json(first), True)
        except UnusableError:
            raise self._unusable(problem, error) from None

    def _unusable(self, problem: UnusableError, error: type[MemwellError]) -> MemwellError:
        return error(
            f"the answer of {self.name} cannot be used, also after a rewrite: {problem.problem}",
            remedy="the evidence is kept; repeat the call, or use another model",
            code=problem.code,
        )

    def ask(self, purpose: str, messages: Sequence[Message], error: type[MemwellError], *, once: bool = False) -> str:
        """What the model says to ``messages``; see ``Paid.ask``."""
        request = {"messages": list(messages), **self._options}
        return self._paid.ask(purpose, self.name, request, lambda: self._call(messages, error), once=once)

    @cached_property
    def _client(self) -> openai.OpenAI:
        return self.endpoint.client()

    def _call(self, messages: Sequence[Message], error: type[MemwellError]) -> Answered:
        body: dict[str, Any] = {"model": self.name, "messages": list(messages), **self._options}
        client = self._client
        with openai_troubles(error, self.name):
            completion = client.chat.completions.create(**body)
        choices = getattr(completion, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise trouble(error, self.name, "endpoint_failed")
        choice, usage = choices[0], getattr(completion, "usage", None)
        if choice.message.refusal:
            raise self._no_answer(error, "answer_refused", "declined to answer")
        if choice.finish_reason == "length":
            raise self._no_answer(error, "answer_cut", "was cut off at its limit")
        if not (choice.message.content or "").strip():
            raise self._no_answer(error, "empty_response", "said nothing")
        return Answered(
            choice.message.content or "",
            None if usage is None else usage.prompt_tokens,
            None if usage is None else usage.completion_tokens,
        )

    def _no_answer(self, error: type[MemwellError], code: str, what: str) -> MemwellError:
        remedy = "the evidence is kept; repeat the call, or use another model"
        return error(f"{self.name} {what}", remedy=remedy, code=code)
