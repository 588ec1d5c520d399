"""Nothing that ``Memory`` can do is missing on any interface."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from memwell import AsyncMemory, Memory
from memwell.client import AsyncClient, Client
from memwell.interfaces.usecases.table import FILE_CASES, LOCAL, USE_CASES, UseCase

ON_MEMORY = {case.name for case in USE_CASES.values() if not case.of}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_method_of_memory_is_a_use_case_or_says_why_not() -> None:
    assert public(Memory) == {*ON_MEMORY, *FILE_CASES, *LOCAL}
    assert not ({*USE_CASES} | {*FILE_CASES}) & {*LOCAL}


def test_async_memory_has_the_same_methods() -> None:
    assert public(AsyncMemory) == public(Memory)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_clients_have_every_use_case(kind: type) -> None:
    assert public(kind) == {*ON_MEMORY, *FILE_CASES, "jobs", "close", "scoped"}


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_clients_have_the_jobs_that_are_use_cases(kind: Any) -> None:
    jobs = kind("http://127.0.0.1:9").jobs
    assert {f"{name}_jobs" for name in public(type(jobs))} == {*USE_CASES} - ON_MEMORY


@pytest.mark.parametrize("case", [*USE_CASES.values(), *FILE_CASES.values()], ids=lambda case: case.name)
def test_every_use_case_says_what_it_does(case: UseCase) -> None:
    assert len(case.summary) > 20
    assert case.summary.endswith((".", "here"))  # a sentence
    assert len({other.route for other in USE_CASES.values()}) == len(USE_CASES)
    assert case.returns or hasattr(case.result, "to_dict") or case.result is type(None)


def test_arguments_come_with_their_words() -> None:
    search = USE_CASES["search"]
    assert list(search.arguments) == list(inspect.signature(Memory.search).parameters)[1:]
    assert search.arguments["query"].required
    assert "instead of what holds now" in search.arguments["as_of"].description
    assert search.arguments["raw_limit"].description.startswith("how many results")


def test_a_function_is_no_argument_for_another_process() -> None:
    assert dict(USE_CASES["reindex"].arguments) == {}
