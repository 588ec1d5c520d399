"""Envelopes: one JSON object a line, closed in both directions.

A request is ``{"id", "method", "params"}``; an answer is ``{"id", "ok": true, "result", "replayed"}`` or
``{"id", "ok": false, "error": {"code", "message", "remedy"}}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwell.errors import InputError

MAX_LINE_BYTES = 8_000_000
MAX_ID_CHARS = 128
_KEYS = {"id", "method", "params"}


@dataclass(frozen=True, slots=True)
class Envelope:
    """One request."""

    id: str
    method: str
    params: Mapping[str, Any]


def read_envelope(line: bytes) -> Envelope:
    """The request on ``line``.

    Raises:
        InputError: it is too long, no JSON, or has a field too many or too few.
    """
    if len(line) > MAX_LINE_BYTES:
        raise _unusable(f"it has more than {MAX_LINE_BYTES:,} bytes", code="line_too_long")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("the line is no JSON", remedy="send one JSON object a line", code="malformed_json") from None
    if not isinstance(row, dict) or not {"id", "method"} <= row.keys() <= _KEYS:
        raise _unusable("it has other fields than id, method and params")
    if not isinstance(row["id"], str) or not 0 < len(row["id"]) <= MAX_ID_CHARS or not row["id"].isprintable():
        raise _unusable(f"id is not 1 to {MAX_ID_CHARS} printable characters")
    params = row.get("params", {})
    if not isinstance(row["method"], str) or not isinstance(params, dict):
        raise _unusable("method is no text, or params is no object")
    return Envelope(row["id"], row["method"], params)


def request_id_of(line: bytes) -> str | None:
    """The id on a line that is no usable request, where one can be read, so that its sender can tell which it was."""
    try:
        row = json.loads(line[:MAX_LINE_BYTES])
    except (ValueError, RecursionError):
        return None
    found = row.get("id") if isinstance(row, dict) else None
    return found if isinstance(found, str) and 0 < len(found) <= MAX_ID_CHARS else None


def done(request_id: str, result: Mapping[str, Any], *, replayed: bool) -> dict[str, Any]:
    """The answer to a request that was carried out."""
    return {"id": request_id, "ok": True, "result": result, "replayed": replayed}


def refused(request_id: str | None, error: Mapping[str, str]) -> dict[str, Any]:
    """The answer to a request that was not."""
    return {"id": request_id, "ok": False, "error": error}


def to_line(answer: Mapping[str, Any]) -> bytes:
    """``answer`` as one line of ASCII, which no encoding on the way can harm."""
    return json.dumps(answer, separators=(",", ":")).encode("ascii") + b"\n"


def _unusable(what: str, code: str = "malformed_envelope") -> InputError:
    remedy = 'send {"id": "…", "method": "…", "params": {…}}'
    return InputError(f"the request is unusable: {what}", remedy=remedy, code=code)
