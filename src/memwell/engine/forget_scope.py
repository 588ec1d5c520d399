"""The token of a preview: it binds what was shown to what will be erased. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord
from memwell.domain.scope import Scope
from memwell.engine.cascade import Doomed, Selection
from memwell.errors import ForgetScopeError, InputError

_PREFIX = "forget1."


@dataclass(frozen=True, slots=True)
class Item:
    """One record that goes, or stays beside what goes.

    Attributes:
        what: ``memory``, ``source``, ``reply`` (words of an assistant) or ``context`` (a reply kept with a source).
        fate: ``erase``, ``black_out`` (a part of it) or ``keep``.
        words: the text, or the part of it, that the fate is about.
        session_id: the session in which it was said first.
    """

    id: str
    what: str
    fate: str
    words: str
    session_id: str

    def to_dict(self) -> dict[str, str]:
        return {
            "id": self.id,
            "what": self.what,
            "fate": self.fate,
            "words": self.words,
            "session_id": self.session_id,
        }


def items_of(doomed: Doomed) -> tuple[Item, ...]:
    """What goes, then what stays beside it; where a memory stays on other messages, those follow it."""
    found = [_of_memory(memory, "erase") for memory in doomed.memories.values()]
    found += [_of_source(record, "erase", record.content) for record in doomed.evidence.values()]
    for record, spans, preceding in doomed.blacked_out.values():
        if spans:
            words = " … ".join(record.content[span.start : span.end] for span in spans)
            found.append(_of_source(record, "black_out", words))
        if preceding:
            found.append(Item(record.id, "context", "erase", record.preceding or "", record.session_id))
    found += [_of_memory(memory, "keep") for memory in doomed.kept.values()]
    for one in doomed.supported.values():
        found.append(_of_memory(one.after, "keep"))
        found += [_of_source(one.evidence[key], "keep", quote) for key, quote in one.quotes.items()]
    return tuple(found)


def _of_memory(memory: MemoryRecord, fate: str) -> Item:
    return Item(memory.id, "memory", fate, memory.content, memory.session_id)


def _of_source(record: Evidence, fate: str, words: str) -> Item:
    return Item(record.id, _what(record), fate, words, record.session_id)


def _what(record: Evidence) -> str:
    return "source" if record.speaker.supports_memories else "reply"


def token_of(scope: Scope, selection: Selection, doomed: Doomed) -> str:
    """The token for ``selection`` as long as exactly ``doomed`` goes with it."""
    body = {"scope": scope.to_dict(), "selection": _written(selection), "digest": _digest(doomed)}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return _PREFIX + base64.urlsafe_b64encode(text.encode()).decode()


def read_token(token: object) -> tuple[Scope, Selection]:
    """What the token was given for.

    Raises:
        InputError: there is none (``forget_scope_required``).
        ForgetScopeError: it is not as it was given.
    """
    if not token:
        raise InputError(
            "no token of a preview is given",
            remedy="preview what will be forgotten and pass its token",
            code="forget_scope_required",
        )
    try:
        if not isinstance(token, str) or not token.startswith(_PREFIX):
            raise ValueError("foreign")
        body = json.loads(base64.urlsafe_b64decode(token.removeprefix(_PREFIX).encode()))
        chosen: dict[str, Any] = body["selection"]
        return Scope(**body["scope"]), Selection(
            tuple(chosen["memories"]),
            tuple(chosen["evidence"]),
            chosen["session"],
            chosen["person"],
            chosen["everything"],
        )
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise ForgetScopeError(
            "the token is not one that a preview gave", remedy="preview again and pass the new token unchanged"
        ) from None


def _written(selection: Selection) -> dict[str, Any]:
    return {name: getattr(selection, name) for name in Selection.__slots__}


def _digest(doomed: Doomed) -> str:
    """Digest of every record that goes, at its revision, with its words."""
    facts: list[Sequence[Any]] = []
    facts += sorted([m.id, m.revision, m.content] for m in doomed.memories.values())
    facts += sorted([record.id, *_state(record)] for record in doomed.evidence.values())
    facts += sorted(
        [record.id, [[span.start, span.end] for span in spans], preceding, *_state(record)]
        for record, spans, preceding in doomed.blacked_out.values()
    )
    facts += sorted(
        [one.before.id, one.before.revision, one.after.content, sorted(one.evidence)]
        for one in doomed.supported.values()
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _state(record: Evidence) -> tuple[Any, ...]:
    return record.content, record.preceding, record.status.value


def named(selection: Selection) -> tuple[str, ...]:
    """The targets for a receipt: ids, and the sort alone of a session, a person or a user, since names are text."""
    sorts = {"session": selection.session, "person": selection.person, "user": selection.everything or None}
    return (*selection.memories, *selection.evidence, *(sort for sort, chosen in sorts.items() if chosen))


def count_of(memories: Sequence[MemoryRecord], evidence: Sequence[Evidence]) -> dict[str, int]:
    """Numbers by sort of record."""
    sources = sum(record.speaker.supports_memories for record in evidence)
    return {"memories": len(memories), "sources": sources, "replies": len(evidence) - sources}
