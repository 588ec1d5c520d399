"""Simple parts that replace the builtin ones where a benchmark must leave them out."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from memwell.builtin.embedder import unit
from memwell.domain.decision import Action
from memwell.domain.evidence import Evidence
from memwell.engine.ports import (
    AnswerCalibrated,
    Comparison,
    Embedder,
    Extraction,
    Matrix,
    Proposal,
    Turn,
    Verdict,
    WordEmbedder,
)
from memwell.engine.vectors import pack, unpack


class KeepAll:
    """A judge that keeps everything and retires nothing."""

    name = "keep-all-1"
    local = True

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """``SUPPLEMENT`` for every candidate."""
        return [Verdict(Action.SUPPLEMENT, (), 1.0, "keeps everything") for _ in comparisons]


class NoStatements:
    """An extractor that forms nothing: for what is measured on evidence alone."""

    name = "no-statements-1"

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        """Nothing proposed."""
        return Extraction(())


class WholeTurns:
    """An extractor that makes one statement of every turn."""

    name = "whole-turns-1"

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        """One proposal per turn that has a sentence: all its sentences."""
        return Extraction(
            tuple(
                Proposal(turn.evidence.id, "sentence", tuple(range(len(turn.sentences))))
                for turn in turns
                if turn.sentences
            )
        )


class HashEmbedder:
    """Vectors that depend on the text and mean nothing: costs microseconds, spreads evenly.

    Args:
        questions: embeds questions in its place, so that a search pays for a real query embedding.
    """

    relation_threshold = 0.5

    def __init__(self, dimensions: int = 384, questions: Embedder | None = None) -> None:
        self.dimensions = dimensions
        self.model = f"hash-{dimensions}"
        self._questions = questions

    def passages(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.passages``."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def query(self, text: str) -> Matrix:
        """See ``Embedder.query``."""
        return self._questions.query(text) if self._questions else self._vector(text)

    def target_queries(self, vectors: Matrix) -> Matrix:
        """See ``Embedder.target_queries``."""
        return vectors

    def _vector(self, text: str) -> Matrix:
        stream = hashlib.shake_128(text.encode()).digest(self.dimensions)
        return unit(np.frombuffer(stream, dtype=np.uint8).astype(np.float32) - np.float32(127.5))


class CachedEmbedder:
    """An embedder that keeps its vectors on disk, so that a repeated benchmark does not compute them again.

    Those of questions are kept for one run alone: how a question is read may change under the same model.

    Args:
        embedder: makes the vectors that are missing.
        folder: holds one file per model; made where it does not exist.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self.relation_threshold = embedder.relation_threshold
        if isinstance(embedder, AnswerCalibrated):
            self.answer_threshold = embedder.answer_threshold
            self.stranger_threshold = embedder.stranger_threshold
        self._embedder = embedder
        self._asked: dict[str, Matrix] = {}
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        name = "".join(char if char.isalnum() or char in ".-" else "_" for char in embedder.model)
        self._file = sqlite3.connect(folder / f"{name}.sqlite3", check_same_thread=False, isolation_level=None)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID")

    def passages(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.passages``."""
        with self._lock:
            found = {text: self._read("passage", text) for text in texts}
            missing = [text for text, vector in found.items() if vector is None]
            if missing:
                made = self._embedder.passages(missing)
                self._write("passage", missing, made)
                found.update(zip(missing, made, strict=True))
        rows = [vector for vector in map(found.__getitem__, texts) if vector is not None]
        return np.stack(rows) if rows else np.empty((0, self.dimensions), dtype=np.float32)

    def query(self, text: str) -> Matrix:
        """See ``Embedder.query``."""
        with self._lock:
            if text not in self._asked:
                self._asked[text] = self._embedder.query(text)
            return self._asked[text]

    def target_queries(self, vectors: Matrix) -> Matrix:
        """See ``Embedder.target_queries``."""
        return self._embedder.target_queries(vectors)

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def _read(self, use: str, text: str) -> Matrix | None:
        data = self._read_bytes(use, text)
        return None if data is None else unpack(data)

    def _read_bytes(self, use: str, text: str) -> bytes | None:
        row = self._file.execute("SELECT data FROM vector WHERE key = ?", (_key(use, text),)).fetchone()
        return row[0] if row else None

    def _write(self, use: str, texts: Sequence[str], vectors: Iterable[Matrix]) -> None:
        self._write_bytes(use, texts, map(pack, vectors))

    def _write_bytes(self, use: str, texts: Sequence[str], data: Iterable[bytes]) -> None:
        rows = [(_key(use, text), each) for text, each in zip(texts, data, strict=True)]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", rows)
        self._file.execute("COMMIT")


class CachedWordEmbedder(CachedEmbedder):
    """The same for an embedder that tells words apart."""

    def __init__(self, embedder: WordEmbedder, folder: Path) -> None:
        super().__init__(embedder, folder)
        self.word_bits = embedder.word_bits
        self._words = embedder
        self._asked_words: dict[str, tuple[Matrix, Matrix]] = {}

    def passages_with_words(self, texts: Sequence[str]) -> tuple[Matrix, Sequence[bytes]]:
        """See ``WordEmbedder.passages_with_words``."""
        with self._lock:
            codes = {text: self._read_bytes("words", text) for text in texts}
            missing = [text for text, code in codes.items() if code is None]
            if missing:
                rows, made = self._words.passages_with_words(missing)
                self._write("passage", missing, rows)
                self._write_bytes("words", missing, made)
                codes.update(zip(missing, made, strict=True))
        return self.passages(texts), [codes[text] or b"" for text in texts]

    def query_with_words(self, text: str) -> tuple[Matrix, Matrix]:
        """See ``WordEmbedder.query_with_words``."""
        with self._lock:
            if text not in self._asked_words:
                self._asked_words[text] = self._words.query_with_words(text)
            return self._asked_words[text]


def cached(embedder: Embedder, folder: Path) -> CachedEmbedder:
    """``embedder`` with what it makes kept in ``folder``."""
    if isinstance(embedder, WordEmbedder):
        return CachedWordEmbedder(embedder, folder)
    return CachedEmbedder(embedder, folder)


def _key(use: str, text: str) -> bytes:
    return hashlib.sha256(f"{use}\0{text}".encode()).digest()
