"""The reference account book."""

from __future__ import annotations

from threading import Lock

from memwell.engine.calls import Call
from memwell.storage.refusals import over_budget


class MemorySpending:
    """See ``calls.Spending``."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._guard = Lock()

    def begin(self, call: Call, limit: int | None) -> int:
        with self._guard:
            if limit is not None and call.scope is not None:
                same = [c for c in self._calls if c.scope == call.scope and c.at.date() == call.at.date()]
                spent = sum(c.tokens_in + c.tokens_out for c in same)
                if spent + call.tokens_in + call.tokens_out > limit:
                    raise over_budget(call, spent, limit)
            self._calls.append(call)
            return len(self._calls) - 1

    def end(self, number: int, call: Call) -> None:
        with self._guard:
            self._calls[number] = call

    def totals(self) -> dict[str, dict[str, float]]:
        with self._guard:
            calls = list(self._calls)
        found: dict[str, dict[str, float]] = {}
        for call in calls:
            row = found.setdefault(call.model, dict.fromkeys(("calls", "failed", "tokens_in", "tokens_out"), 0))
            row["calls"] += 1
            row["failed"] += call.outcome not in ("answered", "open")
            row["tokens_in"] += call.tokens_in
            row["tokens_out"] += call.tokens_out
            row["seconds"] = row.get("seconds", 0.0) + call.seconds
        return found
