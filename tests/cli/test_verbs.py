"""Each verb, for people and for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memwell import Memory
from memwell.domain.evidence import Evidence
from memwell.engine.ports import Extraction, Turn
from memwell.errors import ExtractionError
from tests.cli.harness import Cli

LYON = ("add", "I live in Lyon.", "--at", "2025-01-10T09:00:00+01:00")
PORTO = ("add", "I moved to Porto.", "--at", "2025-03-01T09:00:00+01:00")


class BrokenExtractor:
    name = "broken"

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        raise ExtractionError("the answer was cut", remedy="repeat")


def first_id(cli: Cli) -> str:
    return str(cli.ok("list", "--json").json["memories"][0]["id"])


def test_what_was_added_is_found_with_its_words(cli: Cli) -> None:
    added = cli.ok(*LYON, "--json").json
    found = cli.ok("search", "where does she live?", "--json").json
    (best, *_) = found["memories"] or found["profile"]
    assert best["id"] in added["memory_ids"]
    assert [quote["text"] for quote in best["quotes"]] == ["I live in Lyon."]


def test_output_for_people_goes_to_stdout_and_messages_to_stderr(cli: Cli) -> None:
    done = cli.ok("add", "我住在上海。")
    assert "我住在上海" in done.out
    assert "stored" in done.err
    done = cli.ok("search", "她住在哪里")
    assert "我住在上海" in done.out
    assert done.err == ""


def test_an_empty_store_prints_no_data(cli: Cli) -> None:
    cli.ok("init")
    done = cli.ok("list")
    assert (done.out, done.err) == ("", "no memories\n")
    assert cli.ok("list", "--json").json == {"memories": [], "cursor": None}


def test_standard_input_is_added(cli: Cli) -> None:
    done = cli.ok("add", "-", "--json", stdin="我喜欢喝绿茶。\n".encode())
    assert "我喜欢喝绿茶" in done.json["decisions"][0]["content"]
    refused = cli("add", "-", stdin=b"\xff\xfe\xfd")
    assert refused.code == 1
    assert "standard input" in refused.err


def test_a_move_shows_in_history_and_explanation(cli: Cli) -> None:
    cli.ok(*LYON)
    cli.ok(*PORTO)
    current = first_id(cli)
    chain = cli.ok("history", current, "--json").json
    assert [(step["content"], step["state"]) for step in chain] == [
        ("I live in Lyon.", "superseded"),
        ("I moved to Porto.", "current"),
    ]
    shown = cli.ok("explain", current).out
    assert "I moved to Porto." in shown
    assert "replaced" in shown
    assert "I live in Lyon." in shown
    assert [old["content"] for old in cli.ok("explain", current, "--json").json["replaced"]] == ["I live in Lyon."]


def test_search_can_ask_about_another_time(cli: Cli) -> None:
    cli.ok(*LYON)
    cli.ok(*PORTO)
    then = cli.ok("search", "where does she live?", "--as-of", "2025-02-01T00:00:00Z").out
    assert "Lyon" in then
    assert "Porto" not in then


def test_times_without_a_zone_are_local(cli: Cli) -> None:
    def said(at: str) -> datetime:
        memory_id = cli.ok("add", f"I bought a boat, number {at}.", "--at", at, "--json").json["memory_ids"][0]
        return datetime.fromisoformat(cli.ok("get", memory_id, "--json").json["memory_at"])

    assert said("2025-01-10") == datetime(2025, 1, 10).astimezone()
    assert said("2025-07-10T08:30") == datetime(2025, 7, 10, 8, 30).astimezone()
    assert said("2025-01-10T08:30:00+05:00") == datetime(2025, 1, 10, 3, 30, tzinfo=UTC)
    assert cli.ok("search", "boat", "--as-of", "2025-01-09").err == "nothing found\n"
    for verb in ("add", "update", "search"):
        assert "local where it has no zone" in " ".join(cli.ok(verb, "--help").out.split())


def test_what_is_known_already_is_shown_as_the_memory_it_is(cli: Cli) -> None:
    cli.ok(*LYON)
    assert "already known as: I live in Lyon." in cli.ok("add", "I live in  Lyon!").out
    assert "already known as" not in cli.ok(*PORTO).out


def test_context_for_a_prompt_keeps_its_length(cli: Cli) -> None:
    cli.ok(*LYON)
    done = cli.ok("search", "where does she live?", "--context", "400")
    assert "I live in Lyon." in done.out
    assert len(done.out) <= 401


def test_update_and_delete_keep_history(cli: Cli) -> None:
    cli.ok(*LYON)
    cli.ok("update", first_id(cli), "I live in Porto.")
    renewed = first_id(cli)
    assert cli.ok("get", renewed, "--json").json["content"] == "I live in Porto."
    assert "archived" in cli.ok("delete", renewed).out
    assert cli.ok("list", "--json").json["memories"] == []
    states = {record["state"] for record in cli.ok("list", "--all", "--json").json["memories"]}
    assert states == {"superseded", "archived"}


def test_pages_follow_each_other(cli: Cli) -> None:
    for city in ("Lyon", "Porto", "Oslo"):
        cli.ok("add", f"My friend from {city} likes chess.")
    seen = []
    arguments: list[str] = []
    while True:
        page = cli.ok("list", "--limit", "1", "--json", *arguments).json
        seen += [record["id"] for record in page["memories"]]
        if page["cursor"] is None:
            break
        arguments = ["--cursor", page["cursor"]]
    assert len(seen) == len(set(seen)) >= 3


def test_a_request_id_makes_a_repeat_harmless(cli: Cli) -> None:
    first = cli.ok(*LYON, "--request-id", "r1", "--json").json
    again = cli.ok(*LYON, "--request-id", "r1", "--json").json
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["memory_ids"] == first["memory_ids"]
    assert cli("add", "Something else.", "--request-id", "r1").code == 5


def test_init_and_status_name_the_store(cli: Cli) -> None:
    assert cli.ok("init").out == f"{cli.store}\n"
    assert cli.store.exists()
    cli.ok(*LYON)
    figures = cli.ok("status", "--json").json
    assert figures["location"] == str(cli.store)
    assert figures["memories"] == 1
    assert "memories" in cli.ok("status").out


def test_a_store_can_be_named(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    cli.ok("init")
    cli.ok(*LYON, "--store", str(other))
    assert cli.ok("list", "--json").json["memories"] == []
    assert len(cli.ok("list", "--store", str(other), "--json").json["memories"]) == 1


def test_users_do_not_see_each_other(cli: Cli) -> None:
    cli.ok(*LYON)
    assert cli.ok("search", "Lyon", "--user", "bob", "--json").json["memories"] == []
    assert cli("get", first_id(cli), "--user", "bob").code == 4


def test_the_doctor_finds_a_sound_store_well(cli: Cli) -> None:
    cli.ok(*LYON)
    report = cli.ok("doctor", "--json").json
    assert report["well"]
    assert all(check["well"] for check in report["checks"])
    assert "BAD" not in cli.ok("doctor", "--repair").out


def test_the_doctor_finds_messages_that_were_not_formed_and_forms_them(cli: Cli) -> None:
    with Memory(cli.store, user_id="ann", extractor=BrokenExtractor()) as memory, pytest.raises(ExtractionError):
        memory.add([{"role": "user", "content": "I live in Lyon."}, {"role": "assistant", "content": "Nice."}])
    done = cli("doctor")
    assert done.code == 3
    assert "BAD  messages: 1 stored message has not been formed" in done.out
    assert "memwell doctor --repair" in done.out
    assert "BAD" not in cli.ok("doctor", "--repair").out
    assert cli.ok("list", "--json").json["memories"][0]["content"] == "I live in Lyon."


def test_the_doctor_names_what_is_no_store(cli: Cli) -> None:
    cli.store.write_bytes(b"this is no database" * 200)
    done = cli("doctor")
    assert done.code == 3
    assert "BAD  store" in done.out
    assert cli.store.read_bytes() == b"this is no database" * 200


def test_the_version_and_the_help_are_printed(cli: Cli) -> None:
    assert cli.ok("--version").out.startswith("memwell ")
    help_text = cli.ok("--help").out
    assert cli.ok().out == help_text
    for verb in ("init", "add", "search", "import", "demo", "doctor"):
        assert verb in help_text


@pytest.mark.parametrize("verb", ["add", "search", "list", "get", "history", "explain", "update", "delete", "import"])
def test_every_verb_has_help(cli: Cli, verb: str) -> None:
    shown = cli.ok(verb, "--help").out
    assert "--json" in shown
    assert "--store" in shown


def test_a_reader_that_goes_away_is_no_error(cli: Cli) -> None:
    for number in range(3):
        cli.ok("add", f"My friend number {number} likes chess.")
    done = subprocess.run(
        f'"{sys.executable}" -m memwell list --json | head -c 1',
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.stdout, done.stderr) == ("{", "")


def test_json_is_json_whatever_was_stored(cli: Cli) -> None:
    words = 'I call it "[bold]x[/bold]" \u202etxt\u202c \u2028 \\ 😀.'
    cli.ok("add", words, "--json")
    listed = cli.ok("search", "what is it called", "--raw", "1", "--json")
    assert json.loads(listed.out)["raw"][0]["content"] == words
    assert "\u202e" not in listed.out


@pytest.mark.parametrize("verb", ["keys", "bench"])
def test_a_verb_of_several_shows_its_help_alone(cli: Cli, verb: str) -> None:
    alone = cli.ok(verb)
    assert alone == cli.ok(verb, "--help")
    assert alone.out.count("\n") > 5
