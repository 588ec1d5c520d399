"""The people of a scope, as far as a reader may know them."""

from __future__ import annotations

from dataclasses import replace

from memwell.domain.lens import Lens, sees_memory
from memwell.domain.people import People, people_of
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.domain.text import query_terms, terms
from memwell.engine.ports import Question, View


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
