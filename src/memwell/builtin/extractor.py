"""The keyless extractor: sentences of the user that state something lasting, by the language packs' cues."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from memwell.builtin import times
from memwell.builtin.attributes import attributes_of, attributes_of_subject, names_told, person_meant, subject_of
from memwell.builtin.language import Language, choose_language, compiled, load_languages
from memwell.builtin.model.decide import DecisionModel, Description
from memwell.builtin.statements import (
    is_plain_statement,
    kind_of,
    material_start,
    mostly_within,
    played_sentences,
    quoted_spans,
    reason_to_pass,
    says_something,
    speaks_of_self,
)
from memwell.builtin.thresholds import load_thresholds
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import FormedBy, Kind, Polarity, Span
from memwell.domain.people import ALIAS, SOMEONE, USER, joined
from memwell.domain.segments import sentences
from memwell.engine.ports import Extraction, Passed, Proposal, Turn

_PLAIN_CONFIDENCE = 0.9
_UNKNOWN_CONFIDENCE = 0.7
_HEDGED_CONFIDENCE = 0.5
# User turns before a message in which a pronoun of it may find its person.
CONTEXT_TURNS = 5
# Sentences whose clauses may hold a statement all the same: "Since I can't eat nuts, what should I bake?"
_WITH_RIDERS = frozenset({"question", "order"})
# Sentences that may tell something lasting all the same: "Which gloves for a latex allergy like mine?"
_OPEN = frozenset({"question", "order", "mood"})
_FORMED_BY = {Speaker.OBSERVED: FormedBy.OBSERVED, Speaker.IMPORT: FormedBy.IMPORTED}


@dataclass(frozen=True, slots=True)
class _Reading:
    """A turn with what reading its sentences needs; ``people`` gives the subjects of the user's turns before it."""

    turn: Turn
    language: Language
    folded: str
    quoted: tuple[Span, ...]
    material: int | None
    played: tuple[Span, ...]
    today: date
    people: Callable[[], tuple[str, ...]]

    @property
    def speaker(self) -> str:
        return self.turn.evidence.name or USER

    def part(self, span: Span) -> str:
        return self.folded[span.start : span.end]


# What a sentence of a message is, where a model can tell.
_Describe = Callable[[str, str], Description | None]


class BuiltinExtractor:
    """Proposes each durable sentence, or clauses of it that state different things; passes the rest with a reason.

    Args:
        model: asked whether a question, an order or a mood tells something lasting all the same, and of what kind and
            about whom a statement is where no wording tells. Without it a clause of a question must be a statement by
            itself, the kind is a fact, and all is about the speaker.
    """

    def __init__(self, languages: tuple[Language, ...] | None = None, model: DecisionModel | None = None) -> None:
        self._languages = languages
        self._model = model
        self.name = f"builtin/2+{model.name}" if model else "builtin/2"

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        """See ``ports.Extractor``. Of ``context`` only the people are taken whom a pronoun may mean."""
        languages = self._languages or load_languages()
        said = [record for record in context if record.speaker is Speaker.USER]
        proposals: list[Proposal] = []
        passed: list[Passed] = []
        for turn in turns:
            if turn.evidence.speaker in _FORMED_BY:
                proposals.extend(_whole(turn))
                continue
            if turn.evidence.speaker is not Speaker.USER:
                continue
            language = choose_language(turn.evidence.content, languages)
            people = partial(_people, tuple(said[-CONTEXT_TURNS:]), languages)
            found, left = _read_turn(_reading(turn, language, people), self._describe)
            said.append(turn.evidence)
            proposals.extend(found)
            passed.extend(left)
        return Extraction(tuple(proposals), tuple(passed))

    def _describe(self, sentence: str, message: str) -> Description | None:
        return None if self._model is None else self._model.describe(sentence, message)


def _whole(turn: Turn) -> list[Proposal]:
    """Observed and imported material is one statement as it stands."""
    if not says_something(turn.evidence.content):
        return []
    return [
        Proposal(
            evidence_id=turn.evidence.id,
            unit="sentence",
            chosen=tuple(range(len(turn.sentences))),
            kind=Kind.STATE,
            subject=turn.evidence.name or USER,
            formed_by=_FORMED_BY[turn.evidence.speaker],
            valid_from=turn.evidence.valid_from,
            valid_until=turn.evidence.valid_until,
        )
    ]


