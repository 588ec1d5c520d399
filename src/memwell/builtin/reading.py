"""A message as the keyless extractor reads it: its words for matching, who says what, and whom its pronouns mean."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memwell.builtin import times
from memwell.builtin.frames import Voice, material_start, unreal_sentences, voices
from memwell.builtin.language import Language
from memwell.builtin.packs import choose_language
from memwell.builtin.persons import mentions, person_meant, subject_of
from memwell.builtin.statements import mostly_within, quoted_spans, reason_to_pass
from memwell.domain.evidence import Evidence
from memwell.domain.memory import Span
from memwell.domain.people import SOMEONE, USER
from memwell.domain.segments import sentences
from memwell.engine.ports import Turn


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn with what reading its sentences needs.

    Attributes:
        folded: its text, folded by the pack; every position is that of the text.
        people: gives the persons of the user's turns before it.
    """

    turn: Turn
    language: Language
    folded: str
    quoted: tuple[Span, ...]
    material: int | None
    unreal: Mapping[Span, str]
    voices: Mapping[Span, Voice]
    today: date
    people: Callable[[], tuple[str, ...]]

    @property
    def message(self) -> str:
        return self.turn.evidence.content

    @property
    def writer(self) -> str:
        """Subject of what the message's writer says of themself."""
        return self.turn.evidence.name or USER

    def start(self, span: Span) -> int:
        """Where ``span`` begins without who says it."""
        return min(max(span.start, self._voice(span).start), span.end)

    def raw(self, span: Span) -> str:
        """The folded words of ``span`` from its ``start`` on."""
        return self.folded[self.start(span) : span.end]

    def words(self, span: Span) -> str:
        """The same for matching: with misspellings made good, so that positions may shift."""
        return self.language.mend(self.raw(span))

    def joined(self, spans: Sequence[Span]) -> str:
        return (" " if self.language.spaced else "").join(self.words(span) for span in spans)

    def speaker(self, span: Span) -> str:
        """Of whom the first person is said in ``span``."""
        return self._voice(span).speaker or self.writer

    def before(self, span: Span) -> str:
        """The folded words of its sentence before ``span``."""
        return self.folded[self._sentence(span).start : span.start]

    def segments(self, span: Span) -> list[int]:
        """Numbers of the clauses of a sentence."""
        segments = self.turn.segments
        first = bisect_left(segments, span.start, key=lambda part: part.start)
        return list(range(first, bisect_left(segments, span.end, key=lambda part: part.start)))

    def reason(self, span: Span) -> str | None:
        """Why nothing forms from a sentence, or ``None`` for a statement."""
        if self.material is not None and span.end > self.material:
            return "quotation"
        if self.voices[span].speaker == "" or mostly_within(self.message, span, self.quoted):
            return "quotation"
        return self.unreal.get(span) or reason_to_pass(self.words(span), self.language)

    def meant(self, pronoun: str, told: Sequence[str]) -> str | None:
        """Whom ``pronoun`` means: someone of the message, or else of the user's turns before it.

        Args:
            told: whom the message named before it, in order.
        """
        return person_meant(pronoun, told, self.language) or person_meant(
            pronoun, [*self.people(), *told], self.language
        )

    def _voice(self, span: Span) -> Voice:
        return self.voices[self._sentence(span)]

    def _sentence(self, span: Span) -> Span:
        found = self.turn.sentences
        return found[bisect_right(found, span.start, key=lambda sentence: sentence.start) - 1]


def read(turn: Turn, language: Language, people: Callable[[], tuple[str, ...]]) -> Reading:
    """A reading of ``turn``; ``people`` gives the persons of the user's turns before it."""
    evidence = turn.evidence
    folded = language.fold(evidence.content)
    return Reading(
        turn=turn,
        language=language,
        folded=folded,
        quoted=quoted_spans(evidence.content),
        material=material_start(folded, turn.sentences, language),
        unreal=unreal_sentences(folded, turn.sentences, language),
        voices=voices(folded, turn.sentences, language),
        today=times.local_day(evidence.occurred_at, int(evidence.metadata.get("utc_offset_minutes", 0))),
        people=people,
    )


def people_of(records: Sequence[Evidence], languages: tuple[Language, ...]) -> tuple[str, ...]:
    """Whom ``records`` name or are about, but for the user, in order."""
    found: list[str] = []
    for record in records:
        language = choose_language(record.content, languages)
        for span in sentences(record.content):
            folded = language.fold(record.content[span.start : span.end])
            subject = subject_of(folded, language, record.name or USER)
            found.extend(person for person in named_in(folded, subject, language) if person != record.name)
    return tuple(found)


def named_in(folded: str, subject: str, language: Language) -> list[str]:
    """Whom a text names or is about, but for the user."""
    return [person for person in (*mentions(folded, language), subject) if person not in (USER, SOMEONE)]
