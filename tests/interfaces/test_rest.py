"""The HTTP interface, on a server of its own."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from memwell import Memory
from memwell.interfaces.usecases.table import FILE_CASES, USE_CASES
from tests.interfaces.servers import Running, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("rest"), "--max-body", "2000000") as running:
        yield running


@pytest.fixture
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=300) as client:
        yield client


def added(http: httpx.Client, words: str, user: str) -> str:
    answer = http.post("/v1/memories", json={"messages": words, "user_id": user})
    assert answer.status_code == 200, answer.text
    (memory_id,) = answer.json()["memory_ids"]
    return str(memory_id)


def code(answer: httpx.Response, status: int) -> str:
    """The problem's code, once its form is checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["detail"]
    assert body["remedy"]
    return str(body["code"])


def test_a_memory_is_added_found_changed_and_put_away(http: httpx.Client) -> None:
    memory_id = added(http, "I live in Lyon.", "ann")
    found = http.post("/v1/memories/search", json={"query": "where does she live?", "user_id": "ann"}).json()
    assert [item["id"] for item in found["memories"]] == [memory_id]
    changed = http.put(f"/v1/memories/{memory_id}", json={"content": "I live in Paris.", "user_id": "ann"}).json()
    history = http.get(f"/v1/memories/{memory_id}/history", params={"user_id": "ann"}).json()
    assert [record["content"] for record in history["memories"]] == ["I live in Lyon.", "I live in Paris."]
    explained = http.get(f"/v1/memories/{memory_id}/explain").json()
    assert explained["quotes"][0]["text"] == "I live in Lyon."
    put_away = http.delete(f"/v1/memories/{changed['memory_ids'][0]}", params={"user_id": "ann"}).json()
    assert put_away["state"] == "archived"
    assert http.get("/v1/memories", params={"user_id": "ann"}).json() == {"memories": [], "cursor": None}


def test_a_server_forms_itself_what_is_to_be_formed_later(http: httpx.Client) -> None:
    later = http.post("/v1/memories", json={"messages": "I keep bees.", "user_id": "bea", "wait": False}).json()
    assert (later["status"], later["memory_ids"]) == ("pending", [])
    for _ in range(600):
        if found := http.get("/v1/memories", params={"user_id": "bea"}).json()["memories"]:
            break
        time.sleep(0.1)
    assert [record["content"] for record in found] == ["I keep bees."]


def test_what_is_another_users_is_not_found(http: httpx.Client) -> None:
    memory_id = added(http, "I live in Lyon.", "bea")
    for scope in ({"user_id": "eve"}, {"app_id": "other"}, {"agent_id": "other"}):
        answers = [
            http.get(f"/v1/memories/{memory_id}", params=scope),
            http.get(f"/v1/memories/{memory_id}/history", params=scope),
            http.get(f"/v1/memories/{memory_id}/explain", params=scope),
            http.put(f"/v1/memories/{memory_id}", json={"content": "I live in Rome.", **scope}),
            http.delete(f"/v1/memories/{memory_id}", params=scope),
        ]
        unknown = http.get("/v1/memories/mem_unknown", params=scope)
        for answer in answers:
            assert code(answer, 404) == "not_found"
            assert answer.text.replace(memory_id, "mem_unknown") == unknown.text
    assert http.get(f"/v1/memories/{memory_id}").json()["content"] == "I live in Lyon."


def test_pages_give_each_memory_once(http: httpx.Client) -> None:
    ids = {added(http, f"My friend number {i} is called Zoë{i}.", "cat") for i in range(5)}
    seen: list[str] = []
    cursor = None
    while True:
        page = http.get("/v1/memories", params={"user_id": "cat", "limit": 2, **({"cursor": cursor} if cursor else {})})
        seen += [record["id"] for record in page.json()["memories"]]
        cursor = page.json()["cursor"]
        if cursor is None:
            break
    assert len(seen) == len(ids)
    assert {*seen} == ids


def test_a_repeat_with_the_same_key_gives_the_first_result(http: httpx.Client) -> None:
    def send(words: str) -> httpx.Response:
        body = {"messages": words, "user_id": "dan"}
        return http.post("/v1/memories", json=body, headers={"Idempotency-Key": "k1"})

    first, again = send("I live in Lyon.").json(), send("I live in Lyon.").json()
    assert again["memory_ids"] == first["memory_ids"]
    assert again["replayed"]
    assert code(send("I live in Rome."), 409) == "idempotency_conflict"
    both = {"messages": "I live in Lyon.", "user_id": "dan", "request_id": "k2"}
    assert code(http.post("/v1/memories", json=both, headers={"Idempotency-Key": "k1"}), 422) == "invalid_input"


