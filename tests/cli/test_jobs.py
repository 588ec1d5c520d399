"""Verbs about work that waits, and the doctor's look at endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memwell.testing.scripted import CHAT, EMBEDDINGS, Reply, ScriptedServer, embedded
from tests.cli.harness import Cli
from tests.providers.test_jobs import choose_all


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        chat = f"[chat]\nmodel = 'm'\nbase_url = '{running.url}'\nretries = 0\napi_key = 'sk-secret'\n"
        (tmp_path / "memwell.toml").write_text(chat, "utf-8")
        yield running


def test_failed_formation_waits_dies_and_is_retried(cli: Cli, server: ScriptedServer) -> None:
    server.say("no", "still no")
    failed = cli("add", "I live in Lyon.", "--json")
    assert failed.code == 6
    (job,) = cli.ok("jobs", "--json").json
    assert (job["state"], job["error"]) == ("dead", "json_parse_failed")
    assert "dead" in cli.ok("jobs").out
    assert cli("retry", "job_unknown").code == 4
    assert "1 to be tried again" in cli.ok("retry", job["id"]).err
    server.answer(CHAT, choose_all)
    assert cli.ok("worker", "--drain", "--json").json == {"tried": 1, "left": 0}
    assert "no job waits" in cli.ok("jobs").err
    assert [entry["state"] for entry in cli.ok("jobs", "--all", "--json").json] == ["done"]
    assert "Lyon" in cli.ok("list").out
    assert cli.ok("status", "--json").json["calls"]["m"]["calls"] == 3


def test_the_doctor_tries_endpoints_and_shows_no_key(cli: Cli, server: ScriptedServer) -> None:
    server.answer(CHAT, lambda body: Reply("ready"))
    cli.ok("init")
    assert "ok   chat model m: answers" in cli.ok("doctor").out
    server.answer(CHAT, lambda body: Reply(status=401))
    ill = cli("doctor")
    assert ill.code == 3
    assert "BAD  chat model m" in ill.out
    assert "api_key" in ill.out
    assert "sk-secret" not in ill.out + ill.err


def test_a_change_of_model_is_reembedded(cli: Cli, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer(CHAT, choose_all)
    server.answer(EMBEDDINGS, lambda body: embedded(body, 48))
    cli.ok("add", "I live in Lyon.")
    for name, value in {"MODEL": "e", "DIMENSIONS": "48", "BASE_URL": server.url}.items():
        monkeypatch.setenv(f"MEMWELL_EMBEDDING_{name}", value)
    assert "0 %" in (shown := cli.ok("status").out.replace("0%", "0 %")), shown
    done = cli.ok("reembed", "--json").json
    assert (done["embedded"], done["model"]) == (2, "endpoint/e:48")
    assert cli.ok("status", "--json").json["indexed"] == 1.0


def test_a_message_that_waits_is_no_illness(cli: Cli) -> None:
    cli.ok("add", "I collect marbles.", "--no-wait")
    assert "1 message waits" in cli.ok("doctor").out
