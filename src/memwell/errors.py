"""One error tree. Every error says what was wrong, with which value, and what to do.

MemwellError
├── InputError                  the caller's argument is unusable
│   └── NotFoundError           the id names nothing in this scope
├── ConfigurationError          a setting is unknown, missing or out of range
├── NotCurrentError             the version is no longer current, so it cannot be changed
├── EvidenceConflictError       one origin, two different contents
├── IdempotencyConflictError    one request id, two different inputs
├── StaleDecisionError          another writer kept winning; safe to repeat as is
├── DecisionContextError        the material does not fit the judge, or the action not its target
├── DecisionContractError       the judge answered something that was not asked
├── ExtractionError             the extractor failed or answered nonsense
├── EmbeddingError              the embedder failed or returned an unusable vector
├── JudgeError                  the judge's endpoint failed or could not be reached
├── BudgetError                 the scope has spent its tokens of the day
├── AccessError                 a server wants an API key, another one, or one with more rights
├── LimitError                  a server refuses a request that is too large, too slow or one too many
├── UnreachableError            a server cannot be reached, or what answers there is no Memwell
├── PlanRejectedError           a plan breaks an invariant
│   ├── PreconditionError       a plan was made against records that have changed since
│   └── LeaseLostError          the job was claimed by somebody else in the meantime
└── StorageError                the store cannot be opened, read or written
    ├── NotAStoreError          the file is no Memwell store
    ├── SchemaError             the store's schema is newer or unknown; it was not touched
    ├── StoreBusyError          another writer held the store or the scope too long
    └── StoreFullError          the disk has no room; nothing was half written
"""

from __future__ import annotations


class MemwellError(Exception):
    """Base of all errors.

    Args:
        message: what was wrong, naming the value.
        remedy: what the caller can do about it.
        code: stable machine-readable code; the class default where omitted.
    """

    code = "memwell_error"

    def __init__(self, message: str, *, remedy: str, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})"

    def to_dict(self) -> dict[str, str]:
        """Return ``{"code", "message", "remedy"}`` for machine-readable output."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy}


class InputError(MemwellError, ValueError):
    code = "invalid_input"


class NotFoundError(InputError):
    code = "not_found"


class ConfigurationError(MemwellError):
    code = "invalid_configuration"


class NotCurrentError(MemwellError):
    code = "not_current"


class EvidenceConflictError(MemwellError):
    code = "evidence_conflict"


class IdempotencyConflictError(MemwellError):
    code = "idempotency_conflict"


class StaleDecisionError(MemwellError):
    code = "stale_decision"


class DecisionContextError(MemwellError):
    code = "decision_context"


class DecisionContractError(MemwellError):
    code = "decision_contract"


class ExtractionError(MemwellError):
    code = "extraction_failed"


class EmbeddingError(MemwellError):
    code = "embedding_failed"


class JudgeError(MemwellError):
    code = "judge_failed"


class BudgetError(MemwellError):
    code = "budget_exhausted"


class AccessError(MemwellError):
    code = "access_denied"


class LimitError(MemwellError):
    code = "limit_exceeded"


class UnreachableError(MemwellError):
    code = "unreachable"


class PlanRejectedError(MemwellError):
    code = "plan_rejected"


class PreconditionError(PlanRejectedError):
    code = "precondition_failed"


class LeaseLostError(PlanRejectedError):
    code = "lease_lost"


class StorageError(MemwellError):
    code = "storage_failed"


class NotAStoreError(StorageError):
    code = "not_a_store"


class SchemaError(StorageError):
    code = "schema_unknown"


class StoreBusyError(StorageError):
    code = "store_busy"


class StoreFullError(StorageError):
    code = "store_full"
