"""Whom a statement is about, and who is who, as far as wording tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memwell.builtin.asides import Aside, asides
from memwell.builtin.attributes import Attribute, attributes_of
from memwell.builtin.language import Language, compiled
from memwell.domain.people import SOMEONE, USER
from memwell.domain.text import fold


def attributes_told(
    folded: str, language: Language, subject: str, speaker: str, meant: str | None = None
) -> tuple[str, tuple[Attribute, ...]]:
    """Whom a statement is about, with the attributes that it tells of them.

    What is said to be untrue, what was only told to others, and what others claim of the speaker tells none.

    Args:
        folded: the statement.
        subject: whom its beginning is about; where all its attributes are someone else's, it is about that person.
        speaker: subject of first-person statements.
        meant: whom a pronoun in it means, if anyone.
    """
    if language.has("untrue", folded):
        return subject, ()
    passing = asides(folded, language)
    own: list[Attribute] = []
    others: dict[str, list[Attribute]] = {}
    stated = _attributes_stated(folded, language, subject, speaker)
    told = [(owner, item) for owner, item in stated if not any(aside.covers(item.position) for aside in passing)]
    # What is denied is the statement, not what it tells in passing: one polarity cannot tell both.
    presupposed = () if _denied(folded, passing, language) else _attributes_presupposed(passing, language, speaker)
    for owner, item in [*told, *presupposed]:
        if owner in (None, subject) or (
            owner is not None and speaker not in (owner, subject) and same_subject(owner, subject, language)
        ):
            own.append(item)
        elif owner is not None and owner != speaker:
            others.setdefault(meant or SOMEONE if owner == SOMEONE else owner, []).append(item)
    if own or not others:
        return subject, tuple(own)
    owner = next(iter(others))
    return owner, tuple(others[owner])


def _attributes_stated(
    folded: str, language: Language, subject: str, speaker: str
) -> Iterator[tuple[str | None, Attribute]]:
    """The attributes that a statement tells, each with whose it is; see ``_owner``."""
    said = language.search("said_only", folded)
    claim = None if language.has("accepted", folded) else language.search("claim", folded)
    for item in attributes_of(folded, language):
        if said is not None and said.start() <= item.lead:
            continue
        owner = _owner(folded, item, language, speaker, None if subject == speaker else subject)
        if owner == speaker and claim is not None and claim.start() < item.lead:
            continue
        yield owner, item


def _denied(folded: str, passing: Sequence[Aside], language: Language) -> bool:
    """Whether a sentence is denied apart from its asides."""
    stated = "".join(char for place, char in enumerate(folded) if not any(aside.covers(place) for aside in passing))
    return bool(passing) and (language.has("negation", stated) or language.has("ended", stated))


def _attributes_presupposed(
    passing: Iterable[Aside], language: Language, speaker: str
) -> Iterator[tuple[str, Attribute]]:
    for aside in passing:
        about = _subject_named(aside.reads, language, speaker, None)
        for owner, item in _attributes_stated(aside.reads, language, about, speaker):
            yield owner or about, item


def _owner(folded: str, item: Attribute, language: Language, speaker: str, sayer: str | None) -> str | None:
    """Whose an attribute is, by the words before it; ``None`` where they name nobody.

    Args:
        sayer: whom a pronoun in them means first of all.
    """
    lead = folded[item.lead : item.start]
    inside = lead or folded[item.start : item.position]
    other = compiled(language.subject["other"]).search(inside)
    if other is not None:
        return as_written(other)
    if compiled(language.subject["first"]).search(inside):
        return speaker
    if any(compiled(sort.pronoun).search(inside) for sort in language.sorts.values()):
        return sayer or SOMEONE
    if not lead and _claimed_of_speaker(folded[: item.start], language):
        return speaker
    named = compiled(language.subject["lead_name"]).match(lead)
    return named.group(1) if named and fold(named.group(1)) not in language.stopwords else None


def _claimed_of_speaker(head: str, language: Language) -> bool:
    """Whether the words before an attribute are somebody's claim, the last subject of which is the first person."""
    firsts = [match.start() for match in compiled(language.subject["first"]).finditer(head)]
    others = [match.start() for match in compiled(language.subject["other"]).finditer(head)]
    claim = language.search("claim", f"{head}…")
    return claim is not None and bool(firsts) and firsts[-1] > max(others, default=-1)


def subject_of(text: str, language: Language, speaker: str = USER, previous: str | None = None) -> str:
    """Whom a sentence is about.

    Args:
        text: the sentence, not folded for case.
        speaker: subject of first-person statements.
        previous: whom a pronoun at the beginning means, if anyone.

    Words that only lead up to the statement ("I misspoke: …") do not count.

    Returns:
        ``speaker``, or role and name of someone else as written ("sister Aoife"), or ``SOMEONE``.
    """
    folded = language.fold(text)
    folded = compiled(language.subject["lead_in"]).sub("", folded, count=1)
    opening = next((aside.reads for aside in asides(folded, language) if aside.start == 0), folded)
    return _subject_named(opening, language, speaker, previous)


