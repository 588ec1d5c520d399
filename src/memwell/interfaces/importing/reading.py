"""Bytes of a chat file to text."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from memwell.errors import InputError

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path: Path) -> str:
    """Text of a file; see ``decode``.

    Raises:
        InputError: the file is missing, is a folder, cannot be read, is a broken archive or no text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror}", remedy="give the path of a file that can be read"
        ) from None
    return decode(data, repr(str(path)))


def decode(data: bytes, name: str) -> str:
    """Text of UTF-8 bytes (or UTF-16 with its mark), unpacked first where they are gzipped.

    Args:
        name: says in the error where they are from.

    Raises:
        InputError: they are a broken archive or no text.
    """
    if data.startswith(_GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise InputError(f"{name} is a broken gzip archive", remedy="fetch or pack it again") from None
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is no UTF-8 text: byte 0x{data[error.start]:02x} on line {line}",
            remedy="convert it to UTF-8",
            code="not_text",
        ) from None
