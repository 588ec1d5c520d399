"""Read a chat model's answer as JSON, however it is wrapped: thoughts, fences, words around it, trailing commas."""

from __future__ import annotations

import json
import re
from typing import Any

# What a model thought before it answered; an unclosed block swallows the rest, since the answer never came.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)```", re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)
# Where JSON may begin; "[sic]" does not look like it.
_OPENING = re.compile(r"\{(?=\s*[\"'}])|\[(?=\s*[\[{\"\]\d])")


class UnusableError(Exception):
    """An answer that cannot be used: a stable code, and what is wrong with it, without anybody's words."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code
        self.problem = problem


def read_json(answer: str) -> Any:
    """The one JSON object or array in ``answer``. Nothing that was cut off is completed.

    Raises:
        UnusableError: ``empty_response`` or ``json_parse_failed``.
    """
    said = _THOUGHT.sub("", answer).strip()
    if not said:
        raise UnusableError("empty_response", "there is no answer")
    fenced = _FENCE.findall(said)
    for part in [*fenced, said]:
        found = _first_value(_STRING_OR_TRAILING_COMMA.sub(_without_comma, part))
        if found is not None:
            return found
    raise UnusableError("json_parse_failed", "it is not JSON")


def _without_comma(match: re.Match[str]) -> str:
    return "" if match.group() == "," else match.group()


def _first_value(text: str) -> Any:
    decoder = json.JSONDecoder()
    for match in _OPENING.finditer(text):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            # An object inside one that is broken is a part of it, not the answer.
            return None
        return value
    return None
