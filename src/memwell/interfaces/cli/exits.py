"""Exit codes. They are stable; scripts may rely on them."""

from __future__ import annotations

from enum import IntEnum

from memwell.errors import (
    DecisionContractError,
    EmbeddingError,
    EvidenceConflictError,
    ExtractionError,
    ForgetScopeError,
    FormationInProgressError,
    IdempotencyConflictError,
    MemwellError,
    NotCurrentError,
    NotFoundError,
    PreconditionError,
    StaleDecisionError,
    StorageError,
)


class ExitCode(IntEnum):
    """What ``memwell`` ends with.

    Attributes:
        INPUT: an argument, a setting or a file is unusable, or the demo or a benchmark found
            something untrue.
        USAGE: the command line itself is wrong.
        STORAGE: the store cannot be opened, read or written, or is not sound.
        NOT_FOUND: an id names nothing.
        CONFLICT: something else changed or said otherwise in the meantime.
        PROVIDER: an embedder, extractor or judge failed.
        PARTLY: some items were not imported; the rest was.
        OUTPUT: standard output cannot be written.
        INTERNAL: a fault of the program.
        INTERRUPTED: stopped from the keyboard.
    """

    OK = 0
    INPUT = 1
    USAGE = 2
    STORAGE = 3
    NOT_FOUND = 4
    CONFLICT = 5
    PROVIDER = 6
    PARTLY = 7
    OUTPUT = 8
    INTERNAL = 70
    INTERRUPTED = 130


class StoppedError(Exception):
    """A verb ended early because the keyboard asked for it; the message says how to go on."""


# First match counts, so narrower errors stand before wider ones.
_BY_ERROR: tuple[tuple[type[MemwellError], ExitCode], ...] = (
    (NotFoundError, ExitCode.NOT_FOUND),
    (StorageError, ExitCode.STORAGE),
    (NotCurrentError, ExitCode.CONFLICT),
    (EvidenceConflictError, ExitCode.CONFLICT),
    (IdempotencyConflictError, ExitCode.CONFLICT),
    (StaleDecisionError, ExitCode.CONFLICT),
    (ForgetScopeError, ExitCode.CONFLICT),
    (FormationInProgressError, ExitCode.CONFLICT),
    (PreconditionError, ExitCode.CONFLICT),
    (ExtractionError, ExitCode.PROVIDER),
    (EmbeddingError, ExitCode.PROVIDER),
    (DecisionContractError, ExitCode.PROVIDER),
)


def exit_code(error: MemwellError) -> ExitCode:
    """Exit code for ``error``."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.INPUT)
