"""Extraction by a chat model: it chooses among numbered sentences and clauses; the engine takes the words from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import FormedBy, Kind, Polarity, Span
from memwell.domain.rights import interpretable
from memwell.domain.segments import sentences
from memwell.domain.text import fold
from memwell.engine.compile import CONFIRMATION_CHARS
from memwell.engine.ports import Extraction, Extractor, Passed, Proposal, Turn
from memwell.errors import ExtractionError
from memwell.providers.chat import ChatModel
from memwell.providers.prompts import language_of, load_prompt
from memwell.providers.reading import UnusableError

_PURPOSE = "extraction"
# Turns and characters that one request may hold, and requests at a time.
_TURNS = 12
_CHARS = 24_000
_PARALLEL = 4
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_MAX_REASON_CHARS = 40


def _day(value: object) -> object:
    """A date, or ``None`` for what is none: a malformed bound is dropped, the statement kept."""
    try:
        return None if value is None else date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _words(value: object) -> object:
    return value if isinstance(value, str) and value.strip() else None


_Day = Annotated[date | None, BeforeValidator(_day)]
_Words = Annotated[str | None, BeforeValidator(_words)]


class _Item(BaseModel):
    """One item of the answer, as the prompt describes it."""

    turn: str
    parts: Annotated[list[str], Field(min_length=1)]
    kind: Literal["fact", "event", "preference", "state", "identity", "relationship", "intention", "procedure"]
    subject: _Words = None
    attribute: _Words = None
    value: _Words = None
    polarity: Literal["positive", "negative"] = "positive"
    hedged: bool = False
    occurred_on: _Day = None
    time_phrase: _Words = None
    valid_from: _Day = None
    valid_until: _Day = None
    confirms: str | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class _PassedItem(BaseModel):
    turn: str
    part: str
    reason: str


class _RejectedError(Exception):
    """Why one item is not usable, without anybody's words."""


@dataclass(frozen=True, slots=True)
class _Packet:
    """What one request asks about: turns by the id that the model sees."""

    turns: Mapping[str, Turn]
    context: tuple[Evidence, ...]

    @property
    def language(self) -> str:
        return language_of("".join(turn.evidence.content for turn in self.turns.values()))


class ChatExtractor:
    """Lets a chat model choose what a user's messages state.

    What may not be sent there, and what was observed or imported, is left to ``local``.

    Args:
        model: the chat model.
        local: reads the other turns.
        is_declarative: whether a turn clearly states something, so that an answer of nothing is doubted once.
    """

    def __init__(self, model: ChatModel, local: Extractor, is_declarative: Callable[[Turn], bool]) -> None:
        self._model = model
        self._local = local
        self._is_declarative = is_declarative
        self.name = f"chat/{model.name}+extraction-{load_prompt(_PURPOSE, 'en').version}"

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        """See ``ports.Extractor``.

        Raises:
            ExtractionError: there is no usable answer, also after a rewrite.
            BudgetError: the budget of the day does not suffice.
        """
        own = [turn for turn in turns if self._may_read(turn.evidence) and turn.evidence.speaker is Speaker.USER]
        asked = {turn.evidence.id for turn in own}
        left = [turn for turn in turns if turn.evidence.id not in asked]
        readable = tuple(record for record in context if self._may_read(record))
        packets = list(_packets(own, readable))
        with ThreadPoolExecutor(max_workers=_PARALLEL) as pool:
            answers = [pool.submit(copy_context().run, self._ask, packet) for packet in packets]
            found = [answer.result() for answer in answers]
        parts = [*found, self._local.extract(left, context)] if left else found
        return Extraction(
            tuple(proposal for part in parts for proposal in part.proposals),
            tuple(passed for part in parts for passed in part.passed),
        )

    def _may_read(self, record: Evidence) -> bool:
        return interpretable(record, self._model.endpoint.target)

    def _ask(self, packet: _Packet) -> Extraction:
        def read(answer: Any, last: bool) -> Extraction:
            found = _read(packet, answer)
            if not found.proposals and not last and any(map(self._is_declarative, packet.turns.values())):
                raise UnusableError("wrong_schema", "it chooses nothing, though something is plainly stated")
            return found

        prompt = load_prompt(_PURPOSE, packet.language)
        return self._model.ask_json(_PURPOSE, prompt, _material(packet), read, ExtractionError)


