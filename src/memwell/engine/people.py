"""The people of a scope, as far as a reader may know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

from memwell.domain.lens import Lens
from memwell.domain.memory import State
from memwell.domain.people import Alias, People, Person, people_of
from memwell.domain.scope import Scope
from memwell.domain.text import fold, query_terms, terms
from memwell.engine.ports import Question, View
from memwell.engine.seeing import seen
from memwell.engine.traces import Traces


class Naming(Protocol):
    """How statements name people, as far as their wording tells."""

    def ties(self, text: str, known: Callable[[str], bool]) -> Sequence[tuple[str, str]]:
        """Roles and names of whoever ``text`` says is that to the user ("Ann is my sister").

        Args:
            known: whether a word that is written as any other word is somebody's name.
        """

    def bare(self, person: str) -> str:
        """``person`` without the words that make a role the user's: "my sister" is asked for as "sister"."""

    def is_role(self, role: str, wanted: str) -> bool:
        """Whether ``role`` is the role ``wanted``: a little sister is a sister."""

    def names(self, text: str, person: str) -> bool:
        """Whether ``text`` names ``person``, a name or a role, and nothing that is spelt alike."""


def known_people(view: View, scope: Scope, lens: Lens) -> People:
    """Who is who, as far as the reader may know."""
    return people_of(seen(view, replace(lens, kinds=None), view.aliases(scope)))


def with_other_names(question: Question, people: People) -> Question:
    """``question`` with the words of the other names of everyone whom it names."""
    asked = set(question.terms)
    more: dict[str, None] = {}
    for person in people.persons:
        names = [alias.name for alias in person.aliases]
        if any(asked.issuperset(terms(name)) and people.named(name) is person for name in names):
            more.update((term, None) for name in names for term in query_terms(name, frozenset()))
    return replace(question, terms=tuple(dict.fromkeys([*question.terms, *more]))) if more else question


def with_role(people: People, view: View, scope: Scope, role: str, naming: Naming) -> People:
    """``people`` with whoever memories say is the user's ``role``, if they name one person and no more."""
    told = _told(view.traces(scope), role, naming)
    full = max((alias.name for alias in told.values()), key=len, default="")
    if not full or not all(fold(f"{full} ").startswith(f"{name} ") for name in told):
        return people
    known = [*told.values()]
    known += [replace(alias, name=f"{other} {alias.name}") for alias in known for other in (role, *sorted(alias.roles))]
    aliases = [Alias(one.name, one.memory_id) for one in known]
    same = {p.name: p for p in map(people.named, (role, *(alias.name for alias in aliases))) if p is not None}
    aliases += [other for person in same.values() for other in person.aliases]
    others = tuple(person for person in people.persons if person.name not in same)
    return People((*others, Person(role, tuple({fold(a.name): a for a in reversed(aliases)}.values()))))


@dataclass(frozen=True, slots=True)
class _Told:
    """A name, the memory that tells it first, and the roles it is told for."""

    name: str
    memory_id: str
    roles: frozenset[str] = frozenset()


def _told(traces: Traces, role: str, naming: Naming) -> dict[str, _Told]:
    """The names that memories tell for ``role``, whole and first names alone, folded."""
    told: dict[str, _Told] = {}
    known = cache(partial(_is_name, traces))
    for memory in traces.mentioning(terms(role))[0]:
        if memory.state is State.RETRACTED:
            continue
        for other, full in (*naming.ties(memory.content, known), *_cuts(memory.subject)):
            if not naming.is_role(other, role):
                continue
            for name in (full, full.split()[0]):
                one = told.setdefault(fold(name), _Told(name, memory.id))
                told[fold(name)] = replace(one, roles=one.roles | {other})
    return told


def _is_name(traces: Traces, word: str) -> bool:
    """Whether a memory is about somebody of that name."""
    subjects = [memory.subject for memory in traces.mentioning(terms(word))[0]]
    parts = ((part, subject) for subject in subjects for part in subject.split())
    return any(fold(part) == word and (part[:1].isupper() or part == subject) for part, subject in parts)


def _cuts(subject: str) -> Iterator[tuple[str, str]]:
    """The subject cut in two between words: a role and a name, or nothing of the sort; "Tom’s sister" is no name."""
    words = subject.split()
    if not any(apostrophe in subject for apostrophe in "'’"):
        yield from ((" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words)))
