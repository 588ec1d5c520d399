"""JSON text walked part by part, so that each part is known by the line it begins on."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")


class BrokenJsonError(Exception):
    """The text stops being JSON on ``line``."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class LocatedJson:
    """JSON text; offsets are character positions in it.

    Args:
        text: the text.
        first_line: line number of its first line, where it is a part of a file.
    """

    def __init__(self, text: str, first_line: int = 1) -> None:
        self.text = text
        self._first_line = first_line
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._decoder = json.JSONDecoder()

    def line(self, offset: int) -> int:
        return self._first_line + bisect_right(self._line_ends, offset - 1)

    def skip_space(self, offset: int) -> int:
        match = _SPACE.match(self.text, offset)
        return match.end() if match else offset

    def value(self, offset: int) -> tuple[Any, int]:
        """Value that begins at ``offset`` and the offset after it."""
        try:
            return self._decoder.raw_decode(self.text, offset)
        except json.JSONDecodeError as error:
            raise BrokenJsonError(self.line(error.pos), f"broken JSON: {error.msg}") from None
        except (RecursionError, ValueError) as error:  # nested too deep; a number with thousands of digits
            raise BrokenJsonError(self.line(offset), f"unreadable JSON: {error}") from None

    def elements(self, offset: int) -> Iterator[tuple[int, Any]]:
        """Elements, with their offsets, of the array that begins at ``offset``."""
        at = self.skip_space(offset + 1)
        while not self.text.startswith("]", at):
            found, end = self.value(at)
            yield at, found
            at = self._after_comma(end, "]")

    def members(self, offset: int) -> Iterator[tuple[str, int, Any]]:
        """Keys and values, with the values' offsets, of the object that begins at ``offset``."""
        at = self.skip_space(offset + 1)
        while not self.text.startswith("}", at):
            key, end = self.value(at)
            at = self.skip_space(self.skip_space(end) + 1)  # past the colon, which the object was decoded with
            found, end = self.value(at)
            yield key, at, found
            at = self._after_comma(end, "}")

    def _after_comma(self, offset: int, closing: str) -> int:
        at = self.skip_space(offset)
        if self.text.startswith(",", at):
            return self.skip_space(at + 1)
        if not self.text.startswith(closing, at):
            raise BrokenJsonError(self.line(at), f"broken JSON: ',' or '{closing}' expected")
        return at
