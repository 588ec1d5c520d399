"""Messages of a chat file to writes: batches with request ids that a repeat or a resumed import arrives at again."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol

from memwell.domain.decision import Action
from memwell.domain.scope import checked_id
from memwell.engine.intake import read_messages
from memwell.engine.results import WriteResult
from memwell.errors import DecisionContextError, EvidenceConflictError, InputError
from memwell.interfaces.importing.items import Item, Message, Problem

MAX_BATCH = 50  # so that progress moves and an interruption need not wait long
# Errors that one message of a batch can cause; the others go on without it. Anything else ends the import.
_OF_ONE_MESSAGE = (InputError, EvidenceConflictError, DecisionContextError)


class Writer(Protocol):
    def add(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        session_id: str = "default",
        request_id: str | None = None,
    ) -> WriteResult:
        """See ``memwell.Memory.add``."""


@dataclass
class Report:
    """What an import did.

    Attributes:
        messages: items of the file that are messages.
        left_out: messages that are never evidence: of the system, of tools, or without words.
        stored: messages that are in the store now, these or from an earlier import.
        known: of those, messages whose batch had been imported before.
        formed: memories formed now.
        problems: items that were not imported.
    """

    messages: int = 0
    left_out: int = 0
    stored: int = 0
    known: int = 0
    formed: int = 0
    problems: list[Problem] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "left_out": self.left_out,
            "stored": self.stored,
            "known": self.known,
            "formed": self.formed,
            "problems": [problem.to_dict() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class _Ready:
    line: int
    number: int
    session: str
    fields: Mapping[str, Any]


def write_chat(
    writer: Writer,
    items: Iterable[Item],
    *,
    session_id: str | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Report:
    """Write the messages among ``items`` in order, in batches of one session and at most 50 messages.

    Every message has a stable id, its own or one made from what it says, and every batch a request id made from its
    messages. So importing a file again, after an interruption or after more has been added to it, doubles nothing.

    Args:
        writer: bound to the user whose chat it is.
        session_id: puts all messages into this session instead of those the file names.
        on_progress: called with the number of items dealt with so far; an error it raises ends the import there.
    """
    report = Report()
    ready = _ready(items, session_id, report)
    done = report.left_out + len(report.problems)
    on_progress(done)
    for session, messages in groupby(ready, key=lambda message: message.session):
        group = list(messages)
        for start in range(0, len(group), MAX_BATCH):
            batch = group[start : start + MAX_BATCH]
            _write(writer, batch, session, report)
            done += len(batch)
            on_progress(done)
    report.problems.sort(key=lambda problem: (problem.line, problem.number or 0))
    return report


def _ready(items: Iterable[Item], session_id: str | None, report: Report) -> list[_Ready]:
    """Messages that the engine will take, checked one by one so that each refusal names its line."""
    ready = []
    seen: Counter[str] = Counter()
    for number, item in enumerate(items, 1):
        if isinstance(item, Problem):
            report.problems.append(replace(item, number=number))
            continue
        report.messages += 1
        fields = _fields(item, seen)
        try:
            session = checked_id("session_id", session_id or item.session)
            kept = read_messages([fields], None)
        except InputError as error:
            reason = error.message.removeprefix("message 0").lstrip(": ")
            report.problems.append(Problem(item.line, reason, number))
            continue
        if kept:
            ready.append(_Ready(item.line, number, session, fields))
        else:
            report.left_out += 1
    return ready


def _fields(message: Message, seen: Counter[str]) -> dict[str, Any]:
    stated = {
        "role": message.role,
        "content": message.content,
        "name": message.speaker,
        "at": message.at,
    }
    fields = {key: value for key, value in stated.items() if value is not None}
    if message.calls_tools and not message.content:
        fields["tool_calls"] = True
    fields["id"] = message.id or _made_id(stated, seen)
    return fields


def _made_id(stated: Mapping[str, Any], seen: Counter[str]) -> str:
    """Id from what a message says and how often the file has said it so far; lines added around it do not change it."""
    digest = _digest(stated)
    seen[digest] += 1
    return f"import-{digest[:24]}-{seen[digest]}"


def _digest(value: object) -> str:
    # Lone surrogates are refused later; they must not break the digest.
    text = json.dumps(value, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _write(writer: Writer, batch: Sequence[_Ready], session: str, report: Report) -> None:
    """Write a batch; where one of its messages is refused, write its halves, until only that message is left out."""
    fields = [message.fields for message in batch]
    request_id = f"import-{_digest([session, fields])[:32]}"
    try:
        result = writer.add(fields, session_id=session, request_id=request_id)
    except _OF_ONE_MESSAGE as error:
        if len(batch) == 1:
            report.problems.append(Problem(batch[0].line, error.message, batch[0].number))
            return
        middle = len(batch) // 2
        _write(writer, batch[:middle], session, report)
        _write(writer, batch[middle:], session, report)
        return
    report.stored += len(result.evidence_ids)
    if result.replayed:
        report.known += len(result.evidence_ids)
    else:
        report.formed += len({d.memory_id for d in result.decisions if d.memory_id and d.action is not Action.SKIP})