def test_a_change_against_what_has_changed_is_refused(http: httpx.Client) -> None:
    memory_id = added(http, "I live in Lyon.", "eva")
    tag = http.get(f"/v1/memories/{memory_id}").headers["etag"]
    http.post("/v1/memories", json={"messages": "I live in Lyon.", "user_id": "eva", "session_id": "later"})
    body = {"content": "I live in Rome."}
    refused = http.put(f"/v1/memories/{memory_id}", json=body, headers={"If-Match": tag})
    assert code(refused, 412) == "stale_revision"
    assert code(http.delete(f"/v1/memories/{memory_id}", headers={"If-Match": tag}), 412) == "stale_revision"
    for other in ("x", 'W/"1"', f'"{"9" * 5_000}"'):
        assert code(http.delete(f"/v1/memories/{memory_id}", headers={"If-Match": other}), 422) == "invalid_input"
    tag = http.get(f"/v1/memories/{memory_id}").headers["etag"]
    assert http.put(f"/v1/memories/{memory_id}", json=body, headers={"If-Match": tag}).status_code == 200
    assert code(http.put(f"/v1/memories/{memory_id}", json=body), 409) == "not_current"


@pytest.mark.parametrize(
    ("body", "status", "expected"),
    [
        (b"{", 400, "malformed_json"),
        (b"\xff\xfe", 400, "malformed_json"),
        (b"", 422, "missing_argument"),
        (b"[]", 422, "invalid_input"),
        (b'{"query": 5, "user_id": "a"}', 422, "invalid_input"),
        (b'{"query": "x", "limit": "5", "user_id": "a"}', 422, "invalid_input"),
        (b'{"query": "x", "limit": 100000, "user_id": "a"}', 422, "invalid_input"),
        (b'{"query": "x", "user_id": "a", "colour": 1}', 422, "unknown_argument"),
        (b'{"query": "x"}', 422, "no_user"),
        (b'{"query": "", "user_id": "a"}', 422, "empty_text"),
        (b'{"query": "\\ud800", "user_id": "a"}', 422, "lone_surrogate"),
        (b'{"query": "x", "user_id": "\\ud800"}', 422, "invalid_input"),
        (b'{"query": "x", "user_id": "a", "as_of": "2026-01-01T00:00:00"}', 422, "naive_time"),
        (b'{"query": "x", "user_id": "a", "target": "moon"}', 422, "invalid_input"),
        (b"[" * 100_000, 400, "malformed_json"),
    ],
)
def test_unusable_bodies_get_a_stable_code(http: httpx.Client, body: bytes, status: int, expected: str) -> None:
    answer = http.post("/v1/memories/search", content=body, headers={"Content-Type": "application/json"})
    assert code(answer, status) == expected


def test_the_argument_that_is_unusable_is_named(http: httpx.Client) -> None:
    answer = http.post("/v1/memories/search", json={"query": 5, "user_id": "a"})
    assert answer.json()["detail"].startswith("query is unusable")
    answer = http.post("/v1/memories/search", json={"user_id": "a"})
    assert answer.json()["detail"] == "query is missing"


def test_what_is_not_there_or_not_meant_is_refused(http: httpx.Client) -> None:
    assert code(http.get("/v1/nothing"), 404) == "not_found"
    refused = http.patch("/v1/memories/mem_x")
    assert code(refused, 405) == "method_not_allowed"
    assert refused.headers["allow"] == "DELETE, GET, PUT"
    assert code(http.get("/v1/memories", params={"user_id": "a", "limt": 1}), 422) == "unknown_argument"
    text = http.post("/v1/memories", content=b"{}", headers={"Content-Type": "text/plain"})
    assert code(text, 415) == "unsupported_media_type"


def test_large_bodies_are_refused(http: httpx.Client) -> None:
    body = json.dumps({"messages": "x" * 20_000_000, "user_id": "a"}).encode()
    kind = {"Content-Type": "application/json"}
    assert code(http.post("/v1/memories", content=body, headers=kind), 413) == "too_large"
    chunks = (body[i : i + 100_000] for i in range(0, 5_000_000, 100_000))  # of a length that is not told
    assert code(http.post("/v1/memories", content=chunks, headers=kind), 413) == "too_large"
    assert http.get("/health").json() == {"status": "ok"}


