"""Several people who speak in one scope: what one says of themself touches nothing of another's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memwell.builtin.language import Language
from memwell.builtin.packs import choose_language, load_languages
from memwell.builtin.persons import has_role
from memwell.domain.decision import Candidate
from memwell.domain.indexed import SPEAKER
from memwell.domain.people import USER
from memwell.domain.text import fold
from memwell.engine.ports import Comparison, Head, Verdict


def judged(
    comparison: Comparison, judge: Callable[[Comparison], Verdict], languages: tuple[Language, ...] | None = None
) -> Verdict:
    """The verdict of ``judge``, who is not shown what others say of themselves."""
    known, places = _heard(comparison, languages)
    verdict = judge(known)
    return replace(verdict, targets=tuple(places[i] for i in verdict.targets))


def _heard(comparison: Comparison, languages: tuple[Language, ...] | None) -> tuple[Comparison, list[int]]:
    """``comparison`` without what others say of themselves, and the places of the heads that are left.

    What says nothing of its speaker ("The standup is at nine") is about one thing, whoever says it: its subject is then
    the user's, as where one person speaks.
    """
    candidate = comparison.candidate
    speaker = candidate.qualifiers.get(SPEAKER)
    if speaker is None and all(head.speaker is None for head in comparison.heads):
        return comparison, list(range(len(comparison.heads)))
    packs = languages or load_languages()
    private = _private(candidate, speaker, packs)
    places = [
        i
        for i, head in enumerate(comparison.heads)
        if not (private and _differ(speaker, head.speaker) and _private(head, head.speaker, packs))
    ]
    heads = (comparison.heads[i] for i in places)
    return (
        replace(
            comparison,
            candidate=replace(candidate, subject=_subject(candidate, speaker, packs)),
            heads=tuple(replace(head, subject=_subject(head, head.speaker, packs)) for head in heads),
            situations=tuple(comparison.situations[i] for i in places),
        ),
        places,
    )


def _differ(one: str | None, other: str | None) -> bool:
    return fold(one or "") != fold(other or "")


def _subject(statement: Candidate | Head, speaker: str | None, packs: tuple[Language, ...]) -> str:
    """Whom ``statement`` is about, the user where it is about nobody."""
    of_speaker = speaker is not None and fold(statement.subject) == fold(speaker)
    return USER if of_speaker and not _personal(statement, packs) else statement.subject


def _private(statement: Candidate | Head, speaker: str | None, packs: tuple[Language, ...]) -> bool:
    """Whether the speaker tells of themself, or of someone who is theirs ("my sister")."""
    subject = statement.subject
    if fold(subject) == fold(speaker or USER):
        return _personal(statement, packs)
    return subject != USER and has_role(subject, choose_language(statement.content, packs))


def _personal(statement: Candidate | Head, packs: tuple[Language, ...]) -> bool:
    language = choose_language(statement.content, packs)
    return statement.attribute is not None or language.has("oneself", language.fold(statement.content))
