"""Bundles and jobs of a server: out of one store and into another, by HTTP and by both clients."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memwell import Memory, MemwellError
from memwell.client import AsyncClient, Client
from memwell.errors import BundleError, InputError, NotFoundError, StaleImportError
from tests.interfaces.servers import Running, memwell, serving

BYTES = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("bundles")) as running:
        yield running


def test_a_bundle_of_a_server_is_that_of_its_store(tmp_path: Path) -> None:
    with serving(tmp_path) as running, Client(running.url, user_id="ann") as client:
        client.add("I live in Lyon. 我喜欢喝绿茶。")
        size = client.export_bundle(tmp_path / "ann.bundle")
    with Memory(tmp_path / "memwell.db", user_id="ann") as memory:
        assert memory.export_bundle(tmp_path / "own.bundle") == size
    assert (tmp_path / "ann.bundle").read_bytes() == (tmp_path / "own.bundle").read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".memwell-")]


def test_a_bundle_is_planned_and_taken_in(server: Running, tmp_path: Path) -> None:
    with Memory(tmp_path / "here.db", user_id="bea") as memory:
        memory.add("I live in Oslo.")
        memory.export_bundle(tmp_path / "bea.bundle")
    with Client(server.url, user_id="bea") as client:
        plan = client.plan_import(tmp_path / "bea.bundle")
        assert plan.counts["added"] == 2
        assert plan.to_dict()["hash"] == plan.hash
        assert len(client.list()) == 0
        assert client.apply_import(plan).counts["added"] == 2
        assert client.apply_import(plan).replayed
        assert [record.content for record in client.list()] == ["I live in Oslo."]
        client.forget(client.preview_forget(everything=True).token)
        with pytest.raises(StaleImportError):
            client.apply_import(plan)
        with pytest.raises(InputError, match="read"):
            client.plan_import(tmp_path / "none.bundle")


def test_the_same_in_asyncio(server: Running, tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncClient(server.url, user_id="cat") as client:
            await client.add("I live in Bern.")
            assert await client.export_bundle(tmp_path / "cat.bundle") > 0
            plan = await client.plan_import(tmp_path / "cat.bundle")
            assert (plan.counts["added"], plan.counts["known"]) == (0, 2)
            assert (await client.apply_import(plan)).replayed
            assert await client.jobs.list() == []

    asyncio.run(story())


@pytest.mark.parametrize("data", [b"", b"no bundle", b"PK\x03\x04" + b"\0" * 100, b"{}" * 1_000_000])
def test_what_is_no_bundle_is_refused(server: Running, data: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.bundle").write_bytes(data)
    with Client(server.url, user_id="eve") as client, pytest.raises((BundleError, InputError)):
        client.plan_import(tmp_path / "bad.bundle")
    answer = httpx.post(f"{server.url}/v1/bundles/plan", content=b"x", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    for query, code in (({}, "missing_argument"), ({"hash": "x", "usr": "a"}, "unknown_argument")):
        answer = httpx.post(f"{server.url}/v1/bundles", content=b"x", headers=BYTES, params=query)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_a_key_takes_out_and_puts_in_what_it_reaches_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        with Client(running.url) as open_to_all:
            for user in ("ann", "bob"):
                open_to_all.add(f"I am {user} and live in Lyon.", user_id=user)
        ann, writes, app, everything = (
            memwell(tmp_path, "keys", "create", "k", *options).stdout.strip()
            for options in (
                ("--right", "govern", "--user", "ann"),
                ("--right", "write", "--right", "read"),
                ("--right", "govern", "--app", "default"),
                ("--right", "govern"),
            )
        )
        for key, query, code in (
            (writes, {"user_id": "ann"}, "no_right"),
            (ann, {"user_id": "bob"}, "outside_key"),
            (ann, {"whole_store": "true"}, "outside_key"),
            (app, {"app_id": "other", "user_id": "ann"}, "outside_key"),
            (app, {}, "no_user"),
        ):
            headers = {"Authorization": f"Bearer {key}"}
            answer = httpx.get(f"{running.url}/v1/bundles", params=query, headers=headers, timeout=60)
            assert answer.json()["code"] == code, query
        with Client(running.url, api_key=everything) as client:
            client.export_bundle(tmp_path / "all.bundle", whole_store=True)
            client.export_bundle(tmp_path / "bob.bundle", user_id="bob")
        with Client(running.url, api_key=ann) as client:
            assert client.export_bundle(tmp_path / "ann.bundle") > 0
            # What the bundle of another user holds would become ann's own; the bundle of all is out of reach.
            assert client.plan_import(tmp_path / "ann.bundle").counts["added"] == 0
            with pytest.raises(MemwellError):
                client.plan_import(tmp_path / "all.bundle")
        with Client(running.url, api_key=app) as client, pytest.raises(MemwellError) as caught:
            client.plan_import(tmp_path / "all.bundle")
        assert caught.value.code == "no_user"


def test_jobs_are_listed_and_retried(server: Running) -> None:
    with Client(server.url) as client:
        assert client.jobs.list(done=True, limit=5) is not None
        assert client.jobs.retry() == 0
        with pytest.raises(NotFoundError):
            client.jobs.retry("job_unknown")
        with pytest.raises(InputError):
            client.jobs.list(limit=0)
