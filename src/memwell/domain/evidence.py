"""Evidence: immutable verbatim source records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memwell.domain.scope import Scope

SOURCE_KEY = "source_key"  # metadata of an observation: the host's name of what is observed
VERSION = "version"  # and which version of it this is


AWAITING = "awaiting:"  # what the origin of a quote begins with that waits for the message it is from
CORRECTS = "corrects"  # metadata of such a quote: ids of the memories that it corrects


def keyed_prefix(start: str) -> str:
    """What the origins of all observations whose source key begins with ``start`` begin with."""
    return f"observed:{start}"


def observed_prefix(source_key: str) -> str:
    """What the origins of all versions of an observed source begin with."""
    return f"{keyed_prefix(source_key)}:"


def message_origin(session_id: str, message_id: str) -> str:
    """The origin of a message that has an id of its host's."""
    return f"message:{session_id}:{message_id}"


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OBSERVED = "observed"
    IMPORT = "import"

    @property
    def supports_memories(self) -> bool:
        """Only what the user said, or what was observed or imported, is evidence about the user."""
        return self in (Speaker.USER, Speaker.OBSERVED, Speaker.IMPORT)


class EvidenceStatus(StrEnum):
    ACTIVE = "active"
    WITHDRAWN = "withdrawn"
    ERASED = "erased"


class Target(StrEnum):
    """Where recalled text goes: to a local reader or to a cloud endpoint."""

    LOCAL = "local"
    CLOUD = "cloud"


@dataclass(frozen=True, slots=True)
class Permissions:
    local: bool = True
    cloud: bool = True
    infer: bool = True

    def allows(self, target: Target) -> bool:
        return self.local if target is Target.LOCAL else self.cloud

    def tightened(self, other: Permissions) -> Permissions:
        """What both allow."""
        return Permissions(self.local and other.local, self.cloud and other.cloud, self.infer and other.infer)

    def to_dict(self) -> dict[str, bool]:
        return {"local": self.local, "cloud": self.cloud, "infer": self.infer}


def default_permissions(speaker: Speaker) -> Permissions:
    """User words may go anywhere the user's own prompts go; observed and tool material stays local."""
    return Permissions(cloud=speaker not in (Speaker.OBSERVED, Speaker.TOOL))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One immutable verbatim source record.

    Attributes:
        origin: stable identity of the source, unique in its scope.
        name: display name of who spoke, where the host gave one.
        preceding: the assistant turn just before, kept only to read short replies.
        occurred_at: when it was said or happened; recorded_at: when it was stored (both UTC).
        permitted_at: when its permissions were last changed; ``None`` where they are as at first.
    """

    id: str
    scope: Scope
    origin: str
    speaker: Speaker
    content: str
    occurred_at: datetime
    recorded_at: datetime
    session_id: str = "default"
    message_id: str | None = None
    name: str | None = None
    content_type: str = "text/plain"
    preceding: str | None = None
    permissions: Permissions = Permissions()
    status: EvidenceStatus = EvidenceStatus.ACTIVE
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    permitted_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "scope": self.scope.to_dict(),
            "session_id": self.session_id,
            "message_id": self.message_id,
            "origin": self.origin,
            "speaker": self.speaker.value,
            "name": self.name,
            "content": self.content,
            "content_type": self.content_type,
            "preceding": self.preceding,
            "permissions": self.permissions.to_dict(),
            "status": self.status.value,
            "occurred_at": self.occurred_at.isoformat(),
            "recorded_at": self.recorded_at.isoformat(),
            "valid_from": self.valid_from and self.valid_from.isoformat(),
            "valid_until": self.valid_until and self.valid_until.isoformat(),
            "metadata": dict(self.metadata),
            "permitted_at": self.permitted_at and self.permitted_at.isoformat(),
        }
