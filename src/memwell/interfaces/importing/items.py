"""What parsers give: messages and problems, each with the line of the file it begins on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One message as a file holds it.

    Attributes:
        line: line of the file it begins on, from 1.
        session: the session the file names for it, or one made from the file's name.
        content: text or OpenAI-style text parts; checked when it is written, like everything a host hands over.
        role: as the file has it; ``None`` where it only names a speaker.
        id: the file's own id of the message; ``None`` where it has none.
        at: ISO 8601 time; ``None`` where the file gives none.
        owner: whose memory it is, where it is one of another engine that says so.
        calls_tools: it carries tool calls, so empty content is no error.
    """

    line: int
    session: str
    content: Any
    role: str | None = None
    speaker: str | None = None
    id: str | None = None
    at: str | None = None
    calls_tools: bool = False
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An item that could not be imported, and why.

    Attributes:
        line: line of the file it begins on, from 1.
        number: which message of the file it is, or would be, from 1; ``None`` until they are counted.
    """

    line: int
    reason: str
    number: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}" if self.number is None else f"line {self.line}, message {self.number}"
        return f"{place}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        return {"line": self.line, "message": self.number, "reason": self.reason}


Item = Message | Problem
