"""The format of portable bundles: gzipped JSON Lines of one scope. See docs/bundles.md.

The first line is the header, with the SHA-256 of all lines after it; the bytes depend on nothing but the content.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from memwell.domain.command import read_receipt
from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord, Transition
from memwell.domain.plan import KeepReceipt
from memwell.domain.scope import Scope
from memwell.domain.tombstone import Tombstone
from memwell.domain.written import (
    evidence_from_dict,
    memory_from_dict,
    tombstone_from_dict,
    tombstone_to_dict,
    transition_from_dict,
    transition_to_dict,
)
from memwell.errors import BundleError, MemwellError

T = TypeVar("T")
FORMAT = "memwell-bundle"
VERSION = 1
MAX_BYTES = 4 * 1024**3
MAX_RATIO = 200  # unpacked to packed; text of people shrinks to a tenth at most
_FREE_BYTES = 16 * 1024**2  # below which the ratio does not matter
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that is kept of one scope, each sort in order of its ids.

    Attributes:
        id: SHA-256 of the content.
        memories: with the transitions of their lives.
        dependencies: what evidence was declared to be made from, where anything.
        formed: ids of the evidence from which memories have been formed.
    """

    id: str
    scope: Scope
    evidence: tuple[Evidence, ...]
    memories: tuple[tuple[MemoryRecord, tuple[Transition, ...]], ...]
    dependencies: Mapping[str, tuple[str, ...]]
    formed: frozenset[str]
    tombstones: tuple[Tombstone, ...]
    receipts: tuple[KeepReceipt, ...]


def pack(
    scope: Scope,
    evidence: Iterable[Evidence],
    memories: Iterable[tuple[MemoryRecord, tuple[Transition, ...]]],
    dependencies: Mapping[str, tuple[str, ...]],
    formed: frozenset[str],
    tombstones: Iterable[Tombstone],
    receipts: Iterable[KeepReceipt],
) -> bytes:
    """The bytes of a bundle. Records may come in any order."""
    lines: list[bytes] = []
    for record in sorted(evidence, key=lambda record: record.id):
        extra = {"formed": record.id in formed, "dependencies": list(dependencies.get(record.id, ()))}
        lines.append(_line("evidence", {**_without_scope(record.to_dict()), **extra}))
    for memory, steps in sorted(memories, key=lambda pair: pair[0].id):
        life = {"transitions": [transition_to_dict(step) for step in steps]}
        lines.append(_line("memory", {**_without_scope(memory.to_dict()), **life}))
    lines += [_line("tombstone", tombstone_to_dict(stone)) for stone in sorted(tombstones, key=lambda s: s.record_id)]
    for kept in sorted(receipts, key=lambda kept: kept.receipt.command_id):
        row = {"receipt": kept.receipt.to_dict(), "input_hash": kept.input_hash.hex(), "hash_key": kept.hash_key.hex()}
        lines.append(_line("receipt", row))
    content = b"".join(lines)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scope": scope.to_dict(),
        "lines": len(lines),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as archive:
        archive.write(_json(header) + content)
    return packed.getvalue()


def unpack(data: bytes, *, scope: Scope | None = None, max_bytes: int = MAX_BYTES) -> Bundle:
    """The bundle of these bytes, every line checked.

    Args:
        scope: another scope to read it into than the one it names: its subject is renamed.
        max_bytes: the most that it may unpack to.

    Raises:
        BundleError: ``bundle_invalid``, ``bundle_truncated``, ``bundle_newer`` or ``bundle_too_large``.
    """
    header, _, content = _unzipped(data, max_bytes).partition(b"\n")
    named = _checked_header(header, content)
    target = scope or named
    rows: dict[str, list[Mapping[str, Any]]] = {"evidence": [], "memory": [], "tombstone": [], "receipt": []}
    for number, row in _rows(content):
        kind = row.get("type")
        if kind not in rows:
            raise _invalid(f"line {number} is of the unknown type {kind!r}")
        rows[kind].append(row)
    return Bundle(
        id=hashlib.sha256(content).hexdigest(),
        scope=target,
        evidence=_read_all(rows["evidence"], lambda row: evidence_from_dict(row, target)),
        memories=_read_all(rows["memory"], lambda row: _memory(row, target)),
        dependencies={r["id"]: tuple(r["dependencies"]) for r in rows["evidence"] if r.get("dependencies")},
        formed=frozenset(row["id"] for row in rows["evidence"] if row.get("formed")),
        tombstones=_read_all(rows["tombstone"], tombstone_from_dict),
        receipts=_read_all(rows["receipt"], _receipt),
    )


def _read_all(rows: list[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    found = []
    for row in rows:
        try:
            found.append(read(row))
        except (KeyError, TypeError, ValueError, AttributeError, MemwellError) as error:
            raise _invalid(f"a {row['type']} cannot be read: {error!r}") from None
    return tuple(found)


def _memory(row: Mapping[str, Any], scope: Scope) -> tuple[MemoryRecord, tuple[Transition, ...]]:
    memory = memory_from_dict(row, scope)
    return memory, tuple(transition_from_dict(step, memory.id) for step in row["transitions"])


def _receipt(row: Mapping[str, Any]) -> KeepReceipt:
    return KeepReceipt(read_receipt(row["receipt"]), bytes.fromhex(row["input_hash"]), bytes.fromhex(row["hash_key"]))


def _unzipped(data: bytes, max_bytes: int) -> bytes:
    limit = min(max_bytes, max(_FREE_BYTES, len(data) * MAX_RATIO))
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as archive:
            while part := archive.read(_CHUNK):
                parts.append(part)
                size += len(part)
                if size > limit:
                    raise BundleError(
                        f"the bundle unpacks to more than {limit:,} bytes",
                        remedy="a true bundle does not; fetch it again from where it was exported",
                        code="bundle_too_large",
                    )
    except EOFError:
        raise _truncated() from None
    except (OSError, zlib.error):
        raise _invalid("it is no gzip archive, or damaged") from None
    return b"".join(parts)


def _checked_header(header: bytes, content: bytes) -> Scope:
    found = _object(header, 1)
    if found.get("format") != FORMAT or not isinstance(found.get("version"), int):
        raise _invalid("its first line is no header")
    if found["version"] > VERSION:
        raise BundleError(
            f"the bundle is of version {found['version']}; this program reads up to {VERSION}",
            remedy="update memwell; nothing was taken in",
            code="bundle_newer",
        )
    if content.count(b"\n") != found.get("lines"):
        raise _truncated()
    if hashlib.sha256(content).hexdigest() != found.get("sha256"):
        raise _invalid("its content does not match its hash")
    try:
        return Scope(**found["scope"])
    except (KeyError, TypeError, MemwellError):
        raise _invalid("its header names no scope") from None


def _rows(content: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # Only "\n" ends a line: other separators may stand unescaped inside JSON strings.
    for number, line in enumerate(content.split(b"\n")[:-1], 2):
        yield number, _object(line, number)


def _object(line: bytes, number: int) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise _invalid(f"line {number} is no JSON") from None
    if not isinstance(found, dict):
        raise _invalid(f"line {number} is no object")
    return found


def _without_scope(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("scope", "layer", "confidence")}


def _line(kind: str, row: Mapping[str, Any]) -> bytes:
    return _json({"type": kind, **row})


def _json(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii") + b"\n"


def _invalid(what: str) -> BundleError:
    return BundleError(f"this is no bundle that can be read: {what}", remedy="export it again; nothing was taken in")


def _truncated() -> BundleError:
    return BundleError("the bundle is cut short", remedy="copy it again; nothing was taken in", code="bundle_truncated")