def _packets(turns: Sequence[Turn], context: tuple[Evidence, ...]) -> Iterator[_Packet]:
    """Turns in order, as many together as fit one request; a long one stands alone."""
    group: list[Turn] = []
    size = 0
    for turn in turns:
        cost = len(turn.evidence.content) + len(turn.evidence.preceding or "")
        if group and (len(group) == _TURNS or size + cost > _CHARS):
            yield _packet(group, context)
            group, size = [], 0
        group.append(turn)
        size += cost
    if group:
        yield _packet(group, context)


def _packet(turns: Sequence[Turn], context: tuple[Evidence, ...]) -> _Packet:
    return _Packet({f"t{number}": turn for number, turn in enumerate(turns, 1)}, context)


def _material(packet: _Packet) -> dict[str, Any]:
    return {
        "context": [{"said_at": _shown(record), "text": record.content} for record in packet.context],
        "turns": [
            {
                "turn": key,
                "said_at": _shown(turn.evidence),
                **({"speaker": turn.evidence.name} if turn.evidence.name else {}),
                **({"before": _before(turn.evidence)} if turn.evidence.preceding else {}),
                "sentences": _numbered("s", turn.evidence.content, turn.sentences),
                "clauses": _numbered("c", turn.evidence.content, turn.segments),
            }
            for key, turn in packet.turns.items()
        ],
    }


def _shown(record: Evidence) -> str:
    """When it was said, on the speaker's own clock where that is known."""
    offset = timedelta(minutes=int(record.metadata.get("utc_offset_minutes", 0)))
    return f"{record.occurred_at + offset:%Y-%m-%d %H:%M, %A}"


def _before(record: Evidence) -> dict[str, str]:
    text = record.preceding or ""
    return _numbered("b", text, sentences(text))


def _numbered(letter: str, text: str, spans: Sequence[Span]) -> dict[str, str]:
    return {f"{letter}{number}": text[span.start : span.end] for number, span in enumerate(spans, 1)}


def _read(packet: _Packet, answer: Any) -> Extraction:
    """Proposals of the usable items; each other item is passed over with the reason.

    Raises:
        UnusableError: the answer has another shape, or none of its items is usable.
    """
    if isinstance(answer, list):
        answer = {"items": answer}
    items = answer.get("items") if isinstance(answer, Mapping) else None
    if not isinstance(items, list):
        raise UnusableError("wrong_schema", 'it has no list "items"')
    proposals: list[Proposal] = []
    passed: list[Passed] = []
    taken: dict[str, list[Span]] = {}
    reasons: list[str] = []
    for raw in items:
        try:
            proposals.append(_proposal(packet, raw, taken))
        except _RejectedError as rejected:
            reasons.append(str(rejected))
            passed.extend(_rejected(packet, raw, str(rejected)))
    if reasons and not proposals:
        raise UnusableError("wrong_schema", f"no item is usable ({reasons[0]})")
    passed.extend(_passed(packet, answer.get("passed")))
    return Extraction(tuple(proposals), tuple(passed))


def _proposal(packet: _Packet, raw: object, taken: dict[str, list[Span]]) -> Proposal:
    try:
        item = _Item.model_validate(raw)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the item"
        raise _RejectedError(f"{place} is not as described") from None
    turn = packet.turns.get(item.turn)
    if turn is None:
        raise _RejectedError("turn was not asked about")
    unit, chosen = _chosen(turn, item.parts)
    numbered = turn.sentences if unit == "sentence" else turn.segments
    span = Span(numbered[chosen[0]].start, numbered[chosen[-1]].end)
    if any(span.overlaps(other) for other in taken.get(item.turn, ())):
        raise _RejectedError("parts overlap an earlier item")
    confirmed = _confirmed(turn.evidence, item.confirms)
    taken.setdefault(item.turn, []).append(span)
    words = fold(turn.text(span) if confirmed is None else (turn.evidence.preceding or ""))
    return replace(
        _described(item, words),
        evidence_id=turn.evidence.id,
        unit=unit,
        chosen=chosen,
        confirmed=confirmed,
        subject=item.subject if item.subject and item.subject != "user" else turn.evidence.name or "user",
        formed_by=FormedBy.STATED if confirmed is None else FormedBy.CONFIRMED,
    )


