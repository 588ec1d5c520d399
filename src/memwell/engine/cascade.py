"""What goes when something is forgotten: version chains, sources, what was derived, and copies in replies.

A source that other memories rest on stays for them: the sentences of what is forgotten are blacked out in it, except
for words that those others cite. A source that nothing else rests on goes altogether. A memory of which only a source
is forgotten stays where another message says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memwell.domain.clauses import core, places, plain
from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker
from memwell.domain.memory import MemoryRecord, Source, Span, State
from memwell.domain.people import People, people_of
from memwell.domain.scope import Scope
from memwell.domain.segments import sentences
from memwell.domain.text import fold, normal_form, terms
from memwell.domain.tombstone import united
from memwell.engine.people import Naming, with_role
from memwell.engine.ports import View
from memwell.engine.support import Support, supports
from memwell.engine.traces import Traces
from memwell.errors import InputError

MAX_DEPTH = 8  # replies made from replies …
MAX_STEP = 64  # … and how many of them at each step


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten.

    Attributes:
        memories, evidence: ids, in the order they were named.
        words: terms that were asked for, and ids of the sources (``mentions``) that lose the sentences which hold them.
    """

    memories: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    session: str | None = None
    person: str | None = None
    everything: bool = False
    mentions: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class Doomed:
    """What goes.

    Attributes:
        memories, evidence: records that go altogether, by id.
        blacked_out: by id, the parts of a source that go, and whether the assistant's turn kept with it goes.
        kept: memories that rest on the rest of those sources and stay.
        supported: memories that stay on other messages than before, by id.
    """

    memories: dict[str, MemoryRecord] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    blacked_out: dict[str, tuple[Evidence, tuple[Span, ...], bool]] = field(default_factory=dict)
    kept: dict[str, MemoryRecord] = field(default_factory=dict)
    supported: dict[str, Support] = field(default_factory=dict)


def cascade(view: View, scope: Scope, selection: Selection, naming: Naming | None = None) -> Doomed:
    """Everything that goes with ``selection``.

    Args:
        naming: how statements name people, where a person is to be forgotten.

    Raises:
        InputError: replies depend on it in more steps, or more at a step, than are followed (``dependency_limit``).
    """
    worker = _Cascade(view, view.traces(scope))
    worker.begin(selection)
    if selection.person is not None and naming is not None:
        name = naming.bare(selection.person)
        worker.begin_with(name, with_role(people_of(view.aliases(scope)), view, scope, name, naming), naming.names)
    while worker.step():
        pass
    return worker.doomed()


