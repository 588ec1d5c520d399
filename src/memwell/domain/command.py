"""Commands and receipts: who asked for what, and the durable proof of what was done. Receipts hold no user text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from memwell.domain.scope import Scope
from memwell.errors import ReceiptError

FORMAT = "memwell-receipt-1"
_FIELDS = (
    "format",
    "command_id",
    "scope",
    "actor",
    "operation",
    "outcome",
    "submitted_at",
    "plan_id",
    "seq",
    "targets",
    "changed",
    "details",
)


class Outcome(StrEnum):
    """What came of a command. A refused command raises its error and leaves no receipt, so it may be repeated."""

    APPLIED = "applied"
    NO_CHANGE = "no_change"


@dataclass(frozen=True, slots=True)
class Command:
    """An act of management as it was asked for.

    Attributes:
        id: the caller's; the same id with the same input gives the first receipt again.
        operation: ``permit``, ``correct``, ``retract`` …
        actor: who asks; a name of the host's choice.
        targets: ids of what it is about.
        input: everything asked, as one text; kept only as a keyed hash, to tell a repeat from another command.
        details: numbers and words of the engine's own for the receipt; no user text.
    """

    id: str
    operation: str
    actor: str
    targets: tuple[str, ...]
    input: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of one command: ids, counts and times. ``hash`` is SHA-256 of the rest in canonical JSON.

    Attributes:
        seq: ledger sequence of the last line of its plan.
        changed: ids of the records that it added, changed or erased, by what was done to them.
    """

    command_id: str
    scope: Scope
    actor: str
    operation: str
    outcome: Outcome
    submitted_at: datetime
    plan_id: str
    seq: int
    targets: tuple[str, ...]
    changed: Mapping[str, tuple[str, ...]]
    details: Mapping[str, Any]

    @property
    def hash(self) -> str:
        return _digest(self._body())

    def to_dict(self) -> dict[str, Any]:
        return {**self._body(), "hash": self.hash}

    def _body(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "command_id": self.command_id,
            "scope": self.scope.to_dict(),
            "actor": self.actor,
            "operation": self.operation,
            "outcome": self.outcome.value,
            "submitted_at": self.submitted_at.isoformat(),
            "plan_id": self.plan_id,
            "seq": self.seq,
            "targets": list(self.targets),
            "changed": {name: list(ids) for name, ids in self.changed.items()},
            "details": dict(self.details),
        }


def read_receipt(value: object) -> Receipt:
    """The receipt that ``Receipt.to_dict`` wrote, its hash checked. Needs no store.

    Raises:
        ReceiptError: it is no receipt, or a part of it was changed.
    """
    if not isinstance(value, Mapping) or value.get("format") != FORMAT or set(value) != {*_FIELDS, "hash"}:
        raise ReceiptError("this is no receipt of this version", remedy=f"give one with the format {FORMAT}")
    body = {name: value[name] for name in _FIELDS}
    if _digest(body) != value["hash"]:
        raise ReceiptError(
            f"receipt {value['command_id']} does not match its hash", remedy="it was changed; fetch it from its store"
        )
    try:
        return Receipt(
            command_id=value["command_id"],
            scope=Scope(**value["scope"]),
            actor=value["actor"],
            operation=value["operation"],
            outcome=Outcome(value["outcome"]),
            submitted_at=datetime.fromisoformat(value["submitted_at"]),
            plan_id=value["plan_id"],
            seq=value["seq"],
            targets=tuple(value["targets"]),
            changed={name: tuple(ids) for name, ids in value["changed"].items()},
            details=dict(value["details"]),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ReceiptError(f"the receipt cannot be read: {error}", remedy="fetch it from its store") from None


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
