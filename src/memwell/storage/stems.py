"""Stems of index terms, by SQLite's own Porter tokenizer, so that the reference store and SQLite agree on words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock

_SCHEMA = """
CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='porter unicode61');
CREATE VIRTUAL TABLE stem USING fts5vocab(word, 'instance');
"""


class _Tokenizer:
    def __init__(self) -> None:
        self._lock = Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.executescript(_SCHEMA)

    def stems(self, term: str) -> tuple[str, ...]:
        with self._lock:
            self._connection.execute("INSERT INTO word (rowid, text) VALUES (1, ?)", (term,))
            found = self._connection.execute('SELECT term FROM stem ORDER BY "offset"').fetchall()
            self._connection.execute("INSERT INTO word (word) VALUES ('delete-all')")
        return tuple(row[0] for row in found)


@lru_cache(maxsize=1)
def _tokenizer() -> _Tokenizer:
    return _Tokenizer()


def marked(scope: int, term: str) -> str:
    """``term`` as the keyword index holds it for the scope of that number.

    So each scope has lists of its own, and looking a word up costs the same however many other scopes hold it. What
    stands before a word has no vowel, so that it hardly ever changes its stem: the Porter algorithm goes by vowels.
    """
    return f"s{scope}s{term}"


@lru_cache(maxsize=65_536)
def stems(term: str) -> tuple[str, ...]:
    """What a term is indexed as: mostly one stem; none where SQLite knows no letter of it."""
    first, *others = _tokenizer().stems(marked(0, term))
    return tuple(stem for stem in (first.removeprefix(marked(0, "")), *others) if stem)


def stems_of(terms: Iterable[str]) -> dict[str, str]:
    """The stem of each of ``terms``, in order of appearance, with the last term of it.

    A term that is cut into several stems, or into none, is left out: the index was made from whole terms.
    """
    return {parts[0]: term for term in terms if len(parts := stems(term)) == 1}
