"""A process that writes to a store, for tests that need several or kill one. Run as a script; prints what it did.

child.py STORE NAME COUNT [SCOPES]    apply COUNT plans named NAME_0, NAME_1, …, and print each id once applied
child.py STORE rebuild                rebuild the indexes
child.py STORE read SECONDS           hold a view open, counting what it sees again and again
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

from memwell.domain.lens import Lens
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.engine.queries import PoolQuery
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import ALICE, HashEmbedder, make_plan, statement
from memwell.testing.faults import armed


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def tell(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def write(store: SqliteStore, name: str, count: int, scopes: int) -> None:
    embedder = HashEmbedder()
    for number in range(count):
        key = f"{name}_{number}"
        scope = ALICE if scopes == 1 else Scope(f"user{number % scopes}")
        operations = statement(key, f"Statement {number} of {name}", embedder, scope=scope)
        store.apply(make_plan(f"plan_{key}", *operations, scope=scope, at=datetime.now(UTC)))
        tell(key)


def read(store: SqliteStore, seconds: float) -> None:
    with store.view() as view:
        first = view.count(ALICE, Lens(now=datetime.now(UTC)))
        tell(first)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            terms = ["statement"]
            pool = view.pool(
                ALICE,
                Unit.MEMORY,
                PoolQuery(model="", vector=None, terms=terms, lens=Lens(now=datetime.now(UTC)), limit=10**6),
            )
            if len(pool) != first or view.count(ALICE, Lens(now=datetime.now(UTC))) != first:
                sys.exit("the view changed under its reader")
            time.sleep(0.02)


def main() -> None:
    path, what, *rest = sys.argv[1:]
    store = SqliteStore(path, clock=SystemClock(), busy_timeout=60.0, reach=armed())
    if what == "rebuild":
        store.rebuild()
    elif what == "read":
        read(store, float(rest[0]))
    else:
        write(store, what, int(rest[0]), int(rest[1]) if len(rest) > 1 else 1)
    store.close()


if __name__ == "__main__":
    main()
