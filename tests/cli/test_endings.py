"""Exit codes, errors on one line, and text that cannot act on a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell import errors
from memwell.interfaces.cli.exits import ExitCode, exit_code
from memwell.interfaces.cli.output import local
from memwell.interfaces.cli.safe import dump, one_line, plain
from tests.cli.harness import Cli


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "tea"),
        ("list",),
        ("get", "mem_1"),
        ("people",),
        ("export", "x.bundle"),
        ("export", "x.bundle", "--all"),
        ("forget", "--everything"),
        ("mute", "mem_1"),
        ("update", "mem_1", "tea"),
        ("receipt", "c1"),
        ("jobs",),
        ("status",),
    ],
)
def test_no_store_is_made_where_one_is_to_be_read(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments, "--json")
    assert (done.code, json.loads(done.err)["error"]["code"]) == (4, "no_store")
    assert str(cli.store) in done.err
    assert not cli.store.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("get", "mem_none"), 4, "mem_none"),
        (("history", "mem_none"), 4, "mem_none"),
        (("explain", "mem_none"), 4, "mem_none"),
        (("update", "mem_none", "x"), 4, "mem_none"),
        (("delete", "mem_none"), 4, "mem_none"),
        (("add", "  "), 1, "empty"),
        (("add", "I live in Lyon.", "--at", "soon"), 1, "--at 'soon'"),
        (("add", "I live in Lyon.", "--at", "0001-01-01T00:00:00+14:00"), 1, "--at"),
        (("update", "mem_none", "x", "--at", "2025-13-01"), 1, "write it like 2025-03-01,"),
        (("search", "x", "--as-of", "soon"), 1, "--as-of 'soon'"),
        (("search", "x", "--known-at", ""), 1, "--known-at ''"),
        (("search", "x", "--target", "moon"), 1, "moon"),
        (("list", "--kind", "nonsense"), 1, "nonsense"),
        (("list", "--cursor", "nonsense"), 1, "nonsense"),
        (("list", "--user", ""), 1, "--user"),
        (("get", "mem_none", "--user", " "), 1, "--user"),
        (("list", "--user", "a\nb"), 1, "'a\\nb' contains unprintable characters"),
        (("list", "--user", "a" * 257), 1, "has 257 characters"),
        (("import", "no-such-file.json"), 1, "no-such-file.json"),
        (("nonsense",), 2, "nonsense"),
        (("search",), 2, "query"),
        (("search", "x", "--nonsense"), 2, "--nonsense"),
        (("search", "x", "--limit", "many"), 2, "--limit"),
    ],
)
def test_what_goes_wrong_is_one_line_and_a_code(cli: Cli, arguments: tuple[str, ...], code: int, says: str) -> None:
    cli.ok("init")
    done = cli(*arguments)
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert says.casefold() in done.err.casefold()
    as_json = cli(*arguments, "--json")
    assert as_json.code == code
    assert set(json.loads(as_json.err)["error"]) == {"code", "message", "remedy"}


def test_a_file_that_is_no_store_is_a_storage_error_and_left_alone(cli: Cli) -> None:
    cli.store.write_bytes(b"no database at all" * 100)
    done = cli("list")
    assert done.code == 3
    assert cli.store.read_bytes() == b"no database at all" * 100


def test_an_unknown_setting_names_the_closest_known_one(cli: Cli) -> None:
    cli.monkeypatch.setenv("MEMWELL_USERID", "ann")
    done = cli("list")
    assert done.code == 1
    assert "user_id" in done.err


@pytest.mark.parametrize("arguments", [("add", "x"), ("search", "x"), ("list",), ("import", "-")])
def test_no_user_at_all_is_an_input_error(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli.monkeypatch.delenv("MEMWELL_USER_ID")
    done = cli(*arguments, "--json", stdin=b"I row.")
    assert done.code == 1
    error = json.loads(done.err)["error"]
    assert error["code"] == "no_user"
    assert "--user" in error["remedy"]
    assert "MEMWELL_USER_ID" in error["remedy"]


def test_a_fault_of_the_program_is_one_line_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    cli.ok("init")
    monkeypatch.setattr("memwell.interfaces.python.memory.Memory.status", broken)
    done = cli("status")
    assert done.code == ExitCode.INTERNAL
    assert "KeyError" in done.err
    assert done.err.count("\n") == 1


def test_an_interruption_has_its_own_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    cli.ok("init")
    for place in ("memwell.interfaces.python.memory.Memory.status", "memwell.interfaces.cli.run.run"):
        monkeypatch.setattr(place, interrupted)
        done = cli("status")
        assert done.code == ExitCode.INTERRUPTED
        assert done.err == "error: interrupted (what was acknowledged is stored)\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("--help",)])
def test_output_that_cannot_be_written_has_its_own_code(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli.ok("add", "I live in Lyon.")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "memwell", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
        mute = subprocess.run(command, stdout=full, stderr=full, env=environment, check=False)
    assert (done.returncode, mute.returncode) == (ExitCode.OUTPUT, ExitCode.OUTPUT)
    assert "the output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def every_error(base: type[errors.MemwellError]) -> list[type[errors.MemwellError]]:
    return [base, *(narrow for child in base.__subclasses__() for narrow in every_error(child))]


@pytest.mark.parametrize("kind", every_error(errors.MemwellError))
def test_every_error_has_an_exit_code_of_its_own_kind(kind: type[errors.MemwellError]) -> None:
    code = exit_code(kind("x", remedy="y"))
    assert code not in (ExitCode.OK, ExitCode.USAGE, ExitCode.INTERNAL)
    assert (code is ExitCode.STORAGE) == issubclass(kind, errors.StorageError)
    assert (code is ExitCode.NOT_FOUND) == issubclass(kind, errors.NotFoundError)


def test_stored_text_cannot_act_on_a_terminal(cli: Cli) -> None:
    cli.ok("add", "My password hint is [red]x[/red] :smile: \u202edesrever\u202c\u2066.")
    for arguments in (("list",), ("search", "password hint", "--raw", "1"), ("search", "hint", "--context", "500")):
        shown = cli.ok(*arguments).out
        assert "\\u202e" in shown
        assert "\u202e" not in shown
    assert "[red]x[/red] :smile:" in cli.ok("list").out


@given(st.text())
def test_harmless_text_holds_nothing_that_moves_a_cursor(text: str) -> None:
    for shown in (plain(text), one_line(text), dump({"x": text})):
        assert not any(ord(char) < 32 and char not in "\t\n" for char in shown)
        assert not any(0x7F <= ord(char) <= 0x9F or 0x202A <= ord(char) <= 0x202E for char in shown)
        shown.encode("utf-8")
    assert "\n" not in one_line(text)


@given(st.text(), st.text())
def test_json_output_means_what_was_given(key: str, value: str) -> None:
    assert json.loads(dump({key: value})) == {key: value}


def test_dates_are_local_and_none_is_a_dash() -> None:
    moment = datetime(2025, 1, 10, 8, 0, tzinfo=UTC)
    assert local(moment) == moment.astimezone().strftime("%Y-%m-%d %H:%M")
    assert local(None) == "-"