class _Cascade:
    def __init__(self, view: View, traces: Traces) -> None:
        self._view = view
        self._traces = traces
        self._memories: dict[str, MemoryRecord] = {}
        self._evidence: dict[str, Evidence] = {}
        self._parts: dict[str, tuple[Span, ...]] = {}
        self._partly: dict[str, Evidence] = {}
        self._kept: dict[str, MemoryRecord] = {}
        self._supported: dict[str, Support] = {}
        self._unsupported: set[str] = set()
        self._compared: set[str] = set()
        self._statements: set[str] = set()
        self._names: tuple[str, ...] = ()
        self._name_in: Callable[[str, str], bool] = lambda text, name: False
        self._mentioned: dict[str, Evidence] = {}
        self._asked: tuple[str, ...] = ()
        self._followed: set[str] = set()
        self._worded: set[str] = set()
        self._searched: set[str] = set()
        self._replies: set[str] = set()
        self._depth = 0

    def begin(self, selection: Selection) -> None:
        if selection.everything:
            self._memories = {memory.id: memory for memory in self._traces.memories()}
            self._evidence = {record.id: record for record in self._traces.evidence()}
            self._compared.update(self._memories)
            return
        self._doom(self._view.memories(selection.memories).values())
        self._evidence.update(self._view.evidence(selection.evidence))
        self._asked = selection.words
        for record in self._view.evidence(selection.mentions).values():
            found = self._mentioned if self._traces.holds(record.content, self._asked) else self._partly
            found[record.id] = record
        if selection.session is not None:
            self._evidence.update((record.id, record) for record in self._traces.evidence(selection.session))

    def begin_with(self, name: str, people: People, name_in: Callable[[str, str], bool]) -> None:
        """Take what is about, names or was said by a person, under every name that is that person's alone.

        Args:
            name_in: whether a text names someone of that name.
        """
        self._name_in = name_in
        person = people.named(name)
        others = () if person is None else tuple(alias.name for alias in person.aliases)
        known = [name, *(other for other in others if self._is_alone(other, name, people))]
        self._names = tuple(dict.fromkeys(map(fold, known)))
        for each in self._names:
            memories, evidence = self._traces.mentioning(terms(each))
            self._doom(memory for memory in memories if self._is_about(memory))
            for record in evidence:
                if record.name is not None and fold(record.name) in self._names:
                    self._evidence[record.id] = record
                elif self._is_named(record.content):
                    self._mentioned[record.id] = record
        for record in self._traces.copies([plain(each) for each in known]):
            if record.speaker is Speaker.ASSISTANT and self._is_named(record.content):
                self._evidence[record.id] = record
            elif record.preceding is not None and self._is_named(record.preceding):
                self._partly.setdefault(record.id, record)

    def _is_alone(self, other: str, name: str, people: People) -> bool:
        """Whether nobody but the person of ``name`` is called ``other``."""
        subjects = {fold(subject) for subject in people.subjects(name)}
        memories, _ = self._traces.mentioning(terms(other))
        namesakes = {fold(m.subject) for m in memories if self._name_in(m.subject, other)} - subjects
        return not namesakes and people.named(other) == people.named(name)

    def _is_about(self, memory: MemoryRecord) -> bool:
        texts = (memory.content, memory.subject, memory.value or "", *memory.qualifiers.values())
        return fold(memory.subject) in self._names or any(map(self._is_named, texts))

    def _is_named(self, text: str) -> bool:
        return any(self._name_in(text, name) for name in self._names)

    def step(self) -> bool:
        """Follow everything one link further; whether anything was added."""
        before = len(self._memories) + len(self._evidence)
        self._doom_unsupported()
        self._doom_repeated()
        self._doom(self._traces.derived(self._memories))
        self._follow_replies()
        self._settle_sources()
        self._take_copies(self._words())
        return len(self._memories) + len(self._evidence) > before

    def doomed(self) -> Doomed:
        result = Doomed(self._memories, self._evidence)
        partly = {key: record for key, record in self._partly.items() if key not in self._evidence}
        result.supported = {key: one for key, one in self._supported.items() if key not in self._memories}
        others = {key: memory for key, memory in self._kept.items() if key not in self._memories}
        result.kept = {key: memory for key, memory in others.items() if key not in result.supported}
        for key, record in partly.items():
            preceding = record.preceding is not None and self._is_copy(record.preceding)
            spans = self._parts.get(key, ())
            if spans or preceding:
                result.blacked_out[key] = (record, spans, preceding)
        return result

    def _doom(self, found: Iterable[MemoryRecord]) -> None:
        for memory in found:
            if memory.id not in self._memories:
                chain = self._view.chain(memory.id)
                self._memories.update((m.id, m) for m in chain if m.state is not State.ERASED)

    def _doom_unsupported(self) -> None:
        """Take the memories that rest on what goes and on nothing else that says the same."""
        citing = [memory for memory in self._traces.citing(self._evidence) if memory.id not in self._memories]
        self._supported = supports(self._view, citing, self._evidence)
        alone = [memory for memory in citing if memory.id not in self._supported]
        self._unsupported.update(memory.id for memory in alone)
        self._doom(alone)

    def _doom_repeated(self) -> None:
        """Take the very words of what is to go where they stand in other messages, unless memories that stay cite them.

        A memory whose messages were all taken back goes too: nobody sees it, so nobody could name it.
        """
        fresh = [memory for memory in self._taking_sources() if memory.id not in self._compared]
        self._compared.update(memory.id for memory in fresh)
        self._statements.update(normal_form(memory.content) for memory in fresh)
        for memory in fresh:
            memories, evidence = self._traces.mentioning(terms(memory.content))
            self._doom(other for other in memories if self._is_repeated(other.content) and self._is_taken_back(other))
            self._mentioned.update((r.id, r) for r in evidence if r.speaker.supports_memories and self._repeats(r))

    def _is_repeated(self, text: str) -> bool:
        return normal_form(text) in self._statements

    def _repeats(self, record: Evidence) -> list[Span]:
        return [s for s in sentences(record.content) if self._is_repeated(record.content[s.start : s.end])]

    def _is_taken_back(self, memory: MemoryRecord) -> bool:
        evidence = self._view.evidence({source.evidence_id for source in memory.sources})
        return all(record.status is EvidenceStatus.WITHDRAWN for record in evidence.values())

    def _taking_sources(self) -> list[MemoryRecord]:
        """The memories whose sources go with them: not those that only lost their support, whose others stay."""
        return [memory for memory in self._memories.values() if memory.id not in self._unsupported]

    def _follow_replies(self) -> None:
        """What was declared to be made from what goes: replies, and messages that were taken back.

        Of a memory that only lost its support, replies alone: a message that was taken back is another one that stays.
        """
        fresh = [key for key in (*self._memories, *self._evidence) if key not in self._followed]
        self._followed.update(fresh)
        made = self._traces.dependents([key for key in fresh if key not in self._unsupported])
        copied = self._traces.dependents([key for key in fresh if key in self._unsupported])
        made += [record for record in copied if not record.speaker.supports_memories]
        found = list({record.id: record for record in made if record.id not in self._evidence}.values())
        self._depth += bool(found)
        if self._depth > MAX_DEPTH or len(found) > MAX_STEP:
            raise InputError(
                f"{len(found)} replies depend on it at step {self._depth}; {MAX_STEP} at each of {MAX_DEPTH} steps are"
                " followed",
                remedy="forget the sessions of those replies first",
                code="dependency_limit",
            )
        self._evidence.update((record.id, record) for record in found)

    def _settle_sources(self) -> None:
        """Decide of every source of what goes whether it goes altogether or in part."""
        cited = {source.evidence_id for memory in self._taking_sources() for source in memory.sources}
        sources = {**self._mentioned, **self._view.evidence(cited - self._evidence.keys())}
        for key, record in sources.items():
            if key in self._evidence:
                continue
            others = [memory for memory in self._traces.citing([key]) if memory.id not in self._memories]
            same = [memory for memory in others if self._says_the_same(memory, key)]
            self._doom(same)
            others = [memory for memory in others if memory.id not in self._memories]
            spans = self._part(record, others)
            left = any(char.isalnum() for char in without(record.content, spans))
            if (key in cited and not others) or not left:
                self._evidence[key] = record
            else:
                self._partly[key] = record
                self._parts[key] = spans
                self._kept.update((memory.id, memory) for memory in others)

    def _says_the_same(self, other: MemoryRecord, key: str) -> bool:
        """Whether ``other`` rests on the very words that go, not only on a lead such as "I" before them."""
        main = _main_span(other, key)
        return any(
            main.overlaps(_main_span(memory, key))
            for memory in self._taking_sources()
            if any(source.evidence_id == key for source in memory.sources)
        )

    def _part(self, record: Evidence, others: Sequence[MemoryRecord]) -> tuple[Span, ...]:
        """The sentences of what goes, without the words that ``others`` cite."""
        gone = [
            _span(source)
            for memory in self._taking_sources()
            for source in memory.sources
            if source.evidence_id == record.id
        ]
        if record.id in self._mentioned:
            # Whether a word is a name depends on its sentence.
            gone.extend(s for s in sentences(record.content) if self._is_named(record.content[s.start : s.end]))
            gone.extend(self._repeats(record))
            gone.extend(holding(record.content, self._asked, self._traces))
        whole = [span for span in sentences(record.content) if any(span.overlaps(other) for other in gone)]
        cited = united(_span(s) for memory in others for s in memory.sources if s.evidence_id == record.id)
        return _minus(united([*gone, *whole]), cited)

    def _words(self) -> list[str]:
        """The statements that go, as they may have been copied into replies; each is looked for once."""
        texts = [memory.content for memory in self._memories.values()]
        texts += [r.content for r in self._evidence.values() if r.speaker.supports_memories]
        texts += [text for one in self._supported.values() for text in one.unsaid]
        fresh = [text for text in dict.fromkeys(texts) if text not in self._worded]
        self._worded.update(fresh)
        return [word for word in dict.fromkeys(map(core, fresh)) if word and word not in self._searched]

    def _take_copies(self, words: Sequence[str]) -> None:
        """Replies that hold one of ``words``, and sources that keep such a reply or one that goes."""
        self._searched.update(words)
        said = (r.content for r in self._evidence.values() if not r.speaker.supports_memories)
        replies = {plain(content) or content for content in said} - self._replies
        self._replies |= replies
        for record in self._traces.copies([*words, *replies]):
            if record.speaker is Speaker.ASSISTANT and self._holds(record.content, words):
                self._evidence[record.id] = record
            elif record.preceding is not None and self._is_copy(record.preceding):
                self._partly.setdefault(record.id, record)

    def _holds(self, text: str, words: Iterable[str]) -> bool:
        said = plain(text)
        return any(places(said, word) for word in words)

    def _is_copy(self, preceding: str) -> bool:
        whole = (plain(preceding) or preceding) in self._replies
        asked = self._traces.holds(preceding, self._asked)
        return whole or asked or self._is_named(preceding) or self._holds(preceding, self._searched)


def holding(text: str, words: Sequence[str], traces: Traces) -> list[Span]:
    """The sentences of ``text`` that each hold all ``words``, which are terms."""
    return [s for s in sentences(text) if traces.holds(text[s.start : s.end], words)]


def without(text: str, spans: Sequence[Span]) -> str:
    """``text`` but for ``spans``, which are in order and apart."""
    for span in reversed(spans):
        text = text[: span.start] + text[span.end :]
    return text


def _span(source: Source) -> Span:
    return Span(source.start, source.end)


def _main_span(memory: MemoryRecord, key: str) -> Span:
    spans = [_span(source) for source in memory.sources if source.evidence_id == key]
    return max(spans, key=lambda span: span.end - span.start)


def _minus(spans: Sequence[Span], kept: Sequence[Span]) -> tuple[Span, ...]:
    """The parts of ``spans`` outside ``kept``; both in order and apart."""
    left = list(spans)
    for other in kept:
        cut = []
        for span in left:
            if not span.overlaps(other):
                cut.append(span)
                continue
            if span.start < other.start:
                cut.append(Span(span.start, other.start))
            if other.end < span.end:
                cut.append(Span(other.end, span.end))
        left = cut
    return tuple(left)
