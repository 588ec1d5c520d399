"""Chat files to messages: JSON documents, JSON lines and plain text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any

from memwell.errors import InputError
from memwell.interfaces.importing.exports import IMPORTED, OWNER, messages_of
from memwell.interfaces.importing.items import Item, Message, Problem
from memwell.interfaces.importing.located import BrokenJsonError, LocatedJson

# Names under which files keep the same thing; the first that is there counts.
_LISTS = ("messages", "turns", "conversations", "conversation")
_CONVERSATION_IDS = ("session_id", "session", "conversation_id", "id")
_SESSIONS = ("session_id", "session", "conversation_id")
_CONTENTS = ("content", "text", "value")
_SPEAKERS = ("speaker", "name", "from")
_TIMES = ("at", "timestamp", "created_at", "create_time")
_HEADER_CHARS = 1_000  # of a bundle, at most
_LATEST_IN_SECONDS = 100_000_000_000  # larger numbers are milliseconds

_LOOKS_LIKE_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[\[{"\]])')
_TRANSCRIPT_LINE = re.compile(r"([^\s:：][^:：\n]{0,39})[:：][ \t\u3000]*(?!//)(\S.*)")
_TRANSCRIPT_SHARE = 0.5  # of the lines must look like "Name: words" for a text to be a transcript


class Format(StrEnum):
    AUTO = "auto"
    JSON = "json"
    JSONL = "jsonl"
    TEXT = "text"


def parse(text: str, form: Format, *, source: str, zone: tzinfo | None = None) -> Iterator[Item]:
    """Messages of a chat file in order, and a ``Problem`` for each item that is none.

    Args:
        text: content of the file.
        form: its format; ``AUTO`` goes by what it looks like.
        source: name for sessions that the file does not name, usually its own.
        zone: zone of times that state none; without it they are left as they are, to be refused later.

    Raises:
        InputError: it is a bundle (``unknown_format``).
    """
    if _is_bundle(text):
        raise InputError(f"{source} is a bundle", remedy="take it in with `memwell restore`", code="unknown_format")
    form = sniff(text) if form is Format.AUTO else form
    if form is Format.TEXT:
        return _text(text, source)
    reader = _JsonReader(source, zone)
    return reader.lines(text) if form is Format.JSONL else reader.document(LocatedJson(text))


def records(values: Iterable[Mapping[str, Any]], *, source: str, zone: tzinfo | None = None) -> Iterator[Item]:
    """Messages that come from no text; each is known by its number instead of its line."""
    reader = _JsonReader(source, zone)
    for number, value in enumerate(values, 1):
        yield reader.message(number, value, source)


def is_transcript(text: str) -> bool:
    """Whether ``text`` reads as ``Name: words``, line by line."""
    filled = [line.strip() for line in text.splitlines() if line.strip()]
    named = sum(bool(_TRANSCRIPT_LINE.match(line)) for line in filled)
    return bool(filled) and bool(_TRANSCRIPT_LINE.match(filled[0])) and named >= _TRANSCRIPT_SHARE * len(filled)


def sniff(text: str) -> Format:
    """Format of a chat file by its look."""
    if not _LOOKS_LIKE_JSON.match(text):
        return Format.JSON if _is_bare_json(text) else Format.TEXT
    first_line, _, rest = text.strip().partition("\n")
    try:
        LocatedJson(first_line).value(0)
    except BrokenJsonError:
        return Format.JSON  # a document over several lines
    return Format.JSONL if rest.strip() else Format.JSON


def _is_bundle(text: str) -> bool:
    """Whether ``text`` begins as the bundles of this program do."""
    from memwell.engine.bundle import FORMAT  # late: it brings all records, which most files have no use for

    return text.startswith("{") and f'"format":"{FORMAT}"' in text[:_HEADER_CHARS].partition("\n")[0]


def _is_bare_json(text: str) -> bool:
    """Whether ``text`` is a number, ``null`` or a list of such: JSON, though no chat. Words in quotes may be a text."""
    doc = LocatedJson(text)
    try:
        value, end = doc.value(doc.skip_space(0))
    except BrokenJsonError:
        return False
    return not isinstance(value, str) and doc.skip_space(end) == len(text)


class _JsonReader:
    def __init__(self, source: str, zone: tzinfo | None) -> None:
        self._source = source
        self._zone = zone
        self._unnamed = 0

    def document(self, doc: LocatedJson) -> Iterator[Item]:
        start = doc.skip_space(0)
        try:
            value, end = doc.value(start)
        except BrokenJsonError as error:
            yield from self._before_the_break(doc, start)
            yield Problem(error.line, f"{error.reason}; the rest of the file was not read")
            return
        if isinstance(value, list):
            for offset, element in doc.elements(start):
                yield from self._element(doc, offset, element, self._source)
        else:
            yield from self._element(doc, start, value, self._source)
        if doc.skip_space(end) < len(doc.text):
            yield Problem(doc.line(doc.skip_space(end)), "text after the end of the JSON; it was not read")

    def _before_the_break(self, doc: LocatedJson, start: int) -> Iterator[Item]:
        """Whole elements of a top-level array that stand before the text stops being JSON."""
        if not doc.text.startswith("[", start):
            return
        try:
            for offset, element in doc.elements(start):
                yield from self._element(doc, offset, element, self._source)
        except BrokenJsonError:
            return  # the caller reports the break that it found first

    def lines(self, text: str) -> Iterator[Item]:
        # Only "\n" ends a line: other separators may stand unescaped inside JSON strings.
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            doc = LocatedJson(line, number)
            try:
                start = doc.skip_space(0)
                value, end = doc.value(start)
                if doc.skip_space(end) < len(line):
                    yield Problem(number, "more than one JSON value on a line")
                    continue
                yield from self._element(doc, start, value, self._source)
            except BrokenJsonError as error:
                yield Problem(number, error.reason)

    def _element(self, doc: LocatedJson, offset: int, value: object, session: str) -> Iterator[Item]:
        if isinstance(value, list):
            inner = self._unnamed_session()
            for at, element in doc.elements(offset):
                yield from self._element(doc, at, element, inner)
        elif not isinstance(value, dict):
            yield Problem(doc.line(offset), f"{_shown(value)} is neither a message nor a conversation")
        elif (exported := messages_of(value)) is not None:
            for message in exported:
                yield self.message(doc.line(offset), message, session)
        elif any(isinstance(value.get(key), list) for key in _LISTS):
            yield from self._conversation(doc, offset, value)
        else:
            yield self.message(doc.line(offset), value, session)

    def _conversation(self, doc: LocatedJson, offset: int, value: Mapping[str, Any]) -> Iterator[Item]:
        named = _first(value, _CONVERSATION_IDS)
        session = self._unnamed_session() if named is None else str(named)
        for key, at, member in doc.members(offset):
            if key in _LISTS and isinstance(member, list):
                for inner, element in doc.elements(at):
                    yield from self._element(doc, inner, element, session)

    def _unnamed_session(self) -> str:
        self._unnamed += 1
        return f"{self._source}-{self._unnamed}"

    def message(self, line: int, value: Mapping[str, Any], session: str) -> Item:
        """The message that ``value`` is, or what is wrong with it."""
        role, speaker = value.get("role"), _first(value, _SPEAKERS)
        if role is None and speaker is None:
            return Problem(line, "a message without 'role' or 'speaker'")
        if not any(key in value for key in (*_CONTENTS, "tool_calls")):
            return Problem(line, "a message without 'content'")
        own_session, own_id = _first(value, _SESSIONS), value.get("id")
        try:
            at = _moment(_first(value, _TIMES), self._zone)
        except ValueError as error:
            return Problem(line, str(error))
        return Message(
            line=line,
            session=session if own_session is None else str(own_session),
            content=_first(value, _CONTENTS),
            role=None if role is None else str(role),
            speaker=None if speaker is None else str(speaker),
            id=None if own_id is None else str(own_id),
            at=at,
            calls_tools=bool(value.get("tool_calls")),
            owner=value.get(OWNER) if role == IMPORTED else None,
        )


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _moment(value: object, zone: tzinfo | None) -> str | None:
    """ISO time of a file's time: ISO text, or seconds or milliseconds since 1970."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) >= _LATEST_IN_SECONDS else value
        try:
            if math.isfinite(seconds):
                return datetime.fromtimestamp(seconds, UTC).isoformat()
        except (OverflowError, OSError, ValueError):
            pass
        raise ValueError(f"the time {_shown(value)} is out of range")
    if not isinstance(value, str):
        raise ValueError(f"the time {_shown(value)} is neither ISO 8601 text nor seconds")
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"the time {_shown(value)} is no ISO 8601 time") from None
    if parsed.tzinfo is None:
        if zone is None:
            raise ValueError(f"the time {_shown(value)} has no time zone; name the file's zone with --timezone")
        parsed = parsed.replace(tzinfo=zone)
    return parsed.isoformat()


def _text(text: str, source: str) -> Iterator[Item]:
    lines = text.splitlines()
    return _transcript(lines, source) if is_transcript(text) else _paragraphs(lines, source)


def _transcript(lines: list[str], source: str) -> Iterator[Item]:
    """``Name: words``; a line without a name goes on with the words of the line before."""
    begun: tuple[int, str] | None = None
    words: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        match = _TRANSCRIPT_LINE.match(line.strip())
        if begun is not None and (match or number > len(lines)):
            yield Message(begun[0], source, "\n".join(words).strip(), speaker=begun[1])
            words = []
        if match:
            begun = (number, match.group(1).strip())
            words = [match.group(2)]
        else:
            words.append(line.strip())


def _paragraphs(lines: list[str], source: str) -> Iterator[Item]:
    """One message of the user per paragraph."""
    begun = 0
    words: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            begun = begun or number
            words.append(line.rstrip())
        elif words:
            yield Message(begun, source, "\n".join(words), role="user")
            begun, words = 0, []
