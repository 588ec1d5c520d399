"""Cases about reading records: snapshots, pages, counts, sessions, figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memwell.domain.evidence import Permissions, Speaker, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, State
from memwell.domain.plan import AddEvidence, AddMemory, MarkFormed, Operation, Retire, Unit, Withdraw
from memwell.engine.ports import Store
from memwell.engine.queries import EvidenceQuery, PageQuery
from memwell.errors import StorageError
from memwell.testing.conformance.cases import EMBEDDER, NOW, StoreCases, ids
from memwell.testing.doubles import (
    ALICE,
    BOB,
    START,
    FakeClock,
    HashEmbedder,
    make_evidence,
    make_index,
    make_memory,
    make_plan,
    statement,
)

DAY = timedelta(days=1)
CURRENT = frozenset({State.CURRENT})


class ReadingCases(StoreCases):
    def test_an_empty_store_answers(self, store: Store) -> None:
        with store.view() as view:
            assert view.epoch(ALICE) == view.count(ALICE, NOW) == 0
            assert view.memories(["mem_1"]) == {}
            assert view.evidence([]) == {}
            assert view.page(PageQuery(ALICE, 10, CURRENT)) == []
            assert view.heads(ALICE, [("user", "home")]) == []
            assert view.recent(ALICE, "default", before=START, limit=5) == []
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 10) == []
            figures = view.stats()
        assert figures["scopes"] == figures["evidence"] == figures["memories"] == figures["ledger"] == 0
        assert set(figures) == {
            "scopes",
            "evidence",
            "unformed",
            "memories",
            "indexable",
            "by_state",
            "ledger",
            "bytes",
            "schema",
            "cleanup",
            "staying",
            "models",
        }

    def test_a_view_stays_as_it_was(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        with store.view() as view:
            store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER)))
            store.apply(make_plan("p3", Retire("mem_1", 1, State.ARCHIVED, "delete")))
            assert set(view.memories(["mem_1", "mem_2"])) == {"mem_1"}
            assert (view.epoch(ALICE), view.count(ALICE, NOW)) == (1, 1)
            assert view.memories(["mem_1"])["mem_1"].state is State.CURRENT
        with store.view() as view:
            assert (view.epoch(ALICE), view.count(ALICE, NOW)) == (3, 1)

    def test_pages_show_each_memory_once_newest_first(self, store: Store) -> None:
        for number in range(25):
            at = START + DAY * (number // 3)
            evidence = make_evidence(f"ev_{number:02}", recorded_at=at, occurred_at=at)
            plan = make_plan(f"p{number}", AddEvidence(evidence), AddMemory(make_memory(f"mem_{number:02}", evidence)))
            store.apply(plan)
        seen: list[str] = []
        after = None
        with store.view() as view:
            while page := view.page(PageQuery(ALICE, 4, CURRENT, after=after)):
                seen += ids(page)
                after = (page[-1].recorded_at, page[-1].id)
        assert seen == [f"mem_{number:02}" for number in reversed(range(25))]

    def test_pages_are_filtered(self, store: Store) -> None:
        operations: list[Operation] = []
        for number, kind in enumerate((Kind.FACT, Kind.EVENT, Kind.FACT, Kind.PREFERENCE)):
            at = START + DAY * number
            evidence = make_evidence(f"ev_{number}", occurred_at=at)
            ends = at + DAY if number == 2 else None
            operations += [
                AddEvidence(evidence),
                AddMemory(make_memory(f"m{number}", evidence, kind=kind, valid_until=ends)),
            ]
        store.apply(make_plan("p1", *operations))
        store.apply(make_plan("p2", Retire("m0", 1, State.ARCHIVED, "delete")))
        both = frozenset({State.CURRENT, State.ARCHIVED})
        with store.view() as view:
            assert ids(view.page(PageQuery(ALICE, 9, CURRENT))) == ["m3", "m2", "m1"]
            assert ids(view.page(PageQuery(ALICE, 9, both, kinds=frozenset({Kind.FACT})))) == ["m2", "m0"]
            assert ids(view.page(PageQuery(ALICE, 9, both, kinds=frozenset()))) == []
            assert ids(view.page(PageQuery(ALICE, 9, both, said_from=START + DAY, said_until=START + 3 * DAY))) == [
                "m2",
                "m1",
            ]
            assert ids(view.page(PageQuery(ALICE, 9, CURRENT, live_at=START + 3 * DAY))) == ["m3", "m1"]
            assert view.page(PageQuery(BOB, 9, both)) == []

    def test_pages_of_evidence_hold_what_may_be_read(self, store: Store) -> None:
        for number in range(9):
            at = START + DAY * (number // 3)
            record = make_evidence(
                f"ev_{number}",
                f"Statement {number}",
                recorded_at=at,
                session_id="s2" if number == 4 else "s1",
                origin=f"observed:{'ab'[number % 2]}:{number}",
                permissions=Permissions(cloud=number != 5),
            )
            store.apply(make_plan(f"p{number}", AddEvidence(record)))
        store.apply(make_plan("p9", Withdraw("ev_7")))
        seen: list[str] = []
        after = None
        with store.view() as view:
            while page := view.traces(ALICE).page(EvidenceQuery(4, after=after)):
                seen += [record.id for record in page]
                after = (page[-1].recorded_at, page[-1].id)
            assert seen == [f"ev_{number}" for number in (8, 6, 5, 4, 3, 2, 1, 0)]
            odd = EvidenceQuery(9, origin_prefix="observed:b:")
            assert [record.id for record in view.traces(ALICE).page(odd)] == ["ev_5", "ev_3", "ev_1"]
            cloud = EvidenceQuery(9, origin_prefix="observed:b:", session_id="s1", target=Target.CLOUD)
            assert [record.id for record in view.traces(ALICE).page(cloud)] == ["ev_3", "ev_1"]
            assert [record.id for record in view.traces(ALICE).page(EvidenceQuery(9, session_id="s2"))] == ["ev_4"]
            assert view.traces(BOB).page(EvidenceQuery(9)) == []

    def test_a_page_leaves_out_observations_whose_time_is_over(self, store: Store) -> None:
        times = {"ev_1": None, "ev_2": START + timedelta(hours=1), "ev_3": START + timedelta(hours=2)}
        for key, until in times.items():
            record = make_evidence(key, key, speaker=Speaker.OBSERVED)
            store.apply(make_plan(key, AddEvidence(replace(record, valid_from=START, valid_until=until))))
        with store.view() as view:
            for hours, left in ((0, 3), (1, 2), (2, 1)):
                page = view.traces(ALICE).page(EvidenceQuery(9, alive_at=START + timedelta(hours=hours)))
                assert len(page) == left
            assert len(view.traces(ALICE).page(EvidenceQuery(9))) == 3

    def test_counts_follow_the_lens(self, store: Store) -> None:
        ending = statement("2", "Until tomorrow I stay in Rome", EMBEDDER, valid_until=START + DAY)
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER), *ending))
        store.apply(make_plan("p2", *statement("3", "I live in Rome", EMBEDDER, scope=BOB), scope=BOB))
        with store.view() as view:
            assert view.count(ALICE, NOW) == 2
            assert view.count(ALICE, Lens(now=START + DAY)) == 1
            assert view.count(ALICE, Lens(now=START + DAY, include_past=True)) == 2
            assert view.count(ALICE, Lens(now=START, kinds=frozenset({Kind.EVENT}))) == 0
            assert view.count(BOB, NOW) == 1

    def test_heads_are_current_and_of_the_key(self, store: Store) -> None:
        for number, (subject, attribute) in enumerate(
            (("user", "home"), ("Ann", "home"), ("user", "job"), ("user", None))
        ):
            operations = statement(str(number), f"Statement {number}", EMBEDDER, subject=subject, attribute=attribute)
            store.apply(make_plan(f"p{number}", *operations))
        with store.view() as view:
            assert ids(view.heads(ALICE, [("user", "home")])) == ["mem_0"]
            assert set(ids(view.heads(ALICE, [("user", "home"), ("Ann", "home"), ("Ann", "job")]))) == {
                "mem_0",
                "mem_1",
            }
            assert view.heads(ALICE, []) == view.heads(BOB, [("user", "home")]) == []
        store.apply(make_plan("p9", Retire("mem_0", 1, State.ARCHIVED, "delete")))
        with store.view() as view:
            assert view.heads(ALICE, [("user", "home")]) == []

    def test_aliases_are_current_and_of_the_scope(self, store: Store) -> None:
        told = statement("0", "Robert goes by Bob", EMBEDDER, subject="Robert", attribute="alias", value="Robert = Bob")
        store.apply(make_plan("p0", *told))
        store.apply(make_plan("p1", *statement("1", "Robert lives in Lyon", EMBEDDER, subject="Robert")))
        with store.view() as view:
            assert ids(view.aliases(ALICE)) == ["mem_0"]
            assert view.aliases(BOB) == []
        store.apply(make_plan("p2", Retire("mem_0", 1, State.ARCHIVED, "delete")))
        with store.view() as view:
            assert view.aliases(ALICE) == []

    def test_recent_turns_of_a_session(self, store: Store) -> None:
        for number, minutes in enumerate((3, 1, 2, 9)):
            record = make_evidence(
                f"ev_{number}",
                session_id="s2" if number == 2 else "s1",
                speaker=Speaker.ASSISTANT if number == 1 else Speaker.USER,
                occurred_at=START + timedelta(minutes=minutes),
            )
            store.apply(make_plan(f"p{number}", AddEvidence(record)))
        until = START + timedelta(minutes=3)
        with store.view() as view:
            assert [record.id for record in view.recent(ALICE, "s1", before=until, limit=5)] == ["ev_1", "ev_0"]
            assert [record.id for record in view.recent(ALICE, "s1", before=until, limit=1)] == ["ev_0"]
            assert view.recent(BOB, "s1", before=until, limit=5) == []

    def test_unindexed_records_are_listed(self, store: Store) -> None:
        user, tool = make_evidence("ev_1", "I live in Lyon"), make_evidence("ev_2", speaker=Speaker.TOOL)
        assistant = make_evidence("ev_3", speaker=Speaker.ASSISTANT)
        record = make_memory("mem_1", user)
        store.apply(make_plan("p1", *map(AddEvidence, (user, tool, assistant)), AddMemory(record)))
        with store.view() as view:
            assert view.unindexed(Unit.EVIDENCE, EMBEDDER.model, 9) == ["ev_1"]
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 9) == ["mem_1"]
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 0) == []
        store.apply(make_plan("p2", make_index(user, EMBEDDER), make_index(record, EMBEDDER)))
        other = HashEmbedder(16, model="hash-2")
        with store.view() as view:
            assert view.unindexed(Unit.EVIDENCE, EMBEDDER.model, 9) == []
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 9) == []
            assert view.unindexed(Unit.MEMORY, other.model, 9) == ["mem_1"]
        store.apply(make_plan("p3", make_index(record, other)))
        with store.view() as view:
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 9) == ["mem_1"]
            assert view.stats()["models"] == {
                "hash-1": {"dimensions": 32, "memories": 0, "evidence": 1},
                "hash-2": {"dimensions": 16, "memories": 1, "evidence": 0},
            }

    def test_figures(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER), MarkFormed(("ev_1",))))
        store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER, scope=BOB), scope=BOB))
        store.apply(make_plan("p3", Retire("mem_1", 1, State.ENDED, "negate")))
        with store.view() as view:
            figures = view.stats()
        assert (figures["scopes"], figures["evidence"], figures["unformed"], figures["memories"]) == (2, 2, 1, 2)
        assert figures["by_state"] == {"ended": 1, "current": 1}

    def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        store = self.open_store(tmp_path, FakeClock(), 0.2)
        store.close()
        store.close()
        with pytest.raises(StorageError, match="closed"):
            store.apply(make_plan("p1"))
        with pytest.raises(StorageError, match="closed"), store.view():
            pass
