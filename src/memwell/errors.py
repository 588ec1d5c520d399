"""One error tree. Every error says what was wrong, with which value, and what to do.

MemwellError
├── InputError                  the caller's argument is unusable
│   ├── NotFoundError           the id names nothing in this scope
│   └── BundleError             the file is no bundle of this version, is torn, or contradicts the store
├── ConfigurationError          a setting is unknown, missing or out of range
├── NotCurrentError             the version is no longer current, so it cannot be changed
├── EvidenceConflictError       one origin, two different contents
│   ├── ErasedSourceError       the source was erased and never comes back
│   └── StaleObservationError   a newer version of the observed source is known
├── IdempotencyConflictError    one request id, two different inputs
│   └── CommandConflictError    one command id, two different commands
├── ForgetScopeError            what a preview showed has changed since it was confirmed
├── FormationInProgressError    messages of the scope are being formed; forgetting waits
├── ReceiptError                a receipt was changed, or is none
├── StaleDecisionError          another writer kept winning; safe to repeat as is
├── DecisionContextError        the material does not fit the judge, or the action not its target
├── DecisionContractError       the judge answered something that was not asked
├── ExtractionError             the extractor failed or answered nonsense
├── EmbeddingError              the embedder failed or returned an unusable vector
├── AccessError                 a server wants an API key, another one, or one with more rights
├── LimitError                  a server refuses a request that is too large, too slow or one too many
├── UnreachableError            a server cannot be reached, or what answers there is no Memwell
├── PlanRejectedError           a plan breaks an invariant
│   └── PreconditionError       a plan was made against records that have changed since
│       └── StaleImportError    the store has changed since an import was planned
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


class BundleError(InputError):
    code = "bundle_invalid"


class ConfigurationError(MemwellError):
    code = "invalid_configuration"


class NotCurrentError(MemwellError):
    code = "not_current"


class EvidenceConflictError(MemwellError):
    code = "evidence_conflict"


class ErasedSourceError(EvidenceConflictError):
    code = "erased_source"


class StaleObservationError(EvidenceConflictError):
    code = "stale_observed_version"


class IdempotencyConflictError(MemwellError):
    code = "idempotency_conflict"


class CommandConflictError(IdempotencyConflictError):
    code = "command_id_conflict"


class ForgetScopeError(MemwellError):
    code = "forget_scope_changed"


class FormationInProgressError(MemwellError):
    code = "formation_in_progress"


class ReceiptError(MemwellError):
    code = "receipt_invalid"


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


class StaleImportError(PreconditionError):
    code = "portable_plan_stale"


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
