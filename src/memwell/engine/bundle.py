"""The format of portable bundles: gzipped JSON Lines of one scope or of a whole store. See docs/bundles.md.

The first line is the header, with the SHA-256 of all lines after it; the bytes depend on nothing but the content.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from memwell.domain.changes import BOTH_WAYS
from memwell.domain.command import read_receipt
from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord, Transition
from memwell.domain.plan import KeepReceipt
from memwell.domain.scope import Scope
from memwell.domain.shapes import fault_of_restored
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
Row = tuple[int, Mapping[str, Any]]  # with the number of its line
Lives = tuple[tuple[MemoryRecord, tuple[Transition, ...]], ...]
FORMAT = "memwell-bundle"
VERSION = 1
MAX_BYTES = 4 * 1024**3
MAX_RATIO = 200  # unpacked to packed; text of people shrinks to a tenth at most
_FREE_BYTES = 16 * 1024**2  # below which the ratio does not matter
_CHUNK = 1 << 20
_SCOPE_LINE = b',"type":"scope"}'  # keys are sorted, and quotes within strings are escaped


@dataclass(frozen=True, slots=True)
class Contents:
    """All that is kept of one scope. Read from a bundle, each sort is in order of its ids.

    Attributes:
        memories: with the transitions of their lives.
        dependencies: what evidence was declared to be made from, where anything.
        formed: ids of the evidence from which memories have been formed.
    """

    scope: Scope
    evidence: tuple[Evidence, ...]
    memories: Lives
    dependencies: Mapping[str, tuple[str, ...]]
    formed: frozenset[str]
    tombstones: tuple[Tombstone, ...]
    receipts: tuple[KeepReceipt, ...]


@dataclass(frozen=True, slots=True)
class Bundle(Contents):
    """What a bundle holds of one scope.

    Attributes:
        id: SHA-256 of it.
    """

    id: str


def pack(contents: Contents) -> bytes:
    """The bytes of a bundle of one scope. Records may come in any order."""
    return _packed(_lines(contents), {"scope": contents.scope.to_dict()})


def pack_store(scopes: Iterable[Contents]) -> bytes:
    """The bytes of a bundle of a whole store; scopes in the order given."""
    lines: list[bytes] = []
    count = 0
    for contents in scopes:
        lines += [_line("scope", {"scope": contents.scope.to_dict()}), *_lines(contents)]
        count += 1
    return _packed(lines, {"scopes": count})


def _lines(contents: Contents) -> list[bytes]:
    lines: list[bytes] = []
    dependencies = contents.dependencies
    for record in sorted(contents.evidence, key=lambda record: record.id):
        extra = {"formed": record.id in contents.formed, "dependencies": list(dependencies.get(record.id, ()))}
        lines.append(_line("evidence", {**_without_scope(record.to_dict()), **extra}))
    for memory, steps in sorted(contents.memories, key=lambda pair: pair[0].id):
        life = {"transitions": [transition_to_dict(step) for step in steps]}
        lines.append(_line("memory", {**_without_scope(memory.to_dict()), **life}))
    stones = sorted(contents.tombstones, key=lambda stone: stone.record_id)
    lines += [_line("tombstone", tombstone_to_dict(stone)) for stone in stones]
    for kept in sorted(contents.receipts, key=lambda kept: kept.receipt.command_id):
        row = {"receipt": kept.receipt.to_dict(), "input_hash": kept.input_hash.hex(), "hash_key": kept.hash_key.hex()}
        lines.append(_line("receipt", row))
    return lines


def _packed(lines: list[bytes], about: Mapping[str, Any]) -> bytes:
    content = b"".join(lines)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "lines": len(lines),
        "sha256": hashlib.sha256(content).hexdigest(),
        **about,
    }
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as archive:
        archive.write(_json(header) + content)
    return packed.getvalue()


def unpack(data: bytes, *, scope: Scope | None = None, max_bytes: int = MAX_BYTES) -> tuple[Bundle, ...]:
    """What these bytes hold, scope by scope, every line checked.

    Args:
        scope: another scope to read it into than the one it names: its subject is renamed.
        max_bytes: the most that it may unpack to.

    Raises:
        BundleError: ``bundle_invalid``, ``bundle_truncated``, ``bundle_newer``, ``bundle_too_large``, or
            ``bundle_of_store`` where a whole store is to be read into one scope.
    """
    whole = _unzipped(data, max_bytes)
    if not whole:
        raise BundleError("the file is empty", remedy="name the file that was exported, or copy it again")
    header, _, content = whole.partition(b"\n")
    found = _checked_header(header, content)
    parts = list(_parts(found, content))
    if scope is not None and "scope" not in found:
        raise BundleError(
            f"the bundle is of a whole store, of {len(parts)} scopes",
            remedy="take it in without naming a user; each scope goes where it was",
            code="bundle_of_store",
        )
    if "scope" not in found and found.get("scopes") != len(parts):
        raise _invalid("it does not hold as many scopes as it says")
    return tuple(_bundle(scope or named, lines, first) for named, lines, first in parts)


def _parts(header: Mapping[str, Any], content: bytes) -> Iterator[tuple[Scope, list[bytes], int]]:
    """Each scope of the bundle with its lines, and the number of the first of them."""
    # Only "\n" ends a line: other separators may stand unescaped inside JSON strings.
    lines = content.split(b"\n")[:-1]
    if "scope" in header:
        yield _scope(header["scope"]), lines, 2
        return
    starts = [i for i, line in enumerate(lines) if line.endswith(_SCOPE_LINE)]
    if lines and starts[:1] != [0]:
        raise _invalid("it does not begin with a scope")
    for start, end in pairwise([*starts, len(lines)]):
        yield _scope(_object(lines[start], start + 2).get("scope")), lines[start + 1 : end], start + 3


def _scope(value: object) -> Scope:
    try:
        if isinstance(value, Mapping):
            return Scope(**value)
    except (TypeError, MemwellError):
        pass
    raise _invalid("it names no scope")


def _bundle(scope: Scope, lines: list[bytes], first: int) -> Bundle:
    rows: dict[str, list[Row]] = {"evidence": [], "memory": [], "tombstone": [], "receipt": []}
    for number, line in enumerate(lines, first):
        row = _object(line, number)
        kind = row.get("type")
        if kind not in rows:
            raise _invalid(f"line {number} is of the unknown type {kind!r}")
        rows[kind].append((number, row))
    memories = _read_all(rows["memory"], lambda row: _memory(row, scope))
    _check_links(memories, [number for number, _ in rows["memory"]])
    evidence = [row for _, row in rows["evidence"]]
    return Bundle(
        scope=scope,
        evidence=_read_all(rows["evidence"], lambda row: _evidence(row, scope)),
        memories=memories,
        dependencies={row["id"]: tuple(row["dependencies"]) for row in evidence if row.get("dependencies")},
        formed=frozenset(row["id"] for row in evidence if row.get("formed")),
        tombstones=_read_all(rows["tombstone"], tombstone_from_dict),
        receipts=_read_all(rows["receipt"], _receipt),
        id=hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest(),
    )


def _read_all(rows: list[Row], read: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
    found = []
    ids: set[object] = set()
    for number, row in rows:
        try:
            found.append(read(row))
        except (KeyError, TypeError, ValueError, AttributeError, MemwellError) as error:
            raise _invalid(f"line {number}: a {row['type']} cannot be read: {error!r}") from None
        if (key := row.get("id", number)) in ids:
            raise _invalid(f"line {number}: {row['type']} {key} is there twice")
        ids.add(key)
    return tuple(found)


def _evidence(row: Mapping[str, Any], scope: Scope) -> Evidence:
    record = evidence_from_dict(row, scope)
    if not record.content:
        raise ValueError(f"{record.id} is empty")
    return record


def _memory(row: Mapping[str, Any], scope: Scope) -> tuple[MemoryRecord, tuple[Transition, ...]]:
    memory = memory_from_dict(row, scope)
    steps = tuple(transition_from_dict(step, memory.id) for step in row["transitions"])
    if fault := fault_of_restored(memory, steps):
        raise ValueError(f"{memory.id} {fault}")
    return memory, steps


def _check_links(memories: Lives, numbers: Sequence[int]) -> None:
    """Both ends of every link within the bundle must say so."""
    links = {memory.id: memory.links for memory, _ in memories}
    for (memory, _), number in zip(memories, numbers, strict=True):
        for name, mirror in BOTH_WAYS.items():
            for other in getattr(memory.links, name):
                if other in links and memory.id not in getattr(links[other], mirror):
                    raise _invalid(f"line {number}: memory {memory.id} {name} {other}, which does not say so")


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


def _checked_header(header: bytes, content: bytes) -> Mapping[str, Any]:
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
    if "scope" not in found and not isinstance(found.get("scopes"), int):
        raise _invalid("its header names no scope")
    return found


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
