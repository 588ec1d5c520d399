"""What keeps a memory when it loses a source: another message that says the same by itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker
from memwell.domain.indexed import SPEAKER, speaker_name
from memwell.domain.memory import FormedBy, Kind, MemoryRecord, Source
from memwell.domain.people import USER
from memwell.domain.text import is_unspaced, normal_form, terms

_REASON = "the message it was formed from is gone; another says the same"
_FORMED_BY = {Speaker.OBSERVED: FormedBy.OBSERVED, Speaker.IMPORT: FormedBy.IMPORTED}


def quoted(texts: Mapping[str, str], sources: Sequence[Source]) -> str:
    """The words of ``sources``, in order.

    Args:
        texts: evidence id → its content; a source whose evidence is gone gives nothing.
    """
    parts = [texts[source.evidence_id][source.start : source.end] for source in sources if source.evidence_id in texts]
    return ("" if is_unspaced("".join(parts)) else " ").join(parts)


def speaks_for_itself(memory: MemoryRecord, evidence: Mapping[str, Evidence]) -> bool:
    """Whether the words of ``memory`` stand in what it cites, or in the assistant's turn that a short reply confirms.

    What was derived from other memories has words of its own, and a turn that was erased cannot be asked any more.

    Args:
        evidence: what it cites, by id; all of it has to be there.
    """
    if memory.kind is Kind.ENTITY or memory.formed_by is FormedBy.DERIVED:
        return True
    wanted = normal_form(memory.content)
    for key in dict.fromkeys(source.evidence_id for source in memory.sources):
        record = evidence[key]
        kept = record.preceding
        if memory.formed_by is FormedBy.CONFIRMED and (kept is None or memory.content in kept):
            return True
        own = [source for source in memory.sources if source.evidence_id == key]
        if any(normal_form(text) == wanted for text in _statements(record, own)):
            return True
    return False


def resting_on_rest(
    memory: MemoryRecord, lost: Callable[[Source], bool], evidence: Mapping[str, Evidence]
) -> MemoryRecord | None:
    """``memory`` in the words of the messages that are left to it; ``None`` where none of them says it by itself.

    A message says it by itself with the same words, or with others in which the memory's value and some of its subject
    stand. What was derived needs all that it was derived from.

    Args:
        lost: tells the sources that go; a message of which one goes is lost altogether.
        evidence: what it cites, by id; what is not active, or missing, says nothing.
    """
    if memory.formed_by is FormedBy.DERIVED or memory.links.derived_from:
        return None
    gone = {source.evidence_id for source in memory.sources if lost(source)}
    left = tuple(source for source in memory.sources if source.evidence_id not in gone)
    for key in dict.fromkeys(source.evidence_id for source in left):
        record = evidence.get(key)
        if record is None or record.status is not EvidenceStatus.ACTIVE:
            continue
        if key == memory.sources[0].evidence_id:  # the one whose words it has
            return replace(memory, sources=left)
        own = [source for source in left if source.evidence_id == key]
        for text in _statements(record, own):
            if _says(memory, text):
                return _reworded(replace(memory, sources=left), text, record)
    return None


def _statements(record: Evidence, sources: Sequence[Source]) -> Iterator[str]:
    """What the sources within one message say: all of them, two together, as in "I" and "like tea", and each alone."""
    texts = {record.id: record.content}
    yield quoted(texts, sources)
    for pair in pairwise(sources):
        yield quoted(texts, pair)
    for source in sources:
        yield quoted(texts, [source])


def _says(memory: MemoryRecord, text: str) -> bool:
    if normal_form(text) == normal_form(memory.content):
        return True
    if memory.value is None:
        return False
    said = set(terms(text))
    # A part of a subject is enough, "Ann" of "sister Ann": whom the message is about was told when it was taken as one.
    is_about = memory.subject == USER or not said.isdisjoint(terms(memory.subject))
    return is_about and said.issuperset(terms(memory.value))


def _reworded(memory: MemoryRecord, text: str, record: Evidence) -> MemoryRecord:
    """``memory`` as ``text`` of ``record`` says it. Fields that hold words stay as far as these are still said."""
    if text == memory.content:
        return memory
    name = speaker_name(record)
    reworded = replace(
        memory,
        content=text,
        session_id=record.session_id,
        formed_by=_FORMED_BY.get(record.speaker, FormedBy.STATED),
        formation=replace(memory.formation, reason=_REASON),
    )
    same = normal_form(text) == normal_form(memory.content)
    others = {key: value for key, value in memory.qualifiers.items() if key != SPEAKER and (same or value in text)}
    reworded = replace(reworded, qualifiers=others if name is None else {**others, SPEAKER: name})
    if same:
        return reworded
    phrase = memory.time_expression
    return replace(
        reworded, time_expression=phrase if phrase is not None and phrase in text else None, occurred_at=None, extra={}
    )
