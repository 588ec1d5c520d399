"""Recall: how much of the gold evidence comes back for each question, beside plain BM25."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memwell.builtin.language import load_languages
from memwell.engine.items import MemoryItem
from memwell.engine.ports import Embedder, Extractor, Judge
from memwell.engine.results import SearchResult
from memwell.interfaces.bench.baseline import PlainBm25, StrongBm25
from memwell.interfaces.bench.data import Document, DocumentTurn, GoldQuestion, find_files, read_document
from memwell.interfaces.bench.measures import DEPTHS, Hit, Score, means, score
from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.python.memory import Memory

RAW, MEMORIES, PLAIN, STRONG = "memwell raw", "memwell memories", "BM25 over raw turns", "BM25, stems and names"
SYSTEMS = (RAW, MEMORIES, PLAIN, STRONG)
ALL = "all"
_USER = "owner"
_MAX_MESSAGES = 500
_SHOWN = (*(f"recall@{depth}" for depth in DEPTHS), "any@1", "any@10", "all@10", "MRR", "characters@10")


@dataclass(slots=True)
class _Measured:
    """What one run collects: scores by (dataset, category, system), and seconds."""

    scores: dict[tuple[str, str, str], list[Score]] = field(default_factory=lambda: defaultdict(list))
    turns: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    adding: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    searches: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def run(
    paths: Sequence[str | Path],
    *,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Measure every document among ``paths``, each in a store of its own.

    Turns are added session by session through ``Memory.add``; then each question is searched.

    Args:
        paths: data files, or folders of them.
        embedder, extractor, judge: replace the builtin ones.
        progress: called with documents done, documents in all and the next document's id.

    Raises:
        InputError: a path or file is unusable.
    """
    files = find_files(paths, (".json.gz", ".json"))
    about = environment(files)
    began = time.perf_counter()
    measured = _Measured()
    for position, file in enumerate(files):
        document = read_document(file)
        progress(position, len(files), document.id)
        with (
            TemporaryDirectory(prefix="memwell-bench-") as folder,
            Memory(Path(folder) / "store.db", embedder=embedder, extractor=extractor, judge=judge) as memory,
        ):
            _measure(document, memory, measured)
            parts = memory.status()
    progress(len(files), len(files), "")
    return Report(
        benchmark="recall",
        tables=(*_tables(measured), _speed_table(measured)),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"embedder": parts.embedder, "extractor": parts.extractor, "judge": parts.judge},
        details={"measures": _all_measures(measured)},
    )


def _measure(document: Document, memory: Memory, measured: _Measured) -> None:
    """Add the sessions in order and ask each question at its time: before its session, or after all."""
    waiting: dict[str | None, list[GoldQuestion]] = defaultdict(list)
    for question in document.questions:
        if question.gold:
            waiting[question.before_session].append(question)
    added: list[DocumentTurn] = []
    for session, turns in groupby(document.turns, key=lambda turn: turn.session):
        _ask(document, added, waiting.pop(session, []), memory, measured)
        of_session = tuple(turns)
        for start in range(0, len(of_session), _MAX_MESSAGES):
            block = of_session[start : start + _MAX_MESSAGES]
            began = time.perf_counter()
            memory.add([_message(turn) for turn in block], user_id=_USER, session_id=session)
            measured.adding[document.dataset] += time.perf_counter() - began
            measured.turns[document.dataset] += len(block)
            added.extend(block)
    _ask(document, added, waiting[None], memory, measured)


def _message(turn: DocumentTurn) -> dict[str, Any]:
    return {"role": turn.role, "content": turn.text, "name": turn.speaker, "id": turn.id, "at": turn.at}


def _ask(
    document: Document,
    added: Sequence[DocumentTurn],
    questions: Iterable[GoldQuestion],
    memory: Memory,
    measured: _Measured,
) -> None:
    asked = tuple(questions)
    if not asked:
        return
    plain = PlainBm25([turn.text for turn in added])
    strong = StrongBm25([f"{turn.speaker}: {turn.text}" for turn in added], _stopwords())
    turns = {turn.id: turn for turn in added}
    for question in asked:
        began = time.perf_counter()
        result = memory.search(question.text, user_id=_USER, limit=DEPTHS[-1], raw_limit=DEPTHS[-1])
        measured.searches[document.dataset].append(time.perf_counter() - began)
        answers = {
            RAW: _raw_hits(result, turns),
            MEMORIES: [_memory_hit(item, turns) for item in result.memories],
            PLAIN: _turn_hits(plain.search(question.text, DEPTHS[-1]), added),
            STRONG: _turn_hits(strong.search(question.text, DEPTHS[-1]), added),
        }
        for system, hits in answers.items():
            made = score(hits, question.gold)
            for category in (ALL, question.category):
                measured.scores[document.dataset, category, system].append(made)


@cache
def _stopwords() -> frozenset[str]:
    return frozenset(word for language in load_languages() for word in language.stopwords)


def _turn_hits(positions: Iterable[int], added: Sequence[DocumentTurn]) -> list[Hit]:
    return [Hit((added[position].unit,), len(added[position].text)) for position in positions]


def _raw_hits(result: SearchResult, turns: dict[str, DocumentTurn]) -> list[Hit]:
    return [Hit((turns[item.evidence.message_id or ""].unit,), len(item.content)) for item in result.raw]


def _memory_hit(item: MemoryItem, turns: dict[str, DocumentTurn]) -> Hit:
    """A memory counts for every turn it quotes, in the order of its quotes."""
    return Hit(tuple(turns[quote.message_id or ""].unit for quote in item.quotes), len(item.content))


def _all_measures(measured: _Measured) -> list[dict[str, Any]]:
    return [
        {"dataset": dataset, "category": category, "system": system, "questions": len(scores)}
        | {name: round(value, 2) for name, value in means(scores).items()}
        for (dataset, category, system), scores in sorted(measured.scores.items())
    ]


def _tables(measured: _Measured) -> Iterable[Table]:
    """One table of all questions, then one by category for each data set; systems in their fixed order."""
    columns = ("questions", "system", *_SHOWN)
    datasets = sorted({dataset for dataset, _, _ in measured.scores})

    def rows(dataset: str, category: str) -> list[tuple[Cell, ...]]:
        made: list[tuple[Cell, ...]] = []
        for system in SYSTEMS:
            scores = measured.scores[dataset, category, system]
            figures = means(scores)
            made.append((len(scores), system, *(round(figures[name], 1) for name in _SHOWN)))
        return made

    yield Table(
        "Recall, all questions (percent)",
        ("data set", *columns),
        tuple((dataset, *row) for dataset in datasets for row in rows(dataset, ALL)),
    )
    for dataset in datasets:
        categories = sorted({category for name, category, _ in measured.scores if name == dataset} - {ALL})
        yield Table(
            f"Recall in {dataset} by category (percent)",
            ("category", *columns),
            tuple((category, *row) for category in categories for row in rows(dataset, category)),
        )


def _speed_table(measured: _Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for dataset, turns in sorted(measured.turns.items()):
        latencies = sorted(1000 * seconds for seconds in measured.searches[dataset])
        middle = latencies[len(latencies) // 2] if latencies else None
        rows.append((dataset, turns, round(turns / max(measured.adding[dataset], 1e-9), 1), middle))
    return Table("Time", ("data set", "turns", "turns added/s", "search p50 ms"), tuple(rows))
