"""The people of a scope, as far as a reader may know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memwell.domain.lens import Lens, sees_memory
from memwell.domain.people import Alias, People, Person, people_of
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.domain.text import fold, query_terms, terms
from memwell.engine.ports import Question, View

Ties = Callable[[str], Sequence[tuple[str, str]]]


def known_people(view: View, scope: Scope, lens: Lens) -> People:
    """Who is who, as far as the reader may know."""
    told = view.aliases(scope)
    evidence = view.evidence({source.evidence_id for memory in told for source in memory.sources}) if told else {}
    everything = replace(lens, kinds=None)
    return people_of(m for m in told if sees_memory(everything, m, readable=readable(m, evidence, lens.target)))


def with_other_names(question: Question, people: People) -> Question:
    """``question`` with the words of the other names of everyone whom it names."""
    asked = set(question.terms)
    more: dict[str, None] = {}
    for person in people.persons:
        names = [alias.name for alias in person.aliases]
        if any(asked.issuperset(terms(name)) and people.named(name) is person for name in names):
            more.update((term, None) for name in names for term in query_terms(name, frozenset()))
    return replace(question, terms=tuple(dict.fromkeys([*question.terms, *more]))) if more else question


def with_role(people: People, view: View, scope: Scope, role: str, ties: Ties) -> People:
    """``people`` with whoever memories say is the user's ``role``, if they name one person and no more.

    Args:
        ties: roles and names that a statement tells of.
    """
    told: dict[str, Alias] = {}
    wanted = fold(role)
    memories, _ = view.traces(scope).mentioning(terms(role))
    for memory in memories:
        named = [name for other, name in ties(memory.content) if fold(other) == wanted]
        if fold(memory.subject).startswith(f"{wanted} "):
            named.append(memory.subject[len(role) :].strip())
        for name in named:
            told.setdefault(fold(name), Alias(name, memory.id))
    if len(told) != 1:
        return people
    (alias,) = told.values()
    full = f"{role} {alias.name}"
    same = [p for p in map(people.named, (role, full, alias.name)) if p is not None]
    aliases = [alias, Alias(full, alias.memory_id), *(other for person in same for other in person.aliases)]
    others = tuple(person for person in people.persons if person not in same)
    return People((*others, Person(role, tuple({fold(a.name): a for a in aliases}.values()))))
