"""Text rules shared by intake, the full-text index and duplicate detection."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from memwell.errors import InputError

MAX_TEXT_BYTES = 1_048_576
# Han, Kana and Hangul are written without reliable word spaces, so they are indexed by character and pair.
UNSPACED = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3040-\u30ff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_UNSPACED_CHAR = re.compile(rf"[{UNSPACED}]")
# Control characters other than tab and line ends.
_POSSESSIVE = re.compile("['’]s?$")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Marks above Latin, Greek and Cyrillic letters are dropped; in other scripts they tell words apart.
_LAST_FOLDED_BASE = "\u052f"


def checked_text(what: str, text: object, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return ``text`` unchanged if it can be stored verbatim.

    Args:
        what: what the text is, for the message.
        text: non-blank text of at most ``max_bytes`` UTF-8 bytes, without lone surrogates or control
            characters other than tab and line ends.

    Raises:
        InputError: ``empty_text``, ``not_text``, ``lone_surrogate``, ``control_character`` or ``text_too_long``.
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is a {type(text).__name__}", remedy="pass text", code="not_text")
    if all(char.isspace() or unicodedata.category(char) == "Cf" for char in text):
        raise InputError(f"{what} is empty", remedy="pass at least one word", code="empty_text")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has a lone surrogate U+{ord(text[error.start]):04X} at character {error.start}",
            remedy="decode the text as UTF-8 with errors='replace' before adding it",
            code="lone_surrogate",
        ) from None
    if size > max_bytes:
        raise InputError(
            f"{what} has {size:,} bytes, more than the {max_bytes:,} allowed",
            remedy="split it into several messages",
            code="text_too_long",
        )
    if control := _CONTROL.search(text):
        raise InputError(
            f"{what} has the control character U+{ord(control[0]):04X} at character {control.start()}",
            remedy="remove control characters other than tab and line ends",
            code="control_character",
        )
    return text


def fold(text: str) -> str:
    """Fold width, case and Latin, Greek and Cyrillic accents: ``"Ｃafé"`` becomes ``"cafe"``."""
    if text.isascii():
        return text.lower()
    kept: list[str] = []
    base = ""
    for char in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.category(char) == "Mn" and base <= _LAST_FOLDED_BASE:
            continue
        kept.append(char)
        base = char
    return unicodedata.normalize("NFC", "".join(kept))


def terms(text: str) -> list[str]:
    """Index terms of ``text``: folded words, and for unspaced scripts every character and adjacent pair."""
    found: list[str] = []
    for run in _TOKEN.findall(fold(text)):
        if _UNSPACED_CHAR.match(run):
            found.extend(run)
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    return found


def verbatim_terms(text: str) -> set[str]:
    """Terms of each part of ``text`` by itself: a text that holds another word for word has all terms of that one.

    Folding a whole text may join what it folds ("Acme™" becomes "acmetm"), so that ``terms`` does not promise this.
    """
    found: set[str] = set()
    for run in _TOKEN.findall(text):
        if _UNSPACED_CHAR.match(run):
            chars = [fold(char) for char in run]
            found.update(char for char in chars if char)
            found.update(first + second for first, second in pairwise(chars))
        else:
            found.update(terms(run))
    return found


def query_terms(text: str, stopwords: frozenset[str] = frozenset()) -> list[str]:
    """Search terms of ``text``, each once: words and character pairs; a character alone only where it stands alone.

    Terms in ``stopwords`` are left out unless nothing else would remain.
    """
    found: list[str] = []
    for run in _TOKEN.findall(fold(text)):
        if _UNSPACED_CHAR.match(run) and len(run) > 1:
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(run)
    distinct = list(dict.fromkeys(found))
    return [term for term in distinct if term not in stopwords] or distinct


def without_possessive(name: str) -> str:
    """``name`` without ``'s`` or a mere apostrophe at its end."""
    return _POSSESSIVE.sub("", name)


def normal_form(text: str) -> str:
    """Form in which trivially different repeats are equal: spacing, case, width and punctuation do not count.

    Symbols that change a meaning stay: ``C++`` and ``C``, ``-5`` and ``5``, ``1.5`` and ``15`` remain different.
    """
    folded = fold(text)
    kept: list[str] = []
    for i, char in enumerate(folded):
        before = folded[i - 1] if i else " "
        after = folded[i + 1] if i + 1 < len(folded) else " "
        decimal_point = char == "." and before.isdigit() and after.isdigit()
        minus = char == "-" and after.isdigit() and not before.isalnum()
        if unicodedata.category(char)[0] in "LNSM" or char in "#%" or decimal_point or minus:
            kept.append(char)
    return "".join(kept) or "".join(folded.split())


def is_unspaced(text: str) -> bool:
    """True where most letters of ``text`` belong to Han, Kana or Hangul."""
    letters = [char for char in text if char.isalpha()]
    return sum(bool(_UNSPACED_CHAR.match(char)) for char in letters) * 2 > len(letters)