def _people(records: Sequence[Evidence], languages: tuple[Language, ...]) -> tuple[str, ...]:
    """Subjects other than the user of the sentences in ``records``."""
    found: list[str] = []
    for record in records:
        language = choose_language(record.content, languages)
        for span in sentences(record.content):
            subject = subject_of(record.content[span.start : span.end], language, record.name or USER)
            if subject not in (record.name, USER, SOMEONE):
                found.append(subject)
    return tuple(found)


def _reading(turn: Turn, language: Language, people: Callable[[], tuple[str, ...]]) -> _Reading:
    evidence = turn.evidence
    folded = language.fold(evidence.content)
    return _Reading(
        turn=turn,
        language=language,
        folded=folded,
        quoted=quoted_spans(evidence.content),
        material=material_start(folded, turn.sentences, language),
        played=played_sentences(folded, turn.sentences, language),
        today=times.local_day(evidence.occurred_at, int(evidence.metadata.get("utc_offset_minutes", 0))),
        people=people,
    )


def _read_turn(reading: _Reading, describe: _Describe) -> tuple[list[Proposal], list[Passed]]:
    proposals: list[Proposal] = []
    passed: list[Passed] = []
    told: list[str] = []
    message = reading.turn.evidence.content
    for index, span in enumerate(reading.turn.sentences):
        reason = _reason(reading, span)
        riders = _riders(reading, span, describe) if reason in _WITH_RIDERS else []
        likely = describe(reading.turn.text(span), message) if reason is None or reason in _OPEN else None
        if (
            not riders
            and reason is not None
            and (likely is None or likely.nothing > load_thresholds()["tells_nothing"])
        ):
            passed.append(Passed(reading.turn.evidence.id, span, reason))
            continue
        groups = riders or _statements(reading, span)
        previous = _meant(reading, span, told)
        if groups:
            found = [_proposal(reading, "segment", group, previous, likely, lead) for group, lead in groups]
        else:
            found = [_proposal(reading, "sentence", (index,), previous, likely)]
        proposals.extend(found)
        told.append(found[-1].subject)
    return proposals, passed


def _meant(reading: _Reading, span: Span, told: Sequence[str]) -> str | None:
    """Whom a pronoun at the beginning of a sentence means: whom the one before is about, or the only one spoken of."""
    if not reading.language.has("pronoun", reading.part(span)):
        return None
    if told and told[-1] not in (reading.speaker, USER, SOMEONE):
        return told[-1]
    people = [*reading.people(), *(subject for subject in told if subject != reading.speaker)]
    return person_meant(people, reading.language)


def _reason(reading: _Reading, span: Span) -> str | None:
    if reading.material is not None and span.end > reading.material:
        return "quotation"
    if mostly_within(reading.turn.evidence.content, span, reading.quoted):
        return "quotation"
    if span in reading.played:
        return "role-play"
    return reason_to_pass(reading.part(span), reading.language)


def _segments(reading: _Reading, span: Span) -> list[int]:
    return [i for i, part in enumerate(reading.turn.segments) if span.start <= part.start and part.end <= span.end]


def _riders(reading: _Reading, span: Span, describe: _Describe) -> list[tuple[tuple[int, ...], Span | None]]:
    """Clauses of a question or an order that state something by themselves, adjacent ones together."""
    language = reading.language
    indexes = _segments(reading, span)
    groups: list[tuple[int, ...]] = []
    for index in indexes if len(indexes) > 1 else []:
        part = reading.turn.segments[index]
        folded = reading.part(part)
        someone = (
            speaks_of_self(folded, language)
            or bool(attributes_of(folded, language))
            or subject_of(reading.turn.text(part), language) not in (USER, SOMEONE)
        )
        if mostly_within(reading.turn.evidence.content, part, reading.quoted):
            continue
        if not is_plain_statement(folded, language, someone) and not _tells(reading, part, describe):
            continue
        if groups and groups[-1][-1] == index - 1:
            groups[-1] = (*groups[-1], index)
        else:
            groups.append((index,))
    return [(group, None) for group in groups]


def _tells(reading: _Reading, span: Span, describe: _Describe) -> bool:
    """Whether the model is sure enough that a part of a message tells something lasting."""
    likely = describe(reading.turn.text(span), reading.turn.evidence.content)
    return likely is not None and likely.nothing <= load_thresholds()["tells_nothing"]