def _subject_named(folded: str, language: Language, speaker: str, previous: str | None) -> str:
    reported = _reported_subject(folded, language)
    if reported is not None:
        return reported
    first = compiled(language.subject["first"]).search(folded)
    other = compiled(language.subject["other"]).search(folded)
    if other is not None and not (first and _before(first, other)):
        joined = compiled(language.subject["together"]).search(folded[other.end() :].lstrip())
        if joined is None:
            return as_written(other)
    named = compiled(language.subject["named"]).match(folded)
    if named is not None and fold(named.group(1)) not in language.stopwords:
        claim = language.search("claim", folded)
        if first is None or (claim is not None and claim.start() <= named.start(1)):
            return named.group(1)
    pronoun = language.search("pronoun", folded)
    if pronoun is not None and (first is None or pronoun.end() <= first.start()):
        return previous if previous not in (None, speaker) else SOMEONE
    return speaker


def _reported_subject(folded: str, language: Language) -> str | None:
    """Whom a report is about that names someone else than who reports it: "Tom told me that Ann lives in Leeds"."""
    pattern = language.subject.get("report")
    report = compiled(pattern).match(folded) if pattern else None
    someone = someone_named(folded[report.end() :], language) if report else None
    return someone[0] if someone else None


def someone_named(folded: str, language: Language) -> tuple[str, int] | None:
    """Whom a clause begins with, where that is somebody by role or name, and how long their words are."""
    other = compiled(language.subject["other"]).match(folded)
    if other is not None:
        joined = compiled(language.subject["together"]).match(folded[other.end() :].lstrip())
        return None if joined else (as_written(other), other.end())
    named = compiled(language.subject["named"]).match(folded)
    if named is None or fold(named.group(1)) in language.stopwords:
        return None
    return named.group(1), named.end(1)


def names_told(folded: str, language: Language) -> tuple[str, tuple[str, ...]] | None:
    """Whose names a sentence tells, with the role where it tells one, and those names as written: one or two."""
    pattern = language.subject.get("alias")
    match = compiled(pattern).search(folded) if pattern else None
    if match is None or language.has("negation", folded) or language.has("hedge", folded):
        return None
    names = tuple(name for name in match.groups() if name)
    other = compiled(language.subject["other"]).search(folded)
    if other is None or (len(names) > 1 and other.group(2) != names[0]):
        return names[0], names
    return as_written(other), names


def as_written(other: re.Match[str]) -> str:
    """Role and name."""
    return " ".join(part.strip() for part in other.groups() if part)


def mentions(folded: str, language: Language) -> tuple[str, ...]:
    """Persons and animals that a text names, in its order."""
    pattern = language.subject.get("mention")
    found = compiled(pattern).finditer(folded) if pattern else ()
    return tuple(as_written(match) for match in found)


def person_meant(pronoun: str, people: Sequence[str], language: Language) -> str | None:
    """Whom of ``people`` (subjects, in the order of their mention) a pronoun means; ``None`` where that is uncertain.

    The last one that is surely of the pronoun's sort; or the only one whose sort nothing tells. A role and the same
    role with a name are one person, who is called by the fuller of the two.

    Args:
        pronoun: text that holds it.
    """
    sorts = language.sorts
    wanted = next((name for name, sort in sorts.items() if compiled(sort.pronoun).search(pronoun)), None)
    named = [person for person in people if person not in (USER, SOMEONE)]
    told = [(person, _sorts_of(person, language)) for person in named]
    fitting = [(person, of) for person, of in told if (wanted in of if of else not _is_thing(wanted, language))]
    if not fitting:
        return None
    last, of = fitting[-1]
    if len(of) != 1 and not all(same_subject(last, person, language) for person, _ in fitting):
        return None
    return max((person for person, _ in fitting if same_subject(last, person, language)), key=len, default=last)


def _sorts_of(person: str, language: Language) -> frozenset[str]:
    return frozenset(name for name, sort in language.sorts.items() if compiled(sort.person).search(person))


def _is_thing(sort: str | None, language: Language) -> bool:
    return sort is not None and language.sorts[sort].thing


def _before(first: re.Match[str], other: re.Match[str]) -> bool:
    """The first-person word is the subject, not the "my" of "my sister"."""
    return first.start() < other.start()


def same_subject(one: str, other: str, language: Language) -> bool:
    """True where two subjects may be one, as ``language`` tells roles from names.

    Names must be equal where both have one, or one a part of the other ("Ann", "Ann Smith"), and roles equal or words
    for the same ("mum", "mother"). A role alone is the same person as that role with a name, unless it is one that many
    have, such as a friend. A mere pronoun may be anyone but the user.
    """
    if USER in (one, other):
        return one == other
    if SOMEONE in (one, other):
        return True
    (role, name), (other_role, other_name) = _role_and_name(one, language), _role_and_name(other, language)
    if role and other_role and role != other_role:
        return False
    if name and other_name:
        words, others = set(name.split()), set(other_name.split())
        return words <= others or others <= words
    if name or other_name:
        return role == other_role and not _common(role, language)
    return role == other_role and not _common(role, language)


def has_role(subject: str, language: Language) -> bool:
    """Whether ``subject`` tells what someone is to the speaker: "sister", "friend Tom"."""
    return bool(_role_and_name(subject, language)[0])


def _role_and_name(subject: str, language: Language) -> tuple[str, str]:
    folded = language.fold(subject)
    role = compiled(language.subject["role"]).match(folded)
    end = role.end() if role else 0
    *before, last = fold(folded[:end]).rsplit(" ", 1)
    return " ".join([*before, language.synonyms.get(last, last)]), fold(folded[end:].strip())


def _common(role: str, language: Language) -> bool:
    return compiled(language.subject["common"]).search(role) is not None
