"""The keyless extractor: sentences of the user that state something lasting, by the language packs' cues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memwell.builtin import times
from memwell.builtin.asides import asides
from memwell.builtin.attributes import Attribute, attributes_of
from memwell.builtin.language import Language, compiled
from memwell.builtin.model.decide import DecisionModel, Description
from memwell.builtin.packs import choose_language, load_languages
from memwell.builtin.persons import attributes_told, mentions, names_told, subject_of
from memwell.builtin.pieces import CLAUSE_MARKS, Piece, carried, pieces
from memwell.builtin.reading import Reading, people_of, read
from memwell.builtin.statements import is_plain_statement, kind_of, mostly_within, says_something, speaks_of_self
from memwell.builtin.thresholds import load_thresholds
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import FormedBy, Kind, Polarity, Span
from memwell.domain.people import ALIAS, SOMEONE, USER, joined
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
            people = partial(people_of, tuple(said[-CONTEXT_TURNS:]), languages)
            found, left = _read_turn(read(turn, language, people), self._describe)
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


def _read_turn(reading: Reading, describe: _Describe) -> tuple[list[Proposal], list[Passed]]:
    proposals: list[Proposal] = []
    passed: list[Passed] = []
    told: list[str] = []
    for index, span in enumerate(reading.turn.sentences):
        reason = reading.reason(span)
        riders = _riders(reading, span, describe) if reason in _WITH_RIDERS else []
        likely = describe(reading.turn.text(span), reading.message) if reason is None or reason in _OPEN else None
        if (
            not riders
            and reason is not None
            and (likely is None or likely.nothing > load_thresholds()["tells_nothing"])
        ):
            passed.append(Passed(reading.turn.evidence.id, span, reason))
            told.extend(mentions(reading.words(span), reading.language))
            continue
        found = riders or pieces(reading, span, told)
        if found:
            made = [_proposal(reading, "segment", piece, told, None if piece.reads else likely) for piece in found]
        else:
            made = [_proposal(reading, "sentence", carried(reading, index) or Piece((index,)), told, likely)]
        proposals.extend(made)
        told.extend(mentions(reading.words(span), reading.language))
        told.extend(item.subject for item in made if item.subject != reading.speaker(span))
    return proposals, passed


def _riders(reading: Reading, span: Span, describe: _Describe) -> list[Piece]:
    """Clauses of a question or an order that state something by themselves, adjacent ones together."""
    indexes = reading.segments(span)
    presupposed = _presupposed(reading, span)
    groups: list[tuple[int, ...]] = []
    for index in indexes if len(indexes) > 1 else []:
        part = reading.turn.segments[index]
        if mostly_within(reading.message, part, reading.quoted):
            continue
        if not _states(reading, part):
            inside = any(piece.part.overlaps(part) for piece in presupposed if piece.part)
            if inside or not _tells(reading, part, describe):
                continue
        if groups and groups[-1][-1] == index - 1:
            groups[-1] = (*groups[-1], index)
        else:
            groups.append((index,))
    stated = {index for group in groups for index in group}
    found = [*map(Piece, groups), *(piece for piece in presupposed if stated.isdisjoint(piece.chosen))]
    return sorted(found, key=lambda piece: (piece.chosen[0], piece.part.start if piece.part else 0))


def _states(reading: Reading, part: Span) -> bool:
    """Whether a clause of a question or an order is a statement by its wording."""
    words, language = reading.words(part).rstrip(CLAUSE_MARKS), reading.language
    someone = (
        speaks_of_self(words, language)
        or bool(attributes_of(words, language))
        or subject_of(words, language) not in (USER, SOMEONE)
    )
    return is_plain_statement(words, language, someone)


def _presupposed(reading: Reading, span: Span) -> list[Piece]:
    """What a question or an order tells of the user or their people in passing."""
    language, start = reading.language, reading.start(span)
    found = []
    for aside in asides(reading.raw(span), language, asked=True):
        words = Span(start + aside.start, start + aside.end)
        if mostly_within(reading.message, words, reading.quoted):
            continue
        reads = language.mend(aside.reads)
        speaker = reading.speaker(span)
        subject = subject_of(reads, language, speaker)
        if aside.lasting or attributes_told(reads, language, subject, speaker)[1]:
            chosen = [index for index in reading.segments(span) if reading.turn.segments[index].overlaps(words)]
            found.append(Piece(tuple(chosen), subject=subject, part=words, reads=reads))
    return found


def _tells(reading: Reading, span: Span, describe: _Describe) -> bool:
    """Whether the model is sure enough that a part of a message tells something lasting."""
    likely = describe(reading.turn.text(span), reading.message)
    return likely is not None and likely.nothing <= load_thresholds()["tells_nothing"]


def _likely_subject(reading: Reading, folded: str, likely: Description) -> str:
    """Whom a statement is about that no wording ascribes to anyone."""
    if compiled(reading.language.subject["first_word"]).match(folded):
        return reading.writer
    pattern = reading.language.subject.get("likely_named")
    named = compiled(pattern).match(folded) if pattern else None
    if named is not None and likely.other > load_thresholds()["about_named"]:
        return named.group(1)
    return SOMEONE if likely.other > load_thresholds()["about_other"] else reading.writer


def _proposal(reading: Reading, unit: str, piece: Piece, told: Sequence[str], likely: Description | None) -> Proposal:
    spans = reading.turn.sentences if unit == "sentence" else reading.turn.segments
    whole = Span(spans[piece.chosen[0]].start, spans[piece.chosen[-1]].end)
    language, speaker = reading.language, reading.speaker(whole)
    folded = piece.reads or reading.joined([whole] if piece.lead is None else [piece.lead, whole])
    hedged = language.has("hedge", folded)
    found = times.phrases(folded, language, reading.today)
    limited = None
    if not language.has("not_limit", folded):
        limited = times.limited_period(folded, language, found, reading.today)
    occurred_at, expression = (None, None) if limited else times.event_time(found)
    # A statement that something is over gives no value of its own.
    is_over = language.has("ended", folded)
    people = [*told, *mentions(reading.before(whole), language)]
    subject, attributes = _about(reading, folded, piece, people, speaker)
    attribute, value, kind = next(
        ((a.name, a.value, a.kind) for a in (() if is_over else attributes)), (None, None, None)
    )
    names = names_told(folded, language)
    if names is not None:
        subject, attribute, value, kind = names[0], ALIAS, joined(names[1]), Kind.IDENTITY
    if subject == speaker == reading.writer and piece.subject is None and likely is not None:
        subject = _likely_subject(reading, folded, likely)
    denied = is_over or language.has("negation", folded) or language.has("untrue", folded)
    return Proposal(
        evidence_id=reading.turn.evidence.id,
        unit=unit,
        chosen=piece.chosen,
        part=piece.part,
        kind=kind_of(folded, language, kind, likely.kind if likely else {}),
        lead=piece.lead,
        subject=subject,
        attribute=attribute,
        value=value,
        polarity=Polarity.NEGATIVE if denied else Polarity.POSITIVE,
        hedged=hedged,
        confidence=_HEDGED_CONFIDENCE if hedged else _PLAIN_CONFIDENCE if attribute else _UNKNOWN_CONFIDENCE,
        occurred_at=occurred_at,
        time_expression=expression,
        valid_from=limited.start if limited else None,
        valid_until=limited.end if limited else None,
    )


def _about(
    reading: Reading, folded: str, piece: Piece, told: Sequence[str], speaker: str
) -> tuple[str, tuple[Attribute, ...]]:
    """Whom a statement is about, and the attributes that it tells of them."""
    language = reading.language
    pronoun = compiled(language.subject["pronoun_word"]).search(folded)
    before = mentions(folded[: pronoun.start()], language) if pronoun else ()
    meant = reading.meant(pronoun.group(1), [*told, *before]) if pronoun else None
    subject = piece.subject or subject_of(folded, language, speaker, meant)
    return attributes_told(folded, language, subject, speaker, meant)
