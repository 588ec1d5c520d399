"""Who is who, from memories that tell names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.memory import MemoryRecord
from memwell.domain.people import ALIAS, People, joined, people_of
from memwell.testing.doubles import make_evidence, make_memory


def told(number: int, subject: str, *names: str) -> MemoryRecord:
    evidence = make_evidence(f"ev_{number}")
    return make_memory(f"mem_{number}", evidence, subject=subject, attribute=ALIAS, value=joined(names))


def test_all_names_of_a_person_mean_the_person() -> None:
    people = people_of([told(1, "friend Robert", "Robert", "Bob"), told(2, "Bob", "Bob", "Bobby")])
    assert [person.name for person in people.persons] == ["friend Robert"]
    assert {people.canonical(name) for name in ("Robert", "bob", "Bobby", "friend Robert")} == {"friend Robert"}
    assert people.subjects("Bobby") == ("Bobby", "friend Robert", "Robert", "Bob")
    assert [(alias.name, alias.memory_id) for alias in people.persons[0].aliases] == [
        ("Robert", "mem_1"),
        ("Bob", "mem_1"),
        ("Bobby", "mem_2"),
    ]


def test_two_of_one_name_stay_two_and_the_name_alone_means_neither() -> None:
    people = people_of([told(1, "friend Robert", "Robert", "Bob"), told(2, "colleague Robert", "Robert", "Rob")])
    assert [person.name for person in people.persons] == ["friend Robert", "colleague Robert"]
    assert people.canonical("Robert") == "Robert"
    assert (people.canonical("Bob"), people.canonical("Rob")) == ("friend Robert", "colleague Robert")


def test_a_role_without_and_with_a_name_are_one_person() -> None:
    people = people_of([told(1, "sister", "Bunny"), told(2, "sister Ann", "Ann", "Bunny")])
    assert [person.name for person in people.persons] == ["sister Ann"]


def test_words_begin_with_a_known_name_only_where_it_is_a_word() -> None:
    people = people_of([told(1, "Robert", "Robert", "Bob"), told(2, "王小明", "王小明", "明明")])
    assert people.opening("Bob moved.") == "Bob"
    assert people.opening("Bobsleigh is fun.") is None
    assert people.opening("明明搬家了。") == "明明"
    assert people.opening("") is None


def test_memories_of_other_attributes_tell_nothing() -> None:
    assert people_of([make_memory("mem_1", make_evidence("ev_1"), attribute="residence", value="Lyon")]) == People()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["A", "B", "friend A", "boss A", "C"]), st.lists(st.sampled_from("ABCD"), min_size=1)
        ),
        max_size=6,
    )
)
def test_every_name_told_is_someones_and_canonical_names_stay_themselves(rows: list[tuple[str, list[str]]]) -> None:
    people = people_of(told(number, subject, *names) for number, (subject, names) in enumerate(rows))
    known = {name for person in people.persons for name in person.subjects}
    assert known >= {name for _, names in rows for name in names}
    for subject in known | {"nobody"}:
        assert people.canonical(people.canonical(subject)) == people.canonical(subject)