def _statements(reading: _Reading, span: Span) -> list[tuple[tuple[int, ...], Span | None]]:
    """Clauses that state different things of one subject, each with the subject it elides; empty to keep the sentence.

    A clause belongs to the statement before it unless its wording tells an attribute of its own.
    """
    indexes = _segments(reading, span)
    starts: list[int] = []
    names: set[str] = set()
    for index in indexes:
        found = {item.group for item in attributes_of(reading.part(reading.turn.segments[index]), reading.language)}
        if found and not found & names and not reading.language.has("limit", reading.part(span)):
            starts.append(index)
            names |= found
    if len(starts) < 2 or starts[0] != indexes[0]:
        return []
    lead = _first_person(reading, reading.turn.segments[indexes[0]])
    groups: list[tuple[tuple[int, ...], Span | None]] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else indexes[-1] + 1
        elided = number > 0 and not _names_first_person(reading, reading.turn.segments[start])
        if elided and lead is None:
            return []
        groups.append((tuple(range(start, end)), lead if elided else None))
    return groups


def _names_first_person(reading: _Reading, span: Span) -> bool:
    """Whether a clause has a first-person subject, a word such as "and" before it or not."""
    folded = reading.part(span)
    first = compiled(reading.language.subject["first"])
    joint = re.match(r"\w+\s+", folded)
    return bool(first.match(folded) or (joint and first.match(folded, joint.end())))


def _first_person(reading: _Reading, span: Span) -> Span | None:
    """Where a clause begins with a first-person subject, the span of that word, without a contracted verb."""
    folded = reading.part(span)
    if compiled(reading.language.subject["first"]).match(folded) is None:
        return None
    word = re.match(r"\w+", folded) if reading.language.spaced else re.match(reading.language.subject["first"], folded)
    return Span(span.start, span.start + word.end()) if word else None


def _likely_subject(reading: _Reading, span: Span, likely: Description) -> str:
    """Whom a statement is about that no wording ascribes to anyone."""
    pattern = reading.language.subject.get("likely_named")
    named = compiled(pattern).match(reading.part(span)) if pattern else None
    if named is not None and likely.other > load_thresholds()["about_named"]:
        return named.group(1)
    return SOMEONE if likely.other > load_thresholds()["about_other"] else reading.speaker


def _proposal(
    reading: _Reading,
    unit: str,
    chosen: tuple[int, ...],
    previous: str | None,
    likely: Description | None,
    lead: Span | None = None,
) -> Proposal:
    spans = reading.turn.sentences if unit == "sentence" else reading.turn.segments
    whole = Span(spans[chosen[0]].start, spans[chosen[-1]].end)
    language, folded = reading.language, reading.part(whole)
    hedged = language.has("hedge", folded)
    found = times.phrases(folded, language, reading.today)
    limited = None
    if not language.has("not_limit", folded):
        limited = times.limited_period(folded, language, found, reading.today)
    occurred_at, expression = (None, None) if limited else times.event_time(found)
    subject = subject_of(reading.turn.evidence.content[whole.start : whole.end], language, reading.speaker, previous)
    # A statement that something is over gives no value of its own.
    is_over, of_speaker = language.has("ended", folded), subject == reading.speaker
    attributes = () if is_over else attributes_of_subject(folded, language, of_speaker)
    attribute, value, kind = next(((a.name, a.value, a.kind) for a in attributes), (None, None, None))
    told = names_told(folded, language)
    if told is not None:
        subject, attribute, value, kind = told[0], ALIAS, joined(told[1]), Kind.IDENTITY
    if subject == reading.speaker and likely is not None:
        subject = _likely_subject(reading, whole, likely)
    return Proposal(
        evidence_id=reading.turn.evidence.id,
        unit=unit,
        chosen=chosen,
        kind=kind_of(folded, language, kind, likely.kind if likely else {}),
        lead=lead,
        subject=subject if lead is None else reading.speaker,
        attribute=attribute,
        value=value,
        polarity=Polarity.NEGATIVE if is_over or language.has("negation", folded) else Polarity.POSITIVE,
        hedged=hedged,
        confidence=_HEDGED_CONFIDENCE if hedged else _PLAIN_CONFIDENCE if attributes else _UNKNOWN_CONFIDENCE,
        occurred_at=occurred_at,
        time_expression=expression,
        valid_from=limited.start if limited else None,
        valid_until=limited.end if limited else None,
    )
