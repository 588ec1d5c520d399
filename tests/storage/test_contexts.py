"""Copies in words of assistants are found by an index: none that reading every word would find is missed."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memwell.domain.clauses import holds_copy, places, plain
from memwell.domain.evidence import Speaker
from memwell.domain.plan import AddEvidence, EraseEvidence, Redact
from memwell.domain.text import verbatim_terms
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import ALICE, BOB, FakeClock, make_evidence, make_plan

# What joins, folds, splits or is passed over: marks that combine, ligatures, signs that unfold into letters, numbers,
# scripts without spaces, halves of Hangul, signs without any letter.
PIECES = (
    *("York", "Yorkshire", "york", "Acme", "™", "№", "５", "5", "1.5", ".", ",", " ", "  ", "\n", "_", "-", "'"),
    *(
        "ﬁ",
        "ﬁn",
        "é",
        "e",
        "\u0301",
        "\u3099",
        "か",
        "が",
        "ｶ",
        "ﾞ",
        "가",
        "\u11a8",
        "上海",
        "上",
        "海",
        "茶",
        "々",
        "ー",
        "・",
    ),
    *(
        "🎉",
        "🎉🎉🎉🎉",
        "½",
        "℃",
        "ß",
        "SS",
        "ς",
        "Σ",
        "İ",
        "क",
        "ि",
        "ا",
        "\u064b",
        "x²",
        "C++",
        "running",
        "run",
        "I live in",
        "**",
        "_I_",
        "“",
        "don’t",
        "don't",
        "，",
        "。",
        "> ",
        "\u3000",
        "１.５",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@settings(max_examples=800, deadline=None)
@given(text=TEXTS | st.text(max_size=12), data=st.data())
def test_what_holds_a_clause_holds_its_terms(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if places(text, text[start:end]):
        assert verbatim_terms(text[start:end]) <= verbatim_terms(text)


def test_every_place_counts_also_where_it_overlaps_a_false_one() -> None:
    assert places("xa a a", "a a") == [(3, 6)]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(frames=st.lists(st.tuples(TEXTS, st.none() | TEXTS), min_size=1, max_size=12), data=st.data())
def test_the_index_finds_what_reading_everything_finds(
    frames: list[tuple[str, str | None]], data: st.DataObject
) -> None:
    records = [
        make_evidence(f"ev_{n:02d}", said, speaker=(Speaker.USER, Speaker.ASSISTANT)[n % 2], preceding=kept)
        for n, (said, kept) in enumerate(frames)
    ]
    whole = [text for frame in frames for text in frame if text]
    chosen = data.draw(st.lists(st.sampled_from(whole), min_size=1, max_size=3))
    cut = [text[data.draw(st.integers(0, len(text) - 1)) :] for text in chosen]
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteStore(Path(folder) / "s.db", clock=FakeClock())) as store,
    ):
        store.apply(make_plan("p", *map(AddEvidence, records)))
        for texts in (chosen, cut, [*chosen, *cut]):
            assert _copies(store, texts) == [r.id for r in records if holds_copy(r, [plain(text) for text in texts])]
        assert store.check() == []


def _copies(store: SqliteStore, texts: list[str]) -> list[str]:
    with store.view() as view:
        return [record.id for record in view.traces(ALICE).copies([plain(text) for text in texts])]


def _filled(path: Path) -> SqliteStore:
    store = SqliteStore(path, clock=FakeClock())
    records = [
        make_evidence(f"ev_{number}", f"Reply {number} about Quibdo.", speaker=Speaker.ASSISTANT)
        for number in range(1200)
    ]
    store.apply(make_plan("p1", *map(AddEvidence, records)))
    kept = make_evidence("ev_kept", "yes", preceding="Quibdo it is?")
    store.apply(make_plan("p2", AddEvidence(kept)))
    store.apply(make_plan("p3", AddEvidence(replace(records[3], scope=BOB, id="ev_bob", origin="bob")), scope=BOB))
    return store


def test_a_store_of_the_schema_before_is_indexed_when_it_is_opened(path: Path) -> None:
    _filled(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE context_words")
        connection.execute("ALTER TABLE evidence_vectors DROP COLUMN words")
        connection.execute("DELETE FROM schema_migrations WHERE number >= 5")
        connection.execute("PRAGMA user_version = 4")
    store = SqliteStore(path, clock=FakeClock())
    assert store.check() == []
    assert _copies(store, ["Reply 3 about Quibdo", "Quibdo it is"]) == ["ev_3", "ev_kept"]
    store.rebuild()
    assert _copies(store, ["Reply 1199 about"]) == ["ev_1199"]
    store.close()


def test_an_index_of_words_as_they_were_typeset_is_made_again(path: Path) -> None:
    _filled(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO context_words (context_words) VALUES ('delete-all')")
        connection.execute("DELETE FROM schema_migrations WHERE number >= 7")
        connection.execute("PRAGMA user_version = 6")
    with closing(SqliteStore(path, clock=FakeClock())) as store:
        assert store.check() == []
        assert _copies(store, ["“Reply *3*” ABOUT Quibdo", "quibdo it is"]) == ["ev_3", "ev_kept"]


def test_words_that_go_leave_the_index(path: Path) -> None:
    store = _filled(path)
    store.apply(make_plan("q1", EraseEvidence("ev_7"), Redact("ev_kept", (), preceding=True)))
    assert _copies(store, ["Reply 7 about", "Quibdo it is"]) == []
    store.apply(make_plan("q2", *(EraseEvidence(f"ev_{n}") for n in range(1200) if n != 7)))
    assert store.check() == []
    assert store.clean()
    with store.view() as view:
        assert [record.id for record in view.traces(BOB).replies(["quibdo"])] == ["ev_bob"]
    store.apply(make_plan("q3", EraseEvidence("ev_bob"), scope=BOB))
    assert store.clean()
    store.close()
    assert b"uibdo" not in path.read_bytes()


def test_an_assistants_turn_that_is_learnt_later_is_indexed(path: Path) -> None:
    store = SqliteStore(path, clock=FakeClock())
    said = make_evidence("ev_1", "yes", origin="message:s:1")
    store.apply(make_plan("p1", AddEvidence(said)))
    assert _copies(store, ["Shall we go to Quibdo"]) == []
    store.apply(make_plan("p2", AddEvidence(replace(said, id="ev_2", preceding="Shall we go to Quibdo?"))))
    assert _copies(store, ["Shall we go to Quibdo"]) == ["ev_1"]
    assert store.check() == []
    store.close()