def test_a_connection_that_sends_nothing_whole_blocks_nobody(server: Running, http: httpx.Client) -> None:
    where = urlsplit(server.url)
    slow = [socket.create_connection((where.hostname or "", where.port or 0)) for _ in range(50)]
    try:
        for connection in slow:
            connection.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n")
        assert http.get("/health/ready").json() == {"status": "ok"}
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_web_pages_of_others_are_refused(http: httpx.Client, header: dict[str, str]) -> None:
    assert code(http.get("/v1/status", headers=header), 403) == "foreign_host"


def test_twenty_users_on_twenty_threads_see_their_own_alone(http: httpx.Client) -> None:
    towns = ["Lyon", "Rome", "Oslo", "Bern", "Kyiv", "Riga", "Cork", "Nice", "Pisa", "Graz"]
    start = threading.Barrier(20)

    def live(number: int) -> None:
        user, town = f"iso{number}", f"{towns[number % 10]}{number}"
        start.wait(30)
        memory_id = added(http, f"I live in {town}.", user)
        for _ in range(5):
            found = http.post("/v1/memories/search", json={"query": "Where do I live?", "user_id": user}).json()
            assert [item["content"] for item in found["memories"]] == [f"I live in {town}."]
            assert (
                http.get(f"/v1/memories/{memory_id}", params={"user_id": f"iso{(number + 1) % 20}"}).status_code == 404
            )

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(live, range(20)))


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_a_thousand_searches_at_once_are_all_answered(server: Running, http: httpx.Client) -> None:
    added(http, "I live in Lyon.", "busy")

    where = urlsplit(server.url)
    body = json.dumps({"query": "Where do I live?", "user_id": "busy"}).encode()
    head = f"Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    request = f"POST /v1/memories/search HTTP/1.1\r\n{head}\r\n".encode() + body
    with ExitStack() as stack:
        asked = []
        for _ in range(1_000):
            connection = socket.create_connection((where.hostname or "", where.port or 0))
            asked.append(stack.enter_context(connection))
            connection.sendall(request)
        answers = [connection.makefile("rb").read() for connection in asked]
    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
    assert all(b'"content":"I live in Lyon."' in answer for answer in answers)
    assert http.get("/health/ready").json() == {"status": "ok"}


@pytest.mark.slow
def test_a_connection_whose_head_never_ends_is_closed(server: Running, http: httpx.Client) -> None:
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=1) as slow:
        closed = False
        for _ in range(120):  # a byte a second, for ever
            try:
                slow.sendall(b"G")
                closed = slow.recv(1_000) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
            if closed:
                break
        assert closed
    assert http.get("/health").json() == {"status": "ok"}


def test_figures_and_logs_tell_of_requests_and_of_no_words(server: Running, http: httpx.Client) -> None:
    added(http, "My password is Xyzzy-4711.", "log")
    http.post("/v1/memories/search", json={"query": "Xyzzy-4711", "user_id": "log"})
    http.post("/v1/memories", json={"messages": "Xyzzy-4711", "user_id": "log", "at": "Xyzzy-4711"})
    figures = http.get("/metrics").text
    assert 'memwell_requests_total{method="POST",route="/v1/memories",status="422"}' in figures
    assert "memwell_evidence" in figures
    assert "memwell_oldest_job_seconds 0.0" in figures
    written = "".join(server.log)
    assert "Xyzzy" not in written + figures
    lines = [json.loads(line) for line in server.log if line.startswith("{")]
    assert any(line["route"] == "/v1/memories/search" and line["status"] == 200 for line in lines)


def test_the_description_names_every_use_case_with_examples(http: httpx.Client) -> None:
    document = http.get("/openapi.json").json()
    operations = {
        operation["operationId"]: operation for path in document["paths"].values() for operation in path.values()
    }
    assert {*USE_CASES} <= {*operations}
    assert http.get("/v1/capabilities").json()["use_cases"].keys() == {*USE_CASES, *FILE_CASES}
    fields = document["components"]["schemas"]["SearchArguments"]["properties"]
    assert fields["query"]["examples"]
    assert fields["as_of"]["description"].startswith("ask what held then")


def test_a_server_that_is_told_to_stop_answers_what_is_under_way(tmp_path: Path) -> None:
    with serving(tmp_path) as running, httpx.Client(base_url=running.url, timeout=60) as client:
        with ThreadPoolExecutor(4) as pool:
            written = [pool.submit(added, client, f"I live in Lyon{i}.", f"u{i}") for i in range(4)]
            written[0].result(60)
            assert running.stop() == 0
        acknowledged = {call.result() for call in written if call.exception() is None}
    with Memory(tmp_path / "memwell.db") as memory:
        assert acknowledged <= {record.id for n in range(4) for record in memory.list(user_id=f"u{n}").memories}
