from __future__ import annotations

import logging
import sys

import pytest

from memwell import errors
from memwell.errors import MemwellError
from memwell.interfaces.serving.logs import JsonLines
from memwell.interfaces.serving.problems import SCHEMA, problem, status_of


def every_error(base: type[MemwellError] = MemwellError) -> list[type[MemwellError]]:
    return [narrow for child in base.__subclasses__() for narrow in (child, *every_error(child))]


@pytest.mark.parametrize("kind", every_error())
def test_every_error_has_a_status_of_its_own(kind: type[MemwellError]) -> None:
    fault_of_the_server = (errors.StorageError, errors.ConfigurationError, errors.UnreachableError)
    status = status_of(kind("x", remedy="y"))
    assert (status == 500) is (issubclass(kind, fault_of_the_server) and status not in (503, 507))


def test_a_problem_can_hold_any_text() -> None:
    answer = problem(MemwellError("half a character \ud800, 绿茶", remedy="y"))
    assert b"\\ud800" in answer.body
    assert "绿茶".encode() in answer.body
    assert all(name.encode() in answer.body for name in SCHEMA["required"])


def test_a_log_line_tells_the_place_of_a_fault_but_not_its_words() -> None:
    try:
        raise ValueError("secret words")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "failed", None, sys.exc_info())
    line = JsonLines().format(record)
    assert "ValueError" in line
    assert "test_problems" in line
    assert "secret" not in line
