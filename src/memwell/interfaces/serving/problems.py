"""Errors as problem details (RFC 9457): a stable code, what was wrong, what to do."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse

from memwell import errors
from memwell.errors import MemwellError

BUNDLE_TYPE = "application/octet-stream"
URN = "urn:memwell:error:"

# First match counts, so narrower errors stand before wider ones. An error that is not here is a fault of the server.
_BY_CODE = {
    "no_key": 401,
    "wrong_key": 401,
    "too_large": 413,
    "too_slow": 408,
    "too_many_requests": 429,
    "overloaded": 503,
    "malformed_json": 400,
    "unsupported_media_type": 415,
    "method_not_allowed": 405,
    "stale_revision": 412,
}
_BY_ERROR: tuple[tuple[type[MemwellError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.InputError, 422),
    (errors.AccessError, 403),
    (errors.LimitError, 429),
    (errors.NotCurrentError, 409),
    (errors.EvidenceConflictError, 409),
    (errors.IdempotencyConflictError, 409),
    (errors.StaleDecisionError, 409),
    (errors.ForgetScopeError, 409),
    (errors.FormationInProgressError, 409),
    (errors.ReceiptError, 409),
    (errors.PreconditionError, 409),
    (errors.PlanRejectedError, 422),
    (errors.DecisionContextError, 422),
    (errors.DecisionContractError, 502),
    (errors.ExtractionError, 502),
    (errors.EmbeddingError, 502),
    (errors.JudgeError, 502),
    (errors.BudgetError, 429),
    (errors.StoreBusyError, 503),
    (errors.StoreFullError, 507),
    (errors.StorageError, 500),
    (errors.ConfigurationError, 500),
)
_RETRY_AFTER = {429: "1", 503: "1"}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What was wrong (RFC 9457). `code` is stable; `remedy` says what to do.",
    "required": ["type", "title", "status", "detail", "code", "remedy"],
    "properties": {
        "type": {"type": "string", "examples": [f"{URN}NotFoundError"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string", "examples": ["not_found"]},
        "remedy": {"type": "string"},
    },
}


class Json(JSONResponse):
    """JSON in UTF-8; half of a character that has no UTF-8 form is written as an escape."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


class Problem(Json):
    media_type = "application/problem+json"


def status_of(error: MemwellError) -> int:
    """HTTP status for ``error``."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    return next((status for kind, status in _BY_ERROR if isinstance(error, kind)), 500)


def problem(error: MemwellError, headers: dict[str, str] | None = None) -> Problem:
    """The answer that tells of ``error``."""
    status = status_of(error)
    body = {
        "type": f"{URN}{type(error).__name__}",
        "title": _title(type(error)),
        "status": status,
        "detail": error.message,
        "code": error.code,
        "remedy": error.remedy,
    }
    extra = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if status in _RETRY_AFTER:
        extra["Retry-After"] = _RETRY_AFTER[status]
    return Problem(body, status, headers={**extra, **(headers or {})})


def internal(request_id: str) -> Problem:
    """The answer where the server itself is at fault: nothing of what happened is told, only where to look."""
    body = {
        "type": f"{URN}Internal",
        "title": "internal fault",
        "status": 500,
        "detail": f"request {request_id} failed",
        "code": "internal",
        "remedy": "look for the request id in the server's log, and report it as a fault of Memwell",
    }
    return Problem(body, 500)


def _title(kind: type[MemwellError]) -> str:
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in kind.__name__.removesuffix("Error"))
    return words.strip()
