"""Embeddings from an endpoint, and what happens when the model changes or the endpoint is away."""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memwell import Memory
from memwell.engine.calls import Errand, on_behalf
from memwell.errors import BudgetError, ConfigurationError, EmbeddingError
from memwell.providers.embedding import EndpointEmbedder
from memwell.providers.endpoint import Endpoint
from memwell.providers.paid import Paid
from memwell.testing.doubles import ALICE, HashEmbedder
from memwell.testing.scripted import EMBEDDINGS, Reply, ScriptedServer, embedded, vectors


@pytest.fixture
def embedder(endpoint: Endpoint, paid: Paid) -> EndpointEmbedder:
    return EndpointEmbedder(endpoint, paid, dimensions=32, batch=4)


def test_texts_are_embedded_in_batches_each_once(server: ScriptedServer, embedder: EndpointEmbedder) -> None:
    texts = [f"text {n}" for n in range(6)] * 2
    rows = embedder.passages(texts)
    assert rows.shape == (12, 32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[:6], rows[6:])
    assert np.allclose(rows[:6], HashEmbedder(32).passages(texts[:6]), atol=1e-5)
    assert [len(request.body["input"]) for request in server.received(EMBEDDINGS)] == [4, 2]
    embedder.passages(texts[:3])
    assert server.count(EMBEDDINGS) == 2
    assert embedder.passages([]).shape == (0, 32)


def test_prefixes_are_put_before_texts(server: ScriptedServer, endpoint: Endpoint, paid: Paid) -> None:
    prefixed = EndpointEmbedder(endpoint, paid, dimensions=32, query_prefix="query: ", passage_prefix="passage: ")
    prefixed.query("tea")
    prefixed.passages(["tea"])
    assert [request.body["input"] for request in server.received(EMBEDDINGS)] == [["query: tea"], ["passage: tea"]]
    assert prefixed.model != EndpointEmbedder(endpoint, paid, dimensions=32).model


def test_vectors_are_normalised(server: ScriptedServer, embedder: EndpointEmbedder) -> None:
    server.answer(EMBEDDINGS, lambda body: vectors(np.full((1, 32), 7.0), body))
    assert np.linalg.norm(embedder.query("x")) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (np.full((2, 32), np.nan), "not_finite"),
        (np.full((2, 32), np.inf), "not_finite"),
        (np.zeros((2, 32)), "not_finite"),
        (np.ones((2, 48)), "wrong_shape"),
        (np.ones((2, 0)), "wrong_shape"),
        (np.ones((1, 32)), "endpoint_failed"),
        (np.ones((3, 32)), "endpoint_failed"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(
    server: ScriptedServer, embedder: EndpointEmbedder, rows: np.ndarray[Any, Any], code: str
) -> None:
    server.script(EMBEDDINGS, vectors(rows, {"model": "m"}))
    with pytest.raises(EmbeddingError) as refused:
        embedder.passages(["a", "b"])
    assert refused.value.code == code
    assert embedder.passages(["a", "b"]).shape == (2, 32)


def test_an_errand_does_not_pay_twice_even_after_its_cache_is_gone(
    server: ScriptedServer, endpoint: Endpoint, paid: Paid
) -> None:
    errand = Errand(ALICE)
    for _ in range(2):
        with on_behalf(errand):
            EndpointEmbedder(endpoint, paid, dimensions=32).passages(["a", "b"])
    assert server.count(EMBEDDINGS) == 1


def opened(path: Path, server: ScriptedServer, dimensions: int, **more: Any) -> Memory:
    server.answer(EMBEDDINGS, lambda body: embedded(body, int(body["model"].removeprefix("dim"))))
    embedding = {"base_url": server.url, "model": f"dim{dimensions}", "dimensions": dimensions, "retries": 0, **more}
    return Memory(path, user_id="alice", settings={"embedding": embedding})


def test_a_change_of_model_reembeds_while_keyword_search_goes_on(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "m.db", server, 64) as memory:
        memory.add("My bicycle is a red Koga.")
        memory.add("我喜欢喝绿茶。")
        assert memory.status().indexed == 1.0
    with opened(tmp_path / "m.db", server, 384) as memory:
        assert memory.status().indexed == 0.0
        assert [item.content for item in memory.search("bicycle", limit=1).memories] == ["My bicycle is a red Koga."]
        counts: list[int] = []
        assert memory.reindex(counts.append) == counts[-1] == memory.status().figures["indexable"]
        assert memory.status().indexed == 1.0
        assert [item.content for item in memory.search("绿茶", limit=1).memories] == ["我喜欢喝绿茶。"]
        assert memory.reindex() == 0
        assert memory.check() == []


def test_an_idle_worker_reembeds(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "m.db", server, 64) as memory:
        memory.add("My bicycle is a red Koga.")
    with opened(tmp_path / "m.db", server, 96) as memory:
        memory.add("I have a dog.", wait=False)
        for _ in range(600):
            if memory.status().indexed == 1.0 and not memory.jobs.list():
                break
            server.pause(0.05)
        assert memory.status().indexed == 1.0


def test_search_goes_on_by_keywords_while_the_endpoint_is_away(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "m.db", server, 64) as memory:
        memory.add("My bicycle is a red Koga.")
        server.answer(EMBEDDINGS, lambda body: Reply(status=503))
        found = memory.search("which bicycle?")
        assert [item.content for item in found.memories] == ["My bicycle is a red Koga."]
        assert found.degraded == "endpoint_busy"
        with pytest.raises(EmbeddingError):
            memory.add("I have a dog.", request_id="r")
        server.answer(EMBEDDINGS, lambda body: embedded(body, 64))
        assert memory.search("which bicycle do I ride?").degraded is None
        assert memory.add("I have a dog.", request_id="r").status == "committed"


def test_forgetting_waits_for_no_endpoint(tmp_path: Path, server: ScriptedServer) -> None:
    with opened(tmp_path / "m.db", server, 64) as memory:
        written = memory.add("My bicycle is a red Koga. My neighbour is called Zorblax.")
        server.answer(EMBEDDINGS, lambda body: Reply(status=503))
        memory.forget(memory.preview_forget([written.memory_ids[1]]).token)
        assert memory.status().indexed < 1.0
        server.answer(EMBEDDINGS, lambda body: embedded(body, 64))
        assert memory.reindex() == 1
        assert [item.content for item in memory.search("which bicycle?").memories] == ["My bicycle is a red Koga."]
        assert memory.check() == []


def test_what_is_written_by_hand_is_on_its_scopes_account(tmp_path: Path, server: ScriptedServer) -> None:
    embedding = {"base_url": server.url, "model": "dim32", "dimensions": 32, "retries": 0}
    settings = {"embedding": embedding, "budget": {"tokens_per_day": 110}}
    with Memory(tmp_path / "m.db", user_id="alice", settings=settings) as memory:
        (memory_id,) = memory.add("My bicycle is a red Koga.").memory_ids
        numbers = itertools.count(1950)

        def change(known: str) -> str:
            (changed,) = memory.update(known, f"My bicycle is a Koga of {next(numbers)}.").memory_ids
            return changed

        with pytest.raises(BudgetError):  # each of the scripted vectors costs a token
            functools.reduce(lambda known, _: change(known), range(110), memory_id)


def test_dimensions_have_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"embedding\.dimensions"):
        Memory(tmp_path / "m.db", settings={"embedding": {"model": "m"}})
