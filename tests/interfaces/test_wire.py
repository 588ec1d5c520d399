"""Results survive the way to another process, and arguments from there are checked in one place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from memwell import Memory, MemwellError
from memwell.interfaces.usecases.arguments import arguments_model, checked_arguments
from memwell.interfaces.usecases.table import FILE_CASES, USE_CASES
from memwell.interfaces.usecases.wire import from_wire, result_schema, to_wire


def results(memory: Memory) -> dict[str, Any]:
    """A result of each use case that is not empty."""
    written = memory.add("I live in Lyon and hate coriander. What about you?", request_id="r1")
    home = memory.list().memories[-1].id
    memory.update(home, "I live in Paris.")
    said = memory.add("I have two cats. My sister lives in Oslo.", session_id="pets")
    cats, sister = said.memory_ids
    source = said.evidence_ids[0]
    watched = memory.observe("editor", "dark mode is on", version=1, command_id="c1")
    governed = {
        "correct": memory.correct(cats, "I have three cats."),
        "mute": memory.mute(sister),
        "unmute": memory.unmute(sister),
        "permit": memory.permit(source, cloud=False),
        "observe": watched,
        "receipt": memory.receipt("c1"),
        "withdraw": memory.withdraw(watched.evidence_id),
        "preview_forget": (preview := memory.preview_forget([sister])),
        "forget": memory.forget(preview.token),
        "clean": memory.clean(),
    }
    first = memory.list().memories[0].id
    memory.delete(first)
    governed |= {"unarchive": memory.unarchive(first), "retract": memory.retract(first)}
    memory.add("Everyone calls Robert Bob.")
    return governed | {
        "add": written,
        "search": memory.search("where do I live? 绿茶", raw_limit=5, profile_limit=5),
        "list": memory.list(limit=1),
        "get": memory.get(home),
        "evidence": memory.evidence(limit=1),
        "people": memory.people(),
        "history": memory.history(home),
        "explain": memory.explain(home),
        "update": memory.update(memory.list().memories[0].id, "I live in Rome."),
        "delete": memory.delete(memory.list().memories[0].id),
        "status": memory.status(),
        "check": memory.check(),
        "resume": memory.resume(),
        "rebuild": memory.rebuild(),  # type: ignore[func-returns-value]
        "reindex": memory.reindex(),
        "list_jobs": [memory.jobs.list()[0]] if memory.add("I like maps.", wait=False).job_id else [],
        "retry_jobs": memory.jobs.retry(),
    }


def test_every_result_comes_back_as_it_was_and_fits_its_schema(memory: Memory) -> None:
    given = results(memory)
    assert given.keys() == USE_CASES.keys()
    for name, result in given.items():
        case = USE_CASES[name]
        sent = json.loads(json.dumps(to_wire(case, result)))
        schema = result_schema(case)
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(sent)
        back = from_wire(case, sent)
        assert to_wire(case, back) == to_wire(case, result), name
        assert type(back) is type(result) or isinstance(result, list), name
    assert (
        from_wire(USE_CASES["search"], to_wire(USE_CASES["search"], given["search"])).text() == given["search"].text()
    )


@pytest.mark.parametrize("name", USE_CASES)
def test_every_schema_of_arguments_is_closed(name: str) -> None:
    schema = arguments_model(USE_CASES[name]).model_json_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    with pytest.raises(MemwellError) as caught:
        checked_arguments(USE_CASES[name], {"nonsense": 1})
    assert caught.value.code == "unknown_argument"


@pytest.mark.parametrize(
    ("name", "given", "code"),
    [
        ("search", {}, "missing_argument"),
        ("search", {"query": 5}, "invalid_input"),
        ("search", {"query": "x", "limit": "5"}, "invalid_input"),
        ("search", {"query": "x", "limit": True}, "invalid_input"),
        ("search", {"query": "x", "limt": 5}, "unknown_argument"),
        ("search", {"query": None}, "invalid_input"),
        ("add", {"messages": [{"role": "king", "content": "secret words"}]}, "invalid_input"),
        ("add", {"messages": [{"role": "user", "content": {"secret": "words"}}]}, "invalid_input"),
        ("add", {"messages": []}, "invalid_input"),
        ("list", {"include_history": "secret words"}, "invalid_input"),
    ],
)
def test_unusable_arguments_are_named_without_repeating_them(name: str, given: dict[str, Any], code: str) -> None:
    with pytest.raises(MemwellError) as caught:
        checked_arguments(USE_CASES[name], given)
    assert caught.value.code == code
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


def test_an_argument_is_named_whatever_its_name() -> None:
    for name, given in (("search", {"query": 5}), ("plan_import", {"path": 5})):
        with pytest.raises(MemwellError, match=f"{next(iter(given))} is unusable"):
            checked_arguments({**USE_CASES, **FILE_CASES}[name], given)


def test_a_close_name_is_suggested() -> None:
    with pytest.raises(MemwellError) as caught:
        checked_arguments(USE_CASES["search"], {"query": "x", "limt": 5})
    assert "'limit'" in caught.value.remedy


def test_usual_messages_are_taken() -> None:
    for messages in (
        "I live in Lyon.",
        {"role": "user", "content": "I live in Lyon.", "id": 7, "at": "2026-01-01T00:00:00Z"},
        [{"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, {"role": "tool", "content": "ok"}],
        [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {}}]}],
    ):
        assert checked_arguments(USE_CASES["add"], {"messages": messages}) == {"messages": messages}
