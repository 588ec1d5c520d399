"""Who is who: the names of one person, as statements have told them ("Robert goes by Bob").

Nothing of this is stored: it is read from the current memories that tell names, so it is corrected, and erased, with
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from memwell.domain.memory import MemoryRecord
from memwell.domain.text import fold

# Subjects of what the user says of themself, and of what is told of someone whom only a pronoun names.
USER: Final = "user"
SOMEONE: Final = "someone"
# Attribute of the memories that tell names; their value holds them, joined by SAME.
ALIAS: Final = "alias"
SAME: Final = " = "


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of a person, and the memory that tells it."""

    name: str
    memory_id: str

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "memory_id": self.memory_id}


@dataclass(frozen=True, slots=True)
class Person:
    """Someone of whom more than one name is known.

    Attributes:
        name: how statements are ascribed to the person, role included where one is told ("friend Robert").
        aliases: the names that go without a role, each with the memory that told it first.
    """

    name: str
    aliases: tuple[Alias, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "aliases": [alias.to_dict() for alias in self.aliases]}

    @property
    def subjects(self) -> tuple[str, ...]:
        """Everything that statements about the person may name as their subject."""
        return tuple(dict.fromkeys([self.name, *(alias.name for alias in self.aliases)]))


@dataclass(frozen=True, slots=True)
class People:
    """The people of a scope of whom names are told; two of one name stay two."""

    persons: tuple[Person, ...] = ()

    def named(self, name: str) -> Person | None:
        """The person of that name or subject; ``None`` where nobody is, or where several are."""
        key = fold(name)
        found = [p for p in self.persons if key in {fold(subject) for subject in p.subjects}]
        return found[0] if len(found) == 1 else None

    def opening(self, text: str) -> str | None:
        """The longest known name, as it was told, that ``text`` begins with."""
        folded = fold(text)
        names = (alias.name for person in self.persons for alias in person.aliases)
        return max((name for name in names if _begins(folded, fold(name))), key=len, default=None)

    def canonical(self, subject: str) -> str:
        """The subject that stands for all names of the person, or ``subject`` itself."""
        person = self.named(subject)
        return subject if person is None else person.name

    def subjects(self, subject: str) -> tuple[str, ...]:
        """All subjects that mean the same person, ``subject`` among them."""
        person = self.named(subject)
        return (subject,) if person is None else tuple(dict.fromkeys([subject, *person.subjects]))


def joined(names: Iterable[str]) -> str:
    """Names of one person as a memory's value."""
    return SAME.join(names)


def people_of(memories: Iterable[MemoryRecord]) -> People:
    """Who is who, from memories that tell names; others are passed over.

    Two such memories are about one person if they share a name and no two roles: a friend Tom and a colleague Tom are
    two people.
    """
    persons: list[Person] = []
    for memory in sorted(memories, key=lambda m: (m.recorded_at, m.id)):
        if memory.attribute != ALIAS or not memory.value:
            continue
        told = _person(memory)
        same = [person for person in persons if _same(person, told)]
        if len(same) == 1:
            persons[persons.index(same[0])] = _merged(same[0], told)
        else:
            persons.append(told)
    return People(tuple(persons))


def _person(memory: MemoryRecord) -> Person:
    names = (memory.value or "").split(SAME)
    return Person(memory.subject, tuple(Alias(name, memory.id) for name in names))


def _names(person: Person) -> set[str]:
    return {fold(alias.name) for alias in person.aliases}


def _roleless(person: Person) -> bool:
    return fold(person.name) in _names(person)


def _same(one: Person, other: Person) -> bool:
    first, second = sorted((fold(one.name), fold(other.name)), key=len)
    if first == second:
        return True
    # "sister" and "sister Ann" are one, where they share a name.
    alike = _roleless(one) or _roleless(other) or second.startswith(first)
    return alike and bool(_names(one) & _names(other))


def _merged(one: Person, other: Person) -> Person:
    known = _names(one)
    aliases = (*one.aliases, *(alias for alias in other.aliases if fold(alias.name) not in known))
    return Person(max((one.name, other.name), key=len), aliases)


def _begins(text: str, name: str) -> bool:
    after = text[len(name) : len(name) + 1]
    return text.startswith(name) and not (after.isalnum() and after.isascii())
