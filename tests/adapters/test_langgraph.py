"""The contract of LangGraph's ``BaseStore``, held against LangGraph's own store and Memwell side by side."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from memwell import Memory, MemwellError
from memwell.adapters.langgraph import MemwellStore
from memwell.client import Client
from memwell.errors import InputError
from memwell.testing.doubles import FakeClock
from tests.interfaces.servers import Running

USERS = (f"user-{number}" for number in itertools.count())


@pytest.fixture(params=["langgraph's own", "embedded", "served"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseStore]:
    if request.param == "langgraph's own":
        yield InMemoryStore(index={"dims": 3, "embed": lambda texts: [_vector(text) for text in texts]})
    elif request.param == "embedded":
        with Memory(tmp_path / "memory.db", user_id="ann") as memory:
            yield MemwellStore(memory)
    else:
        server: Running = request.getfixturevalue("server")
        with Client(server.url, user_id=next(USERS)) as client:
            yield MemwellStore(client)


def _vector(text: str) -> list[float]:
    return [float(any(word in text for word in group)) for group in (("tea",), ("cat",), ("绿茶",))]


def places(items: Any) -> list[tuple[tuple[str, ...], str]]:
    return [(tuple(item.namespace), item.key) for item in items]


def test_what_was_put_is_got(store: BaseStore) -> None:
    value = {"食物": "绿茶", "n": 1.5, "deep": {"list": [1, None, True]}, "line": 'a\n"b"'}
    store.put(("memories", "ann"), "k1", value)
    item = store.get(("memories", "ann"), "k1")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("memories", "ann"), "k1", value)
    assert item.created_at <= item.updated_at
    assert item.created_at.tzinfo is not None


def test_what_was_not_put_is_none(store: BaseStore) -> None:
    store.put(("a",), "k1", {"v": 1})
    assert store.get(("a",), "k") is None
    assert store.get(("a",), "k11") is None
    assert store.get(("a", "b"), "k1") is None
    store.delete(("a",), "none")


def test_a_newer_value_takes_over_and_a_deleted_one_is_gone(store: BaseStore) -> None:
    for number in range(3):
        store.put(("a",), "k", {"v": number})
    store.put(("a",), "k", {"v": 2})  # the same again
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"v": 2}
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.search(("a",)) == []
    store.put(("a",), "k", {"v": 2})  # and may come again
    assert places(store.search(("a",))) == [(("a",), "k")]


def test_namespaces_do_not_mix(store: BaseStore) -> None:
    for namespace in (("a",), ("a", "b"), ("ab",), ("a", "b", "c")):
        store.put(namespace, "k", {"in": list(namespace)})
    store.put(("a",), ".k", {"v": "key that begins like a parting"})
    store.put(("a",), "b..k", {"v": "key that looks like a namespace"})
    assert sorted(places(store.search(("a",)))) == [
        (("a",), ".k"),
        (("a",), "b..k"),
        (("a",), "k"),
        (("a", "b"), "k"),
        (("a", "b", "c"), "k"),
    ]
    assert places(store.search(("a", "b", "c"))) == [(("a", "b", "c"), "k")]
    assert len(store.search(())) == 6
    item = store.get(("a",), "b..k")
    assert item is not None
    assert item.value["v"].startswith("key that looks")


def test_namespaces_are_listed(store: BaseStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "b"), ("x", "b"), ("x",)):
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces() == [("a", "b"), ("a", "b", "c"), ("x",), ("x", "b")]
    assert store.list_namespaces(prefix=("a",)) == [("a", "b"), ("a", "b", "c")]
    assert store.list_namespaces(prefix=("*", "b")) == [("a", "b"), ("a", "b", "c"), ("x", "b")]
    assert store.list_namespaces(suffix=("b",)) == [("a", "b"), ("x", "b")]
    assert store.list_namespaces(prefix=("a",), suffix=("c",)) == [("a", "b", "c")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("x",)]
    assert store.list_namespaces(limit=2, offset=1) == [("a", "b", "c"), ("x",)]
    assert store.list_namespaces(prefix=("nothing",)) == []


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        ({"n": 2}, ["2"]),
        ({"n": {"$eq": 2}}, ["2"]),
        ({"n": {"$ne": 2}}, ["1", "3", "4"]),
        ({"n": {"$gt": 1, "$lte": 3}}, ["2", "3"]),
        ({"n": {"$gte": 3}}, ["3", "4"]),
        ({"n": {"$lt": 2}}, ["1"]),
        ({"deep": {"q": 1}}, ["1"]),
        ({"deep": {"q": {"$gt": 1}}}, ["2", "3"]),
        ({"n": 2, "deep": {"q": 2}}, ["2"]),
        ({"m": 2}, []),
        ({}, ["1", "2", "3", "4"]),
    ],
)
def test_filters(store: BaseStore, wanted: dict[str, Any], keys: list[str]) -> None:
    for number in (1, 2, 3):
        store.put(("f",), str(number), {"n": number, "deep": {"q": number, "r": 0}})
    store.put(("f",), "4", {"n": 9, "deep": {"q": 0}})
    assert [item.key for item in store.search(("f",), filter=wanted)] == keys


def test_an_unknown_comparison_is_refused(store: BaseStore) -> None:
    store.put(("f",), "1", {"n": 1})
    with pytest.raises((ValueError, MemwellError), match="bad"):
        store.search(("f",), filter={"n": {"$bad": 1}})


def test_pages(store: BaseStore) -> None:
    for number in range(25):
        store.put(("p",), str(number), {"n": number})
    assert [item.key for item in store.search(("p",))] == [str(number) for number in range(10)]
    assert [item.key for item in store.search(("p",), limit=3, offset=23)] == ["23", "24"]


def test_questions_find_the_nearest_first(store: BaseStore) -> None:
    store.put(("m",), "tea", {"text": "I like tea, and every morning I drink tea"})
    store.put(("m",), "cat", {"text": "My cat is called Tom"})
    store.put(("m", "deep"), "绿茶", {"text": "我喜欢喝绿茶"})
    store.put(("other",), "tea", {"text": "I like tea too"})
    found = store.search(("m",), query="What is the name of my cat?")
    assert (found[0].namespace, found[0].key) == (("m",), "cat")
    assert {item.key for item in found} == {"tea", "cat", "绿茶"}
    assert found[0].score is not None
    found = store.search(("m",), query="绿茶", limit=1)
    assert (found[0].namespace, found[0].key) == (("m", "deep"), "绿茶")


def test_what_is_not_to_be_indexed_is_found_without_a_question_alone(store: BaseStore) -> None:
    store.put(("m",), "cat", {"text": "My cat is called Tom"}, index=False)
    (found,) = store.search(("m",), query="What is my cat called?")
    assert found.score is None
    assert [item.key for item in store.search(("m",))] == ["cat"]


def test_a_batch_reads_what_was_before_it_and_keeps_the_last_put(store: BaseStore) -> None:
    store.put(("z",), "k", {"v": 0})
    results = store.batch(
        [
            PutOp(("z",), "k", {"v": 1}),
            GetOp(("z",), "k"),
            PutOp(("z",), "k", {"v": 2}),
            SearchOp(("z",)),
            ListNamespacesOp(),
            PutOp(("z",), "gone", {"v": 3}),
            PutOp(("z",), "gone", None),
        ]
    )
    assert [result is None for result in results] == [True, False, True, False, False, True, True]
    assert results[1].value == {"v": 0}  # type: ignore[union-attr]
    assert [item.value for item in store.search(("z",))] == [{"v": 2}]


def test_the_same_works_in_asyncio(store: BaseStore) -> None:
    async def story() -> None:
        await asyncio.gather(*(store.aput(("a",), str(number), {"n": number}) for number in range(10)))
        found = await asyncio.gather(*(store.aget(("a",), str(number)) for number in range(10)))
        assert [item.value["n"] for item in found if item] == list(range(10))
        await store.adelete(("a",), "3")
        assert len(await store.asearch(("a",), limit=99)) == 9
        assert await store.alist_namespaces() == [("a",)]

    asyncio.run(story())


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph",)])
def test_a_namespace_that_langgraph_does_not_allow_is_refused(store: BaseStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - its own error is one
        store.put(namespace, "k", {"v": 1})


def test_a_value_is_not_read_once_its_life_time_is_over_and_swept_to_the_last_byte(
    tmp_path: Path, clock: FakeClock
) -> None:
    with Memory(tmp_path / "memory.db", user_id="ann", clock=clock) as memory:
        store = MemwellStore(memory, clock=clock)
        store.put(("a",), "brief", {"text": "My cat is called Xyzzyqk"}, ttl=5)
        store.put(("a",), "long", {"text": "My dog is called Plugh"}, ttl=60)
        store.put(("b",), "endless", {"text": "My cow is called Frobozz"})
        clock.advance(timedelta(minutes=4))
        assert store.get(("a",), "brief") is not None
        with pytest.raises(InputError, match="refresh_ttl"):
            store.get(("a",), "brief", refresh_ttl=True)
        with pytest.raises(InputError, match="refresh_ttl"):
            store.search(("a",), refresh_ttl=True)
        assert store.get(("b",), "endless", refresh_ttl=True) is not None
        clock.advance(timedelta(minutes=2))
        assert store.get(("a",), "brief") is None
        assert places(store.search((), query="What is my cat called?"))[0][1] != "brief"
        assert [item.key for item in store.search(("a",))] == ["long"]
        assert "Xyzzyqk" not in memory.search("What is my cat called?").text()
        store.put(("a",), "long", {"text": "My dog is called Plugh"})  # again, and without end
        assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
        clock.advance(timedelta(days=365))
        assert store.list_namespaces() == [("a",), ("b",)]
        assert memory.check() == []
        wrong: tuple[Any, ...] = (0, -1, float("nan"), float("inf"), 1e300, True, "x", [5])
        for ttl in wrong:
            with pytest.raises(InputError, match=re.escape(f"ttl is {ttl!r}")) as caught:
                store.batch([PutOp(("a",), "before", {"v": 1}), PutOp(("a",), "k", {"v": 1}, ttl=ttl)])
            assert caught.value.code == "invalid_ttl"
            with pytest.raises(InputError):
                MemwellStore(memory, default_ttl=ttl)
        assert store.get(("a",), "before") is None
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"Plugh" in held
    assert b"Xyzzyqk" not in held


def test_values_live_as_long_as_the_store_says(tmp_path: Path, clock: FakeClock) -> None:
    with Memory(tmp_path / "memory.db", user_id="ann", clock=clock) as memory:
        store = MemwellStore(memory, default_ttl=5, clock=clock)
        store.put(("a",), "k", {"v": 1})
        store.put(("a",), "endless", {"v": 2}, ttl=None)
        clock.advance(timedelta(minutes=5))
        assert [item.key for item in store.search(("a",))] == ["endless"]
        assert store.list_namespaces() == [("a",)]


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", user_id="ann") as memory:
        store = MemwellStore(memory)

        def write(name: str) -> None:
            for number in range(5):
                store.put(("a",), "shared", {"by": name, "n": number})
                store.put(("a",), f"{name}-{number}", {"n": number})

        threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.search(("a",), limit=99)) == 21
        shared = store.get(("a",), "shared")
        assert shared is not None
        assert shared.value["n"] == 4
        assert memory.check() == []


def test_what_was_deleted_is_in_no_file(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", user_id="ann") as memory:
        store = MemwellStore(memory)
        store.put(("a",), "k", {"text": "xyzzyqk"})
        store.put(("a",), "k2", {"text": "plughqk"})
        store.put(("a",), "k2", {"text": "newer"})
        store.delete(("a",), "k")
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"newer" in held
    assert b"xyzzyqk" not in held
    assert b"plughqk" not in held


def test_what_is_too_large_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", user_id="ann") as memory:
        store = MemwellStore(memory)
        store.put(("a",), "k", {"text": "small"})
        with pytest.raises(MemwellError):
            store.put(("a",), "k", {"text": "x" * 70_000})
        item = store.get(("a",), "k")
        assert item is not None
        assert item.value == {"text": "small"}
        with pytest.raises(MemwellError):
            store.put(("a",), "k" * 300, {"text": "small"})
