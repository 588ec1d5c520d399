"""API keys: what each reaches, on the folder, in the pure decision and on a server."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from memwell import MemwellError
from memwell.interfaces.serving.access import admitted
from memwell.interfaces.serving.keys import Key, KeyFolder
from memwell.interfaces.serving.listen import check_exposure, is_loopback
from memwell.interfaces.usecases.table import USE_CASES, Right
from memwell.testing.doubles import FakeClock
from tests.interfaces.servers import Running, memwell, serving

ALL = frozenset(Right)


def key(rights: frozenset[Right] = ALL, apps: tuple[str, ...] = (), users: tuple[str, ...] = ()) -> Key:
    return Key("0" * 12, "test", rights, apps, users, "", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("case", USE_CASES.values(), ids=lambda case: case.name)
def test_a_key_without_the_right_is_refused(case: object) -> None:
    use_case = USE_CASES[case.name]  # type: ignore[attr-defined]
    with pytest.raises(MemwellError) as caught:
        admitted(key(ALL - {use_case.right}), use_case, {})
    assert caught.value.code == "no_right"


def test_a_call_without_a_scope_means_the_only_one_that_the_key_reaches() -> None:
    limited = key(apps=("shop",), users=("ann",))
    assert admitted(limited, USE_CASES["get"], {"memory_id": "m"}) == {
        "memory_id": "m",
        "app_id": "shop",
        "user_id": "ann",
    }
    assert admitted(None, USE_CASES["get"], {"memory_id": "m"}) == {"memory_id": "m"}


@pytest.mark.parametrize(
    ("limited", "name", "arguments", "code"),
    [
        (key(users=("ann",)), "list", {"user_id": "bob"}, "outside_key"),
        (key(users=("ann", "bob")), "get", {"memory_id": "m"}, "no_user"),
        (key(apps=("shop",)), "list", {"app_id": "bank"}, "outside_key"),
        (key(apps=("shop", "bank")), "list", {}, "outside_key"),  # which means the default application
        (key(users=("ann",)), "status", {}, "outside_key"),
        (key(apps=("shop",)), "check", {}, "outside_key"),
    ],
)
def test_a_call_beyond_the_key_is_refused(limited: Key, name: str, arguments: dict[str, str], code: str) -> None:
    with pytest.raises(MemwellError) as caught:
        admitted(limited, USE_CASES[name], arguments)
    assert caught.value.code == code


def test_secrets_are_kept_hashed_and_for_their_owner_alone(tmp_path: Path, clock: FakeClock) -> None:
    folder = KeyFolder(tmp_path / "m.db")
    assert not folder.in_force
    made, token = folder.create("agent", {Right.READ}, [], ["ann"], clock)
    assert folder.in_force
    assert folder.find(token) == made
    (path,) = folder.folder.iterdir()
    assert token.split("_", 2)[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.folder.stat().st_mode) == 0o700
    for wrong in (token[:-1] + ("A" if token[-1] != "A" else "B"), token + "x", "", "mw_", "mw_../../x_" + "a" * 43):
        with pytest.raises(MemwellError) as caught:
            folder.find(wrong)
        assert caught.value.code == "wrong_key"


def test_revoking_the_last_key_opens_no_door(tmp_path: Path, clock: FakeClock) -> None:
    folder = KeyFolder(tmp_path / "m.db")
    made, token = folder.create("agent", ALL, [], [], clock)
    folder.revoke(made.id, clock)
    assert folder.in_force
    with pytest.raises(MemwellError):
        folder.find(token)
    for unknown in ("0" * 12, "../m", ""):
        with pytest.raises(MemwellError) as caught:
            folder.revoke(unknown, clock)
        assert caught.value.code == "not_found"


def test_keys_made_at_once_are_all_kept(tmp_path: Path, clock: FakeClock) -> None:
    folder = KeyFolder(tmp_path / "m.db")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: folder.create(f"k{i}", ALL, [], [], clock), range(40)))
    assert {found.id for found in folder.list()} == {made_key.id for made_key, _ in made}


LOOPBACK = ("127.0.0.1", "127.0.0.9", "::1", "localhost")
ELSEWHERE = ("0.0.0.0", "::", "example.org", "192.168.1.2")


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_machines_need_keys_and_encryption(host: str, tmp_path: Path, clock: FakeClock) -> None:
    keys = KeyFolder(tmp_path / "m.db")
    assert not is_loopback(host)
    with pytest.raises(MemwellError) as caught:
        check_exposure(host, keys, tls=True, plain_http=True)
    assert caught.value.code == "exposed"
    keys.create("k", ALL, [], [], clock)
    with pytest.raises(MemwellError) as caught:
        check_exposure(host, keys, tls=False, plain_http=False)
    assert caught.value.code == "exposed"
    check_exposure(host, keys, tls=True, plain_http=False)
    check_exposure(host, keys, tls=False, plain_http=True)


@pytest.mark.parametrize("host", LOOPBACK)
def test_this_machine_needs_neither(host: str, tmp_path: Path) -> None:
    check_exposure(host, KeyFolder(tmp_path / "m.db"), tls=False, plain_http=False)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Running]:
    with serving(home) as running:
        yield running


def made_by_command(home: Path, *arguments: str) -> dict[str, str]:
    done = memwell(home, "keys", "create", "test", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_server_asks_for_keys_once_there_are_any(home: Path, server: Running) -> None:
    def ask(token: str | None, method: str, path: str, **options: object) -> tuple[int, str]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = httpx.request(method, server.url + path, headers=headers, timeout=60, **options)  # type: ignore[arg-type]
        return answer.status_code, answer.json().get("code", "")

    assert ask(None, "GET", "/v1/status") == (200, "")
    ann = made_by_command(home, "--user", "ann")
    reader = made_by_command(home, "--right", "read")
    shop = made_by_command(home, "--app", "shop")
    assert ask(None, "GET", "/v1/status") == (401, "no_key")
    assert ask(None, "GET", "/metrics") == (401, "no_key")
    assert ask(None, "GET", "/openapi.json") == (401, "no_key")
    assert ask(None, "GET", "/health") == (200, "")
    assert ask("mw_wrong", "GET", "/v1/status") == (401, "wrong_key")
    added = {"messages": "I live in Lyon."}
    assert ask(ann["key"], "POST", "/v1/memories", json=added) == (200, "")
    assert ask(ann["key"], "POST", "/v1/memories", json={**added, "user_id": "bob"}) == (403, "outside_key")
    assert ask(ann["key"], "GET", "/v1/status") == (403, "outside_key")
    assert ask(reader["key"], "POST", "/v1/memories", json={**added, "user_id": "ann"}) == (403, "no_right")
    assert ask(reader["key"], "GET", "/v1/memories?user_id=ann") == (200, "")
    listed = httpx.get(f"{server.url}/v1/memories", headers={"Authorization": f"Bearer {ann['key']}"}, timeout=60)
    memory_id = listed.json()["memories"][0]["id"]
    assert ask(shop["key"], "GET", f"/v1/memories/{memory_id}") == (404, "not_found")
    assert ask(reader["key"], "GET", f"/v1/memories/{memory_id}") == (200, "")
    assert memwell(home, "keys", "revoke", reader["id"]).returncode == 0
    assert ask(reader["key"], "GET", "/v1/memories?user_id=ann") == (401, "wrong_key")
    assert not any(made["key"].split("_", 2)[2] in line for line in server.log for made in (ann, reader, shop))
    shown = memwell(home, "keys", "list")
    assert "ann" in shown.stdout
    assert ann["key"] not in shown.stdout


def test_a_server_refuses_to_be_reached_by_others_unprotected(tmp_path: Path) -> None:
    refused = memwell(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 1
    assert "API key" in refused.stderr
