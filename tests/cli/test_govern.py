"""The verbs that govern: two steps to forget, receipts that can be checked, bundles."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from memwell import Memory
from tests.cli.harness import Cli


def stored(cli: Cli, words: str) -> str:
    """Id of the memory that is formed from ``words``."""
    key: str = cli.ok("add", words, "--json").json["memory_ids"][0]
    return key


def test_forgetting_takes_the_token_of_a_preview(cli: Cli) -> None:
    key = stored(cli, "I live in Zanzibarra.")
    shown = cli.ok("forget", key)
    assert "Zanzibarra" in shown.out
    assert "nothing is erased yet" in shown.err
    token = shown.out.split("--yes ")[1].strip()
    assert cli("forget", key, "--yes", token).code == 1
    assert cli("forget", "--yes", "nonsense").code == 5
    assert "Zanzibarra" in cli.ok("list").out
    done = cli.ok("forget", "--yes", token, "--command-id", "c1", "--json").json
    assert (done["storage_cleanup"], done["receipt"]["details"]["memories"]) == ("complete", 1)
    assert cli.ok("forget", "--yes", token, "--command-id", "c1", "--json").json["replayed"]
    assert "Zanzibarra" not in cli.ok("list", "--all").out
    assert b"Zanzibarra" not in cli.store.read_bytes()
    assert "memories" in cli.ok("forget", "--yes", preview(cli, stored(cli, "I play chess."))).out


def preview(cli: Cli, *targets: str) -> str:
    token: str = cli.ok("forget", *targets, "--json").json["token"]
    return token


def test_a_person_a_session_and_words_can_be_named(cli: Cli) -> None:
    for targets in (("--person", "Bertrand"), ("--query", "keeps bees"), ("--session", "default"), ("--everything",)):
        stored(cli, f"My neighbour Bertrand keeps bees and {targets[0][2:]} birds.")
        cli.ok("forget", "--yes", preview(cli, *targets))
        assert "Bertrand" not in cli.ok("list", "--all").out
    assert cli("forget").code == 1
    assert cli("forget", "mem_none").code == 4


def test_receipts_are_shown_and_checked_without_a_store(cli: Cli, tmp_path: Path) -> None:
    key = stored(cli, "I live in Lyon.")
    right = cli.ok("correct", key, "I live in Nantes.", "--command-id", "c1").out.split()[-1]
    assert "Nantes" in cli.ok("get", right).out
    shown = cli.ok("receipt", "c1").out
    file = tmp_path / "receipt.json"
    file.write_text(shown, encoding="utf-8")
    assert "as it was written" in cli.ok("receipt", "--verify", str(file)).out
    assert "as it was written" in cli.ok("receipt", "--verify", "-", stdin=shown.encode()).out
    file.write_text(json.dumps({**json.loads(shown), "actor": "eve"}), encoding="utf-8")
    assert cli("receipt", "--verify", str(file)).code == 1
    file.write_text("no", encoding="utf-8")
    assert cli("receipt", "--verify", str(file)).code == 1
    missing = cli("receipt", "--verify", str(tmp_path / "none.json"))
    assert (missing.code, "chat" in missing.err) == (1, False)
    assert cli("receipt", "c9").code == 4
    assert cli("receipt").code == 1


def test_rights_and_states(cli: Cli) -> None:
    key = stored(cli, "I live in Lyon.")
    evidence = cli.ok("explain", key, "--json").json["quotes"][0]["evidence_id"]
    assert cli("permit", evidence).code == 1
    cli.ok("permit", evidence, "--no-cloud")
    assert cli.ok("list", "--target", "cloud").out == ""
    for read in ("get", "history", "explain"):
        assert cli(read, key, "--target", "cloud").code == 4
    cli.ok("mute", key)
    assert cli.ok("search", "where do I live?").out == ""
    cli.ok("mute", key, "--undo")
    cli.ok("delete", key)
    cli.ok("unarchive", key)
    again = cli("unarchive", key)
    assert (again.code, "is current already" in again.err) == (5, True)
    assert "applied" in cli.ok("retract", key).out
    assert cli("retract", key).code == 5
    assert "cannot become current" in cli("unarchive", key).err


def test_a_bundle_is_restored_in_two_steps(cli: Cli, tmp_path: Path) -> None:
    stored(cli, "I live in Lyon.")
    file, other = tmp_path / "ann.bundle", str(tmp_path / "other.db")
    cli.ok("export", str(file))
    plan = cli.ok("restore", str(file), "--store", other, "--json").json
    assert plan["counts"]["added"] == 2
    assert cli("restore", str(file), "--store", other, "--yes", "0").code == 5
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("other")] == []
    cli.ok("restore", str(file), "--store", other, "--yes", plan["hash"])
    assert "Lyon" in cli.ok("list", "--store", other).out
    assert "Lyon" in cli.ok("search", "where do I live?", "--store", other).out
    assert cli("restore", str(tmp_path / "none"), "--store", other).code == 1


def test_a_restore_that_fails_leaves_no_store(cli: Cli, tmp_path: Path) -> None:
    stored(cli, "I live in Lyon.")
    with Memory(cli.store, user_id="ann") as memory:
        memory.add([{"role": "assistant", "content": "Dear all, " * 80_000}])
    file, other = tmp_path / "ann.bundle", tmp_path / "new" / "folder" / "other.db"
    cli.ok("export", str(file))
    plan = cli.ok("restore", str(file), "--store", str(other), "--json").json
    command = [sys.executable, "-m", "memwell", "restore", str(file), "--store", str(other), "--yes", plan["hash"]]
    for most in (100_000, 700_000):  # bytes that a file may have: too few for a store, and for what comes in
        limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({most}, {most}))"
        script = f"{limit}; import runpy; runpy.run_module('memwell', run_name='__main__')"
        done = subprocess.run([command[0], "-c", script, *command[3:]], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "error: " in done.stderr
        assert not (tmp_path / "new").exists()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert "Lyon" in cli.ok("list", "--store", str(other)).out


def test_a_doctor_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    none = tmp_path / "none" / "store.db"
    for repair in ((), ("--repair",)):
        done = cli("doctor", *repair, "--store", str(none))
        assert done.code == 4
        assert f"BAD  store: there is no store at {none}" in done.out
    assert not none.parent.exists()


def test_a_correction_may_come_before_its_message(cli: Cli, tmp_path: Path) -> None:
    key = stored(cli, "I live in Lyon.")
    said = cli.ok("correct", key, "I live in Nantes.", "--message", "m7", "--session", "s").out
    assert "once message m7 says so" in said
    shown = cli.ok("search", "where do I live?").out
    assert "corrections under way:" in shown
    assert "awaiting message" in shown
    assert "current, correction pending" in shown
    chat = tmp_path / "chat.json"
    message = {"role": "user", "content": "Did you mishear me? I live in Nantes.", "id": "m7"}
    chat.write_text(json.dumps([message]), encoding="utf-8")
    cli.ok("import", str(chat), "--session", "s")
    found = cli.ok("search", "where do I live?", "--json").json
    assert found["pending"] == []
    assert [item["content"] for item in found["memories"]] == ["I live in Nantes."]


def test_a_whole_store_is_exported_and_restored(cli: Cli, tmp_path: Path) -> None:
    stored(cli, "I live in Lyon.")
    cli.ok("add", "I live in Oslo.", "--user", "bob")
    file, other = tmp_path / "all.bundle", str(tmp_path / "other.db")
    assert cli("export", str(file), "--all", "--user", "bob").code == 1
    cli.ok("export", str(file), "--all")
    shown = cli.ok("restore", str(file), "--store", other).out
    assert "bob" in shown
    cli.ok(*shown.split("memwell ")[1].split(), "--store", other)
    assert "Oslo" in cli.ok("list", "--user", "bob", "--store", other).out
    assert cli("restore", str(file), "--user", "eve", "--store", other).code == 1
    assert cli("export", str(tmp_path / "none" / "x.bundle")).code == 1
    assert not (tmp_path / "none").exists()


def test_a_bundle_of_somebody_else_says_so(cli: Cli, tmp_path: Path) -> None:
    cli.ok("add", "I live in Oslo.", "--user", "bob")
    file, other = tmp_path / "bob.bundle", str(tmp_path / "other.db")
    cli.ok("export", str(file), "--user", "bob")
    assert "'bob'" in cli.ok("restore", str(file), "--store", other).err
    shown = cli.ok("restore", str(file), "--user", "eve", "--store", other).out
    cli.ok(*shown.split("memwell ")[1].split(), "--store", other)
    assert "Oslo" in cli.ok("list", "--user", "eve", "--store", other).out


def test_what_is_observed_is_kept_at_its_newest_version(cli: Cli) -> None:
    said = cli.ok("observe", "calendar/7", "The dentist is on Friday.", "--version", "1", "--until", "2999-01-01")
    assert "calendar/7 1 is kept" in said.out
    assert "is known" in cli.ok("observe", "calendar/7", "The dentist is on Friday.", "--version", "1").out
    moved = cli.ok("observe", "calendar/7", "-", "--version", "2", "--json", stdin="牙医改到周一。".encode()).json
    assert moved["receipt"]["operation"] == "observe"
    assert [item["content"] for item in cli.ok("list", "--json").json["memories"]] == ["牙医改到周一。"]
    assert cli.ok("list", "--target", "cloud", "--json").json["memories"] == []
    assert cli("observe", "calendar/7", "The dentist is on Friday.", "--version", "1").code == 5
    assert cli("observe", "calendar/7", "", "--version", "3").code == 1
    assert cli("observe", "calendar/7", "x", "--version", "3", "--from", "soon").code == 1
