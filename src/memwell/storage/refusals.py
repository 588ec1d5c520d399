"""Refusals that every store makes in the same words."""

from __future__ import annotations

from memwell.domain.plan import Plan
from memwell.domain.scope import Scope
from memwell.errors import (
    CommandConflictError,
    IdempotencyConflictError,
    InputError,
    PlanRejectedError,
    PreconditionError,
    StoreBusyError,
)


def moved_epoch(plan: Plan, epoch: int) -> PreconditionError:
    return PreconditionError(
        f"plan {plan.id}: its scope is at epoch {epoch}, not {plan.expected_epoch}",
        remedy="read the memories again and repeat",
    )


def other_input(request_id: str) -> IdempotencyConflictError:
    return IdempotencyConflictError(
        f"request_id {request_id!r} was used before with other input", remedy="use a new request_id for new input"
    )


def busy_scope(scope: Scope, seconds: float) -> StoreBusyError:
    return StoreBusyError(
        f"another writer has held the memories of {scope.user_id!r} for more than {seconds:g} s",
        remedy="repeat the call; a writer that died gives way within a minute",
    )


def other_dimensions(plan: Plan, model: str, given: int, known: int) -> PlanRejectedError:
    return PlanRejectedError(
        f"plan {plan.id}: a vector of {model} has {given} dimensions, those stored have {known}",
        remedy="use one name per embedding model and size",
    )


def other_shape(model: str, shape: tuple[int, ...], known: int) -> InputError:
    return InputError(
        f"the question's vector has shape {shape}; vectors of {model} have {known} dimensions",
        remedy="use one name per embedding model and size",
    )


def other_command(command_id: str) -> CommandConflictError:
    return CommandConflictError(
        f"command_id {command_id!r} was used before for another command",
        remedy="use a new command_id for a new command",
    )
