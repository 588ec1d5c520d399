"""Stored text made harmless for terminals: what could move the cursor, hide or reorder text is shown as an escape."""

from __future__ import annotations

import json
import re
from typing import Any

# C0 without tab and line feed, DEL, C1, direction overrides and isolates, line and paragraph separators.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def plain(text: str) -> str:
    """``text`` with harmful characters written as ``\\uXXXX``; tabs and line ends stay."""
    return _HARMFUL.sub(_escape, text)


def one_line(text: str) -> str:
    """``text`` on one line, harmless."""
    return plain(" ".join(text.split()))


def dump(value: Any) -> str:
    """JSON of ``value``, readable in any language; harmful characters are escaped, which is the same JSON."""
    return _HARMFUL.sub(_escape, json.dumps(value, ensure_ascii=False, indent=2)) if value is not None else "null"
