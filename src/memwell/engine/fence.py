"""The fence around recalled text: shows a model where data begins and ends, and keeps it from being learnt again."""

from __future__ import annotations

import re

OPEN = "<memwell-memory>"
CLOSE = "</memwell-memory>"
_BLOCK = re.compile(re.escape(OPEN) + ".*?" + re.escape(CLOSE) + r"\n?", re.DOTALL)
_MARK = re.compile(r"<(/?)(memwell-memory)>", re.IGNORECASE)


def without_fenced(text: str) -> str:
    """``text`` without the blocks that a host put there from an earlier recall; an unclosed one stays."""
    return _BLOCK.sub("", text)


def harmless(text: str) -> str:
    """``text`` on one line, its own fence marks defused, so that it cannot close the fence it stands in."""
    return _MARK.sub(r"‹\1\2›", " ".join(text.split()))
