"""mem0's methods and result shapes, on a store and on a server."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memwell import Memory as Engine
from memwell import MemwellError
from memwell.adapters.mem0 import Memory
from memwell.client import Client
from memwell.errors import InputError, NotFoundError
from tests.interfaces.servers import Running

APPS = (f"app-{number}" for number in itertools.count())
SHAPE = {"id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id"}


@pytest.fixture(params=["embedded", "served"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    if request.param == "embedded":
        opened = Memory(Engine(tmp_path / "memory.db"))
    else:
        server: Running = request.getfixturevalue("server")
        opened = Memory(Client(server.url, app_id=next(APPS)))
    yield opened
    opened.close()


def test_added_memories_are_told_with_their_event(memory: Memory) -> None:
    messages = [
        {"role": "user", "content": "I live in Lyon."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "我喜欢喝绿茶。"},
    ]
    added = memory.add(messages, user_id="ann")
    assert [(row["memory"], row["event"]) for row in added["results"]] == [
        ("I live in Lyon.", "ADD"),
        ("我喜欢喝绿茶。", "ADD"),
    ]
    assert all(row.keys() == {"id", "memory", "event"} for row in added["results"])
    assert memory.add("What is the time?", user_id="ann") == {"results": []}
    (again,) = memory.add("I live in Lyon.", user_id="ann")["results"]
    assert (again["id"], again["event"]) == (added["results"][0]["id"], "NONE")


def test_a_memory_that_is_taken_over_keeps_its_id(memory: Memory) -> None:
    (first,) = memory.add("I live in Lyon.", user_id="ann")["results"]
    (changed,) = memory.add("I moved to Rome.", user_id="ann")["results"]
    assert (changed["event"], changed["previous_memory"]) == ("UPDATE", "I live in Lyon.")
    assert changed["id"] == first["id"]
    found = memory.get(first["id"])
    assert found is not None
    assert found["memory"] == "I moved to Rome."
    assert [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(first["id"])] == [
        ("ADD", None, "I live in Lyon."),
        ("UPDATE", "I live in Lyon.", "I moved to Rome."),
    ]


def test_search_finds_the_best_first(memory: Memory) -> None:
    memory.add("I live in Lyon. My cat is called Tom.", user_id="ann")
    memory.add("My cat is called Max.", user_id="bob")
    found = memory.search("What is my cat called?", filters={"user_id": "ann"})["results"]
    assert found[0]["memory"] == "My cat is called Tom."
    assert found[0].keys() == SHAPE | {"score"}
    assert found[0]["user_id"] == "ann"
    assert memory.search("What is my cat called?", user_id="ann", limit=1)["results"] == found[:1]
    assert memory.search("What is my cat called?", user_id="ann", top_k=1)["results"] == found[:1]
    assert memory.search("What is my cat called?", user_id="ann", threshold=1.1) == {"results": []}
    assert memory.search("猫", user_id="nobody") == {"results": []}


def test_all_memories_of_a_user_an_agent_or_a_run(memory: Memory) -> None:
    memory.add("I live in Lyon.", user_id="ann", run_id="monday")
    memory.add("I like tea.", user_id="ann", run_id="tuesday")
    memory.add("I like maps.", user_id="ann", agent_id="planner")
    everything = memory.get_all(user_id="ann")["results"]
    assert [row["memory"] for row in everything] == ["I like tea.", "I live in Lyon."]
    assert everything[0].keys() == SHAPE | {"run_id"}
    assert [row["memory"] for row in memory.get_all(filters={"user_id": "ann", "run_id": "monday"})["results"]] == [
        "I live in Lyon."
    ]
    (planned,) = memory.get_all(user_id="ann", agent_id="planner")["results"]
    assert (planned["memory"], planned["agent_id"]) == ("I like maps.", "planner")
    assert len(memory.get_all(user_id="ann", limit=1)["results"]) == 1
    found = memory.search("tea or Lyon?", user_id="ann", run_id="tuesday")["results"]
    assert {row["run_id"] for row in found} <= {"tuesday"}


def test_a_memory_is_of_every_run_that_supports_it(memory: Memory) -> None:
    for run in ("monday", "tuesday"):
        memory.add("I live in Lyon.", user_id="ann", run_id=run)
    memory.add("I like tea.", user_id="ann", run_id="tuesday")
    for run, words in (("monday", {"I live in Lyon."}), ("tuesday", {"I live in Lyon.", "I like tea."})):
        rows = memory.get_all(user_id="ann", run_id=run)["results"]
        assert {(row["memory"], row["run_id"]) for row in rows} == {(word, run) for word in words}
    found = memory.search("Where do I live?", user_id="ann", run_id="tuesday", limit=1)["results"]
    assert [(row["memory"], row["run_id"]) for row in found] == [("I live in Lyon.", "tuesday")]
    assert memory.get_all(user_id="ann", run_id="friday") == {"results": []}
    memory.delete_all(user_id="ann", run_id="tuesday")  # what monday supports too stays
    for run_id in (None, "monday"):
        assert [row["memory"] for row in memory.get_all(user_id="ann", run_id=run_id)["results"]] == ["I live in Lyon."]
    assert memory.get_all(user_id="ann", run_id="tuesday") == {"results": []}


def test_update_and_delete(memory: Memory) -> None:
    (row,) = memory.add("I live in Lyon.", user_id="ann")["results"]
    assert memory.update(row["id"], "I live in Rome.") == {"message": "updated"}
    assert memory.update(row["id"], data="I live in Oslo.") == {"message": "updated"}
    (listed,) = memory.get_all(user_id="ann")["results"]
    assert (listed["id"], listed["memory"]) == (row["id"], "I live in Oslo.")
    assert listed["created_at"] < listed["updated_at"]
    assert memory.delete(row["id"]) == {"message": "deleted"}
    assert memory.get(row["id"]) is None
    assert memory.get_all(user_id="ann") == {"results": []}
    history = memory.history(row["id"])
    assert [step["event"] for step in history] == ["ADD", "UPDATE", "UPDATE", "DELETE"]
    assert history[-1]["is_deleted"]
    assert {step["memory_id"] for step in history} == {row["id"]}
    assert len({step["id"] for step in history}) == 4


def test_everything_of_one_can_be_deleted(memory: Memory) -> None:
    memory.add("I live in Lyon. I like tea.", user_id="ann")
    memory.add("I like coffee.", user_id="bob")
    assert memory.delete_all(user_id="ann") == {"message": "deleted"}
    assert memory.get_all(user_id="ann") == {"results": []}
    assert len(memory.get_all(user_id="bob")["results"]) == 1


def test_what_cannot_be_kept_is_refused_instead_of_dropped(memory: Memory) -> None:
    with pytest.raises(InputError, match="metadata"):
        memory.add("I live in Lyon.", user_id="ann", metadata={"topic": "home"})
    with pytest.raises(InputError, match="infer"):
        memory.add("I live in Lyon.", user_id="ann", infer=False)
    with pytest.raises(InputError, match="topic"):
        memory.search("home?", filters={"user_id": "ann", "topic": "home"})
    assert memory.get_all(user_id="ann") == {"results": []}
    assert memory.add("I live in Lyon.", user_id="ann", metadata=None)["results"]


def test_bad_input_says_what_to_do(memory: Memory) -> None:
    for call in (lambda: memory.add("x"), lambda: memory.search("x"), memory.get_all, memory.delete_all):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "no_user"
    assert memory.get("mem_unknown") is None
    changes: tuple[Callable[[], object], ...] = (
        lambda: memory.update("mem_unknown", "x"),
        lambda: memory.delete("mem_unknown"),
        lambda: memory.history("mem_unknown"),
    )
    for change in changes:
        with pytest.raises(NotFoundError):
            change()
    (row,) = memory.add("I live in Lyon.", user_id="ann")["results"]
    with pytest.raises(MemwellError):
        memory.update(row["id"], " ")
    with pytest.raises(InputError, match="text"):
        memory.update(row["id"])


def test_the_methods_are_those_of_mem0() -> None:
    names = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    assert names == {"add", "search", "get_all", "get", "update", "delete", "delete_all", "history", "close"}
