"""Random histories on two stores that exchange bundles and crash: erased stays erased, nothing else is harmed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memwell.composition import Engine, open_engine
from memwell.domain.command import read_receipt
from memwell.engine.cascade import Selection
from memwell.engine.waiting import AWAITING_MESSAGE, waiting_corrections
from memwell.environment import load_settings
from memwell.errors import BundleError, ErasedSourceError, NotCurrentError
from memwell.interfaces.bench.parts import KeepAll, WholeTurns
from memwell.testing.doubles import ALICE, BOB, START, FakeClock, HashEmbedder, SequentialIds

OWNER = ("default", "default")
POINTS = (
    "sqlite.apply.begun",
    "sqlite.apply.resolved",
    "sqlite.apply.records_written",
    "sqlite.apply.before_commit",
    "sqlite.apply.committed",
    "sqlite.clean.merged",
    "sqlite.clean.emptied",
)
# What happens, and how often; a history begins with something to tell of.
ACTS = {
    "tell": 6,
    "say again": 3,
    "forget said": 2,
    "correct": 3,
    "correct later": 3,
    "deliver": 3,
    "update": 2,
    "mute": 1,
    "permit": 1,
    "forget": 4,
    "send": 4,
}
SEVERAL = ("say again", "forget said")
STEPS = 40
TOKENS = 5
CRASHES = 0.2  # share of the steps


class CrashError(BaseException):
    """The process ends here."""


class Life:
    """One store and what happens to it. A crash rolls back what is not committed; the store is opened anew."""

    def __init__(self, path: Path, number: int, clock: FakeClock) -> None:
        self.path, self.number, self.clock = path, number, clock
        self.gone: set[str] = set()
        self.gone_ids: set[str] = set()
        self.again: set[str] = set()  # said in a message of their own, which another store may send later
        self.crash_at: str | None = None
        self._ids = SequentialIds(f"{number}_")
        self.engine = self._open()

    def _open(self) -> Engine:
        return open_engine(
            load_settings(store=self.path),
            embedder=HashEmbedder(8),
            extractor=WholeTurns(),
            judge=KeepAll(),
            clock=self.clock,
            ids=self._ids,
            reach=self._reach,
        )

    def _reach(self, point: str) -> None:
        if point == self.crash_at:
            self.crash_at = None
            raise CrashError

    @contextmanager
    def crashing(self, point: str | None) -> Iterator[None]:
        self.crash_at = point
        try:
            yield
        except CrashError:
            self.engine.close()
            self.engine = self._open()
            self.engine.remember.resume()
        finally:
            self.crash_at = None

    def alive(self) -> dict[str, Any]:
        with self.engine.store.view() as view:
            traces = view.traces(ALICE)
            memories: dict[str, Any] = {memory.id: memory for memory in traces.memories()}
            return {**memories, **{record.id: record for record in traces.evidence()}}

    def family(self, token: str) -> dict[str, Any]:
        return {key: record for key, record in self.alive().items() if token in record.content}

    def current(self, token: str) -> str | None:
        with self.engine.store.view() as view:
            found = [m for m in view.traces(ALICE).memories() if token in m.content and m.state == "current"]
        return found[-1].id if found else None


def token_of(origin: int, number: int) -> str:
    return f"Qx{origin}{number}z"


def said(token: str, version: object) -> str:
    return f"{token} is boat {version}."


def one_of_several(what: str, life: Life, other: Life, token: str, position: int) -> None:
    """Say once more what is said already, or forget one of the messages that say it."""
    engine, key = life.engine, life.current(token)
    if what == "say again" and token not in life.gone | other.gone:
        life.again.add(token)
        words = said(token, 0) if key is None else life.alive()[key].content
        message = {"role": "user", "content": words, "id": f"again{life.number}{position}"}
        engine.remember.add(ALICE, [message], session_id="again")
    messages = sorted(k for k, record in life.family(token).items() if k.startswith("ev_") and record.message_id)
    if what == "forget said" and messages:
        preview = engine.forgetting.preview(ALICE, Selection(evidence=(messages[position % len(messages)],)))
        done = engine.forgetting.forget(preview.token, f"s{life.number}-{position}", ALICE, OWNER)
        life.gone_ids.update(done.receipt.changed["erase"])


def act(what: str, life: Life, other: Life, token: str, position: int) -> None:
    """One step. What cannot be done in the state that the store is in is refused, and changes nothing."""
    engine, key = life.engine, life.current(token)
    if what == "tell":
        message = {"role": "user", "content": said(token, 0), "id": f"m{life.number}{token}", "at": START}
        engine.remember.add(ALICE, [message], session_id="s")
    elif what == "deliver":
        with engine.store.view() as view:
            quotes = [one.quote for one in waiting_corrections(view, ALICE) if one.reason == AWAITING_MESSAGE]
        for quote in quotes[:1]:
            message = {"role": "user", "content": f"Hm. {quote.content}", "id": quote.message_id}
            engine.remember.add(ALICE, [message], session_id=quote.session_id)
    elif what == "send":
        data = engine.portable.export(ALICE)
        other.engine.portable.apply(other.engine.portable.plan(data, None, OWNER))
        other.gone |= life.gone
        other.gone_ids |= life.gone_ids
    elif key is None:
        return
    elif what == "correct":
        engine.correcting.correct(key, said(token, position), ALICE, OWNER)
    elif what == "correct later":
        source = {"message_id": f"c{position}", "session_id": "s", "quote": said(token, position)}
        engine.correcting.correct(key, None, ALICE, OWNER, source=source)
    elif what == "update":
        engine.managing.update(key, said(token, position), ALICE, OWNER)
    elif what == "mute":
        engine.governing.mute(key, position % 2 == 0, ALICE, OWNER)
    elif what == "permit":
        with engine.store.view() as view:
            source_id = view.memories([key])[key].sources[0].evidence_id
        engine.governing.permit(source_id, ALICE, OWNER, cloud=position % 2 == 0)
    elif what == "forget":
        preview = engine.forgetting.preview(ALICE, Selection((key,)))
        engine.forgetting.forget(preview.token, f"f{life.number}-{position}", ALICE, OWNER)


def check(life: Life) -> None:
    """What must always hold."""
    assert not life.gone_ids & life.alive().keys()
    for record in life.alive().values():
        assert not any(token in record.content for token in life.gone)
    with life.engine.store.view() as view:
        for kept in view.traces(ALICE).receipts():
            assert read_receipt(kept.receipt.to_dict()) == kept.receipt


@pytest.mark.parametrize("seed", range(8))
def test_histories_of_everything(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path
    clock = FakeClock(START + timedelta(days=1), step=timedelta(seconds=1))
    lives = [Life(folder / f"store{number}.db", number, clock) for number in (0, 1)]
    for life in lives:
        life.engine.remember.add(BOB, "Bystander Bob keeps bees.", session_id="s")
    for position in range(STEPS):
        (what,) = chance.choices([*ACTS], [*ACTS.values()]) if position > TOKENS else ("tell",)
        which = chance.randrange(2)
        token = token_of(which if what == "tell" else chance.randrange(2), chance.randrange(TOKENS))
        # An update keeps its words before it takes effect; after a crash they are formed as words said.
        crash = chance.choice(POINTS) if chance.random() < CRASHES and what != "update" else None
        life, other = lives[which], lives[1 - which]
        before, touched, key = life.alive(), life.family(token), life.current(token)
        target = other if what == "send" else life
        with target.crashing(crash), suppress(ErasedSourceError, NotCurrentError, BundleError):
            (one_of_several if what in SEVERAL else act)(what, life, other, token, position)
        if what == "forget" and touched:
            left = life.family(token)
            untouched = all(touched[other] == record for other, record in left.items())
            assert left == touched or (key not in left and untouched), "half forgotten"
            if not left and token not in life.again | other.again:
                life.gone.add(token)
        if what not in ("send", "deliver"):
            after = life.alive()
            assert {k: r for k, r in after.items() if token not in r.content} == {
                k: r for k, r in before.items() if token not in r.content
            }
        for one in lives:
            check(one)
    for life in lives:
        life.engine.remember.resume()
        assert life.engine.store.clean()
        assert life.engine.store.check() == []
        check(life)
        data = b"".join(file.read_bytes() for file in folder.iterdir() if file.name.startswith(life.path.name))
        for token in life.gone:
            assert token.encode() not in data
            assert token.lower().encode() not in data
        assert b"Bystander Bob keeps bees." in data
        life.engine.close()
