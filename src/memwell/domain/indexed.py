"""What of a record is indexed: its words behind the name of whoever said them, since questions ask by name."""

from __future__ import annotations

from collections.abc import Mapping

from memwell.domain.evidence import Evidence, Speaker

SPEAKER = "speaker"  # qualifier of a memory: the display name of who said it


def speaker_name(evidence: Evidence) -> str | None:
    """Name of the person whose words they are; ``None`` for observed and imported material."""
    return evidence.name if evidence.speaker is Speaker.USER else None


def evidence_prefix(evidence: Evidence) -> str:
    """``"Ana: "`` for a named person's words, else nothing."""
    name = speaker_name(evidence)
    return f"{name}: " if name else ""


def memory_prefix(qualifiers: Mapping[str, str]) -> str:
    """The same for a memory, from its qualifiers."""
    speaker = qualifiers.get(SPEAKER)
    return f"{speaker}: " if speaker else ""