def _described(item: _Item, words: str) -> Proposal:
    """What the item says about the words it chose; what they do not hold is left out."""
    named = item.attribute is not None and _ATTRIBUTE.fullmatch(item.attribute) is not None
    valued = item.value is not None and fold(item.value) in words
    timed = item.time_phrase is not None and fold(item.time_phrase) in words
    return Proposal(
        evidence_id="",
        unit="sentence",
        chosen=(),
        kind=Kind(item.kind),
        attribute=item.attribute if named else None,
        value=item.value if valued else None,
        polarity=Polarity(item.polarity),
        hedged=item.hedged,
        confidence=item.confidence,
        occurred_at=_midnight(item.occurred_on),
        time_expression=item.time_phrase if timed else None,
        valid_from=_midnight(item.valid_from),
        valid_until=_midnight(item.valid_until, days=1),
    )


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    """The (UTC) midnight that begins ``day``, or one so many days later."""
    if day is None or day == date.max:
        return None
    return datetime.combine(day, time(), UTC) + timedelta(days=days)


def _chosen(turn: Turn, parts: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """The unit and the adjacent numbers that ``parts`` name."""
    letters = {part[:1] for part in parts}
    if letters not in ({"s"}, {"c"}) or not all(part[1:].isdecimal() for part in parts):
        raise _RejectedError("parts are no ids of sentences, nor of clauses")
    unit, count = ("sentence", len(turn.sentences)) if letters == {"s"} else ("segment", len(turn.segments))
    numbers = sorted({int(part[1:]) - 1 for part in parts})
    if numbers[0] < 0 or numbers[-1] >= count:
        raise _RejectedError("parts are out of range")
    if any(later != earlier + 1 for earlier, later in pairwise(numbers)):
        raise _RejectedError("parts are not adjacent")
    return unit, tuple(numbers)


def _confirmed(evidence: Evidence, named: str | None) -> Span | None:
    """The sentence before that a short reply confirms."""
    if named is None:
        return None
    spans = sentences(evidence.preceding or "")
    number = int(named[1:]) - 1 if named[:1] == "b" and named[1:].isdecimal() else -1
    if not 0 <= number < len(spans):
        raise _RejectedError("confirms names no sentence before")
    reply = evidence.content.strip()
    denials = load_prompt(_PURPOSE, language_of(reply)).texts["denials"]
    if len(reply) > CONFIRMATION_CHARS or re.search(denials, fold(reply)):
        raise _RejectedError("confirms, though the reply is no short yes")
    return spans[number]


def _rejected(packet: _Packet, raw: object, reason: str) -> Iterator[Passed]:
    """A rejected item as passed over: its parts where they can be told, else the whole turn, else nothing."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("turn"), str) or raw["turn"] not in packet.turns:
        return
    turn = packet.turns[raw["turn"]]
    try:
        unit, chosen = _chosen(turn, [str(part) for part in raw["parts"]])
    except (_RejectedError, KeyError, TypeError):
        yield Passed(turn.evidence.id, Span(0, len(turn.evidence.content)), f"rejected: {reason}")
        return
    numbered = turn.sentences if unit == "sentence" else turn.segments
    yield Passed(turn.evidence.id, Span(numbered[chosen[0]].start, numbered[chosen[-1]].end), f"rejected: {reason}")


def _passed(packet: _Packet, raw: object) -> Iterator[Passed]:
    """The sentences that the model says it passed over; what is not as described is no loss and is left out."""
    for entry in raw if isinstance(raw, list) else ():
        try:
            item = _PassedItem.model_validate(entry)
            turn = packet.turns[item.turn]
            unit, chosen = _chosen(turn, [item.part])
        except (ValidationError, KeyError, _RejectedError):
            continue
        numbered = turn.sentences if unit == "sentence" else turn.segments
        yield Passed(turn.evidence.id, numbered[chosen[0]], item.reason[:_MAX_REASON_CHARS])
