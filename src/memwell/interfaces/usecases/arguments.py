"""Arguments that come from outside: one strict model for each use case, whatever interface they came by."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from memwell.domain.scope import MAX_ID_CHARS
from memwell.domain.validity import parse_time
from memwell.engine.intake import Messages
from memwell.errors import InputError
from memwell.interfaces.usecases.table import Argument, UseCase

SCOPE = ("user_id", "app_id", "agent_id")
_OWNER_WORDS = {
    "user_id": "whose memory; may be left out where the key or the process names one user",
    "app_id": "the application; default 'default'",
    "agent_id": "the agent; default 'default'",
}
_EXAMPLES: Mapping[str, Any] = {
    "messages": [{"role": "user", "content": "I live in Lyon and hate coriander."}],
    "query": "where does she live?",
    "content": "I live in Paris.",
    "memory_id": "mem_01KBA3Y5Z8Q6W4R2T0V9X7C5B3",
    "user_id": "alice",
    "session_id": "monday",
    "request_id": "7c3f5d0e",
    "at": "2026-03-01T09:30:00+01:00",
    "as_of": "2026-03-01T09:30:00+01:00",
    "known_at": "2026-03-01T09:30:00+01:00",
    "kind": "preference",
    "limit": 5,
}


# Told in the schema alone: the engine itself checks identifiers and times, and says more about what is wrong.
Identifier = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": MAX_ID_CHARS, "pattern": r"^\S.*$"})]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


_DESCRIBED = "see the interface's description"
# Parts of a fault's place that name one of several allowed types instead of a field.
_CHOICES = ("str", "int", "dict", "Message")


class Message(BaseModel):
    """One OpenAI-style message; further fields are ignored."""

    model_config = ConfigDict(strict=True, extra="allow")

    role: Literal["user", "assistant", "observed", "import", "system", "developer", "tool", "function"]
    content: str | list[dict[str, Any]] | None = Field(None, description="text, or a list of parts with `text`")
    id: str | int | None = Field(None, description="the host's own id; the same id is stored once")
    name: str | None = Field(None, description="display name of who spoke")
    at: Time | None = Field(None, description="when it was said: ISO 8601 with a zone")


@cache
def arguments_model(case: UseCase, *, strict: bool = True, leave_out: frozenset[str] = frozenset()) -> type[BaseModel]:
    """The model of what may be sent for ``case``: its arguments, and the scope where it has one.

    Args:
        strict: whether text may not stand for a number, as it has to in a URL.
        leave_out: arguments that come another way, such as in the path.
    """
    fields = dict(case.arguments)
    if not case.whole_store:
        fields |= {name: Argument(name, str | None, None, words) for name, words in _OWNER_WORDS.items()}
    definitions: dict[str, Any] = {
        argument.name: (
            _sent(argument.hint, Identifier if argument.name.endswith("_id") else str),
            Field(
                ... if argument.required else argument.default,
                description=argument.description or None,
                examples=[_EXAMPLES[argument.name]] if argument.name in _EXAMPLES else None,
            ),
        )
        for argument in fields.values()
        if argument.name not in leave_out
    }
    name = "".join(part.capitalize() for part in case.name.split("_")) + "Arguments"
    return create_model(name, __config__=ConfigDict(strict=strict, extra="forbid"), **definitions)


def _sent(hint: Any, text: Any = str) -> Any:
    """The type that stands for ``hint`` in JSON, where ``text`` stands for ``str``."""
    if hint is str:
        return text
    if hint == Messages:
        return str | Message | Annotated[list[Message], Field(min_length=1)]
    if get_origin(hint) in (Union, UnionType):
        options = get_args(hint)
        if datetime in options:
            options = tuple(option for option in options if option is not str)
        if any(get_origin(option) is Mapping for option in options):  # a value that may also come as its fields
            options = tuple(option for option in options if not is_dataclass(option))
        return Union[tuple(_sent(option, text) for option in options)]  # noqa: UP007
    if get_origin(hint) in (tuple, list, Sequence):
        return list[_sent(get_args(hint)[0])]  # type: ignore[misc]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Literal[tuple(option.value for option in hint)]
    return Time if hint is datetime else hint


def checked_arguments(case: UseCase, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` if each argument is known and of its type; those not given stay out.

    Raises:
        InputError: names the first argument that is not, and what would be.
    """
    try:
        arguments_model(case).model_validate(dict(given))
    except ValidationError as error:
        raise unusable(error.errors(), case) from None
    return zoned(case, given)


def zoned(case: UseCase, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` if its times name their zones: who asks from elsewhere may not be where this machine is.

    Raises:
        InputError: one does not.
    """
    for name, value in given.items():
        argument = case.arguments.get(name)
        if isinstance(value, str) and argument is not None and datetime in get_args(argument.hint):
            parse_time(name, value)
    return dict(given)


def unusable(faults: Sequence[Mapping[str, Any]], case: UseCase | None = None) -> InputError:
    """pydantic's ``faults`` as one error. It repeats no value, which may be somebody's words.

    Args:
        faults: each with its place within the arguments.
    """
    # An argument too many tells most; within a choice of types it is the deepest fault.
    fault = min(faults, key=lambda fault: (fault["type"] != "extra_forbidden", -len(fault["loc"])))
    place = [str(part) for part in fault["loc"]]
    where = place[0] if place else "the input"
    known = [] if case is None else [*arguments_model(case).model_fields]
    if fault["type"] == "extra_forbidden":
        closest = difflib.get_close_matches(where, known, n=1)
        taken = _DESCRIBED if case is None else f"it takes {', '.join(known) or 'nothing'}"
        remedy = f"did you mean {closest[0]!r}?" if closest else taken
        return InputError(f"unknown argument {where[:40]!r}", remedy=remedy, code="unknown_argument")
    if fault["type"] == "missing" and len(place) <= 1:
        return InputError(f"{where} is missing", remedy=f"give {where}", code="missing_argument")
    if fault["type"] == "json_invalid":
        return InputError("the body is no JSON", remedy="send one JSON object", code="malformed_json")
    within = ".".join(part for part in place if part not in _CHOICES and (part.isidentifier() or part.isdigit()))
    return InputError(f"{within or where} is unusable: {fault['msg']}", remedy=_DESCRIBED)
