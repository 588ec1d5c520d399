"""Cut a sentence into the statements it makes, each with the subject that its words leave out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memwell.builtin.asides import asides
from memwell.builtin.attributes import Attribute, attributes_of
from memwell.builtin.language import compiled
from memwell.builtin.persons import as_written, someone_named, subject_of
from memwell.builtin.reading import Reading, named_in
from memwell.domain.memory import Span
from memwell.domain.people import SOMEONE

# Cues of clauses that leave an attribute without a value.
_DENYING = ("ended", "negation", "untrue", "said_only", "claim")
# Cues that bear on all clauses of a sentence.
_OF_ALL = ("limit", "correction")
_COLONS = ":：="
# What may stand at the end of a clause.
CLAUSE_MARKS = " ,;:，；：、"


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement of a sentence.

    Attributes:
        chosen: numbers of its clauses, adjacent.
        lead: the words before it that are its subject, where it leaves them out.
        subject: whom it is about, where its own words and those of the sentence tell.
        part: the words of its clauses that tell it, where not all of them do.
        reads: the statement that its words stand for, where they are not one by themselves.
    """

    chosen: tuple[int, ...]
    lead: Span | None = None
    subject: str | None = None
    part: Span | None = None
    reads: str | None = None


@dataclass(frozen=True, slots=True)
class _Opening:
    """The subject that a clause begins with: its words, and whom they mean.

    Attributes:
        copula: its words with the verb behind them, where that is a mere "is": "I'm Ruth, from Malta" leaves out both.
    """

    words: Span | None
    subject: str
    copula: Span | None = None

    def lead(self, needs_verb: bool) -> Span | None:
        return self.copula if needs_verb and self.copula else self.words


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, with the words before its colon if it stands behind one.

    Attributes:
        opening: its subject; that of a clause before it where it leaves its own out.
        elided: it leaves its own out.
        relative: it tells of someone whom the clause before it names: "my wife, who works at Kone".
        lead: what it leaves out.
        stands: it says what is, not what is over, denied or somebody's claim.
        keys: what it tells, see ``_key``.
    """

    chosen: tuple[int, ...]
    span: Span
    words: str
    opening: _Opening | None
    elided: bool
    relative: bool
    lead: Span | None
    stands: bool
    keys: frozenset[tuple[str | None, str, str]]

    @property
    def subject(self) -> str | None:
        return self.opening.subject if self.opening else None

    @property
    def has_own_subject(self) -> bool:
        return self.opening is not None and not self.elided and not self.relative

    @property
    def is_bare(self) -> bool:
        """Whether it is nothing but its subject."""
        words = self.opening.words if self.opening and self.has_own_subject else None
        return words is not None and words.end >= self.span.end


def pieces(reading: Reading, span: Span, told: Sequence[str]) -> list[Piece]:
    """Clauses of the sentence ``span`` that state different things; empty where the sentence is one statement.

    A clause belongs to the statement before it unless its wording tells an attribute of its own, or it is about someone
    else.

    Args:
        told: whom the message named before the sentence, in order.
    """
    if any(reading.language.has(cue, reading.words(span)) for cue in _OF_ALL):
        return []
    statements: list[list[_Clause]] = []
    known: set[tuple[str | None, str, str]] = set()
    for clause in _clauses(reading, span, told):
        begins = clause.keys - known or (statements and _changes_subject(reading, statements[-1], clause))
        apart = statements and _stands_alone(reading, statements[-1][0], clause)
        if statements and not apart and (not begins or _belongs(reading, statements[-1], clause)):
            statements[-1].append(clause)
        else:
            statements.append([clause])
        known |= clause.keys
    return [_piece(statement) for statement in statements] if len(statements) > 1 else []


def _changes_subject(reading: Reading, before: Sequence[_Clause], clause: _Clause) -> bool:
    """Whether a clause begins with another person than what is told before it."""
    telling = next((one for one in before if one.keys), None)
    if telling is None and before[0].has_own_subject and not _refers(reading, clause):
        telling = before[0]
    if telling is None or clause.is_bare or not clause.has_own_subject:
        return False
    return SOMEONE not in (clause.subject, telling.subject) and telling.subject not in (None, clause.subject)


def _stands_alone(reading: Reading, first: _Clause, clause: _Clause) -> bool:
    """Whether a clause has a subject and a verb of its own as the first one has, and means nothing said there."""
    return all(_begins(reading, "whole", one.words) for one in (first, clause)) and not _refers(reading, clause)


def _refers(reading: Reading, clause: _Clause) -> bool:
    return compiled(reading.language.subject["refers"]).search(clause.words) is not None


def carried(reading: Reading, number: int) -> Piece | None:
    """A sentence that leaves out the person whom the one before it begins with: "My dad retired. Works in the garden."

    Args:
        number: of the sentence.
    """
    span = reading.turn.sentences[number]
    if not number or not _begins(reading, "carried", reading.words(span)):
        return None
    before = reading.turn.sentences[number - 1]
    opening = None if reading.reason(before) else _opening(reading, before, (), ())
    if opening is None or opening.words is None or opening.subject in (SOMEONE, reading.speaker(span)):
        return None
    words = reading.words(span)
    lead = reading.words(opening.words)
    reads = f"{lead}{' ' if reading.language.spaced else ''}{words[:1].lower()}{words[1:]}"
    return Piece((number,), opening.words, opening.subject, reads=reads)


def _piece(statement: Sequence[_Clause]) -> Piece:
    first = statement[0]
    telling = next((clause for clause in statement if clause.keys), first)
    chosen = tuple(index for clause in statement for index in clause.chosen)
    return Piece(chosen, first.lead, telling.subject)


def _clauses(reading: Reading, span: Span, told: Sequence[str]) -> Iterator[_Clause]:
    language, people = reading.language, list(told)
    passing = _passing(reading, span)
    opening: _Opening | None = None
    for chosen in _units(reading, span):
        part = Span(reading.turn.segments[chosen[0]].start, reading.turn.segments[chosen[-1]].end)
        words = reading.words(part)
        items = attributes_of(words, language)
        own = _opening(reading, part, items, people)
        lead = None
        elided = own is None and opening is not None and _begins(reading, "elided", words)
        if elided and opening:
            lead = opening.lead(_begins(reading, "predicate", words))
            items = attributes_of(reading.joined([lead, part] if lead else [part]), language)
        opening = own or opening
        here = opening if own or elided else None
        ending = [(begun, reads) for begun, reads in passing if part.start < begun.end <= part.end]
        items = (*items, *(item for _, reads in ending for item in attributes_of(reads, language)))
        relative = next(((begun, reads) for begun, reads in ending if begun.start < part.start), None)
        if relative and not own:
            before = reading.folded[relative[0].start : part.start].rstrip()
            lead = Span(relative[0].start, relative[0].start + len(before))
            here = _Opening(lead, subject_of(relative[1], language, reading.speaker(part)))
        stands = not any(language.has(cue, words) for cue in _DENYING)
        keys = frozenset(_key(here.subject if here else None, item, stands) for item in items)
        yield _Clause(chosen, part, words, here, elided, relative is not None, lead, stands, keys)
        people.extend(named_in(words, here.subject if here else SOMEONE, language))


def _passing(reading: Reading, span: Span) -> list[tuple[Span, str]]:
    """Where a sentence tells something in passing, and how that reads as a statement."""
    start = reading.start(span)
    found = asides(reading.raw(span), reading.language)
    return [(Span(start + aside.start, start + aside.end), reading.language.mend(aside.reads)) for aside in found]


def _units(reading: Reading, span: Span) -> list[tuple[int, ...]]:
    """Numbers of the clauses of a sentence, what stands before a colon together with what follows."""
    units: list[tuple[int, ...]] = []
    for index in reading.segments(span):
        before = reading.turn.segments[index - 1] if units else None
        if before is not None and reading.folded[before.end - 1] in _COLONS:
            units[-1] = (*units[-1], index)
        else:
            units.append((index,))
    return units


def _belongs(reading: Reading, before: Sequence[_Clause], clause: _Clause) -> bool:
    """Whether a clause that tells something goes with what stands before it all the same."""
    dependent = compiled(reading.language.subject["dependent"])
    telling = next((one for one in before if one.keys), None)
    if clause.relative:
        return telling is None or telling.subject in (None, clause.subject)
    first, last = before[0], before[-1]
    predicate = clause.elided and _begins(reading, "predicate", clause.words)
    if (dependent.match(clause.words) and not predicate) or _governs(reading, last, clause):
        return True
    if telling is not None:
        return False
    tells_apart = clause.has_own_subject or (first.stands and predicate)
    apart = first.has_own_subject and not first.is_bare and tells_apart
    return not apart or dependent.match(first.words) is not None


def _governs(reading: Reading, last: _Clause, clause: _Clause) -> bool:
    """Whether a clause goes on behind a verb of saying or the like, without a word between: "I told Tom | I am ill"."""
    if reading.folded[last.span.end : clause.span.start].strip():
        return False
    return compiled(reading.language.subject["governs"]).search(last.words.rstrip(CLAUSE_MARKS)) is not None


def _begins(reading: Reading, pattern: str, words: str) -> bool:
    return compiled(reading.language.subject[pattern]).match(words) is not None


def _key(subject: str | None, item: Attribute, stands: bool) -> tuple[str | None, str, str]:
    """What tells one attribute from another: an earlier value that is denied is not the same as the one that holds."""
    return subject, item.group, "" if item.single and stands else f"{stands} {item.value}"


def _opening(reading: Reading, part: Span, items: Sequence[Attribute], people: Sequence[str]) -> _Opening | None:
    """The subject that a clause begins with, or else the one before the attribute that it tells."""
    language, raw, start = reading.language, reading.raw(part), reading.start(part)
    before = compiled(language.subject["before_subject"]).match(raw)
    skipped = before.end() if before else 0
    rest = raw[skipped:]
    someone = someone_named(rest, language)
    if someone is not None:
        subject, length = someone
        return _opened(reading, part, Span(start + skipped, start + skipped + length), subject)
    pronoun = compiled(language.subject["pronoun_word"]).match(rest)
    if pronoun is not None:
        words = Span(start + skipped, start + skipped + pronoun.end(1))
        return _opened(reading, part, words, reading.meant(pronoun.group(1), people) or SOMEONE)
    first = compiled(language.subject["first_word"]).match(rest)
    if first is not None:
        words = Span(start + skipped, start + skipped + first.end())
        return _opened(reading, part, words, reading.speaker(part))
    if compiled(language.subject["first_any"]).match(rest):
        return _Opening(None, reading.speaker(part))
    return _inside(reading, part, reading.words(part)[: items[0].start] if items else "", people)


def _opened(reading: Reading, part: Span, words: Span, subject: str) -> _Opening:
    found = compiled(reading.language.subject["copula"]).match(reading.folded[: part.end], words.start)
    follows = found is not None and found.start(1) == words.end
    return _Opening(words, subject, Span(words.start, found.end(1)) if found and follows else None)


def _inside(reading: Reading, part: Span, head: str, people: Sequence[str]) -> _Opening | None:
    """The subject that stands in ``head``, the words of a clause before its attribute."""
    language = reading.language
    other = compiled(language.subject["other"]).search(head)
    if other is not None:
        return _Opening(None, as_written(other))
    if compiled(language.subject["first"]).search(head):
        return _Opening(None, reading.speaker(part))
    pronoun = compiled(language.subject["pronoun_word"]).search(head)
    return None if pronoun is None else _Opening(None, reading.meant(pronoun.group(1), people) or SOMEONE)
