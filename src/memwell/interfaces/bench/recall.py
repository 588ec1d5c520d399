"""Recall: how much of the gold evidence comes back for each question, beside plain BM25."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memwell.builtin.embedder import bundled_embedder
from memwell.builtin.packs import stopwords
from memwell.builtin.ranking import load_weights
from memwell.engine.items import MemoryItem
from memwell.engine.ports import Embedder, Extractor, Judge
from memwell.engine.results import SearchResult
from memwell.interfaces.bench.ablation import ALL_SIGNALS, variants
from memwell.interfaces.bench.baseline import PlainBm25, StrongBm25
from memwell.interfaces.bench.data import Document, DocumentTurn, GoldQuestion, find_files, read_document
from memwell.interfaces.bench.measures import DEPTHS, Hit, Score, means, score
from memwell.interfaces.bench.parts import KeepAll, NoStatements, cached
from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.python.memory import Memory

RAW, MEMORIES, PLAIN, STRONG = "memwell raw", "memwell memories", "BM25 over raw turns", "BM25, stems and names"
SYSTEMS = (RAW, MEMORIES, PLAIN, STRONG)
ALL = "all"
_USER = "owner"
_MAX_MESSAGES = 500
_SHOWN = (*(f"recall@{depth}" for depth in DEPTHS), "any@1", "any@10", "all@10", "MRR", "characters@10")
_ABLATED = ("recall@5", "recall@10", "all@10", "MRR", "characters@10")


@dataclass(slots=True)
class _Measured:
    """What one run collects.

    Attributes:
        scores: by data set, category, system and what is left out.
        languages: by data set.
        silent: whether nothing came back, by data set, group and whether the question was about that store.
        turns, adding, searches: turns added, seconds for that, and seconds of each search, by data set.
    """

    scores: dict[tuple[str, str, str, str], list[Score]] = field(default_factory=lambda: defaultdict(list))
    languages: dict[str, str] = field(default_factory=dict)
    silent: dict[tuple[str, str, bool], list[bool]] = field(default_factory=lambda: defaultdict(list))
    turns: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    adding: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    searches: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def systems(self) -> list[str]:
        """Those that were measured, in their fixed order."""
        known = {system for _, _, system, _ in self.scores}
        return [system for system in SYSTEMS if system in known]


@dataclass(frozen=True, slots=True)
class _Stores:
    """One store, opened once for each choice of weights; all but the first only search."""

    by_name: Mapping[str, Memory]
    formed: bool

    @property
    def whole(self) -> Memory:
        return self.by_name[ALL_SIGNALS]

    def search(self, memory: Memory, question: str) -> SearchResult:
        limit = DEPTHS[-1] if self.formed else 0
        return memory.search(question, user_id=_USER, limit=limit, profile_limit=0, raw_limit=DEPTHS[-1])


def run(
    paths: Sequence[str | Path],
    *,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    memories: bool = False,
    ablate: bool = False,
    progress: Progress = no_progress,
) -> Report:
    """Measure every document among ``paths``, each in a store of its own.

    Turns are added session by session through ``Memory.add``; then each question is searched. The questions about the
    document before it, of the same data set, are asked too: nothing answers them.

    Args:
        paths: data files, or folders of them.
        embedder, extractor, judge: replace the builtin ones; the latter two serve only to form memories.
        memories: form memories too, and measure what is found among them; takes many times as long.
        ablate: search each question again with signals left out.
        progress: called with documents done, documents in all and the next document's id.

    Raises:
        InputError: a path or file is unusable.
    """
    files = find_files(paths, (".json.gz", ".json"))
    about = environment(files)
    began = time.perf_counter()
    measured = _Measured()
    weights = variants(load_weights()) if ablate else {ALL_SIGNALS: load_weights()}
    makers: dict[str, Any] = {"extractor": extractor, "judge": judge}
    if not memories:
        makers = {"extractor": NoStatements(), "judge": KeepAll()}
    before: Document | None = None
    with TemporaryDirectory(prefix="memwell-bench-") as folder:
        makers["embedder"] = kept = cached(embedder or bundled_embedder(), Path(folder))
        for position, file in enumerate(files):
            document = read_document(file)
            progress(position, len(files), document.id)
            with ExitStack() as opened:
                path = Path(folder) / f"{position}.db"
                each = {name: opened.enter_context(Memory(path, weights=w, **makers)) for name, w in weights.items()}
                _measure(document, before, _Stores(each, memories), measured)
                parts = each[ALL_SIGNALS].status()
            before = document
        kept.close()
    progress(len(files), len(files), "")
    return Report(
        benchmark="recall",
        tables=tuple(_tables(measured, tuple(weights))),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"embedder": parts.embedder, "extractor": parts.extractor, "judge": parts.judge},
        details={"measures": _all_measures(measured)},
    )


def _measure(document: Document, before: Document | None, stores: _Stores, measured: _Measured) -> None:
    """Add the sessions in order and ask each question at its time: before its session, or after all."""
    measured.languages[document.dataset] = document.lang
    waiting: dict[str | None, list[GoldQuestion]] = defaultdict(list)
    for question in document.questions:
        if question.gold:
            waiting[question.before_session].append(question)
    added: list[DocumentTurn] = []
    for session, turns in groupby(document.turns, key=lambda turn: turn.session):
        _ask(document, added, waiting.pop(session, []), stores, measured)
        of_session = tuple(turns)
        for start in range(0, len(of_session), _MAX_MESSAGES):
            block = of_session[start : start + _MAX_MESSAGES]
            began = time.perf_counter()
            stores.whole.add([_message(turn) for turn in block], user_id=_USER, session_id=session)
            measured.adding[document.dataset] += time.perf_counter() - began
            measured.turns[document.dataset] += len(block)
            added.extend(block)
    _ask(document, added, waiting[None], stores, measured)
    if before is not None and before.dataset == document.dataset:
        for question in before.questions:
            _note_silence(document.dataset, stores.search(stores.whole, question.text), stores, measured, own=False)


def _message(turn: DocumentTurn) -> dict[str, Any]:
    return {"role": turn.role, "content": turn.text, "name": turn.speaker, "id": turn.id, "at": turn.at}


def _ask(
    document: Document,
    added: Sequence[DocumentTurn],
    questions: Iterable[GoldQuestion],
    stores: _Stores,
    measured: _Measured,
) -> None:
    asked = tuple(questions)
    if not asked:
        return
    plain = PlainBm25([turn.text for turn in added])
    strong = StrongBm25([f"{turn.speaker}: {turn.text}" for turn in added], stopwords())
    turns = {turn.id: turn for turn in added}
    for question in asked:
        answers: dict[tuple[str, str], list[Hit]] = {
            (PLAIN, ALL_SIGNALS): _turn_hits(plain.search(question.text, DEPTHS[-1]), added),
            (STRONG, ALL_SIGNALS): _turn_hits(strong.search(question.text, DEPTHS[-1]), added),
        }
        for name, memory in stores.by_name.items():
            began = time.perf_counter()
            result = stores.search(memory, question.text)
            if memory is stores.whole:
                measured.searches[document.dataset].append(time.perf_counter() - began)
                _note_silence(document.dataset, result, stores, measured, own=True)
            answers[RAW, name] = _raw_hits(result, turns)
            if stores.formed:
                answers[MEMORIES, name] = [_memory_hit(item, turns) for item in result.memories]
        for (system, name), hits in answers.items():
            made = score(hits, question.gold)
            for category in (ALL, question.category):
                measured.scores[document.dataset, category, system, name].append(made)


def _note_silence(dataset: str, result: SearchResult, stores: _Stores, measured: _Measured, *, own: bool) -> None:
    measured.silent[dataset, RAW, own].append(not result.raw)
    if stores.formed:
        measured.silent[dataset, MEMORIES, own].append(not result.memories)


def _turn_hits(positions: Iterable[int], added: Sequence[DocumentTurn]) -> list[Hit]:
    return [Hit((added[position].unit,), len(added[position].text)) for position in positions]


def _raw_hits(result: SearchResult, turns: dict[str, DocumentTurn]) -> list[Hit]:
    return [Hit((turns[item.evidence.message_id or ""].unit,), len(item.content)) for item in result.raw]


def _memory_hit(item: MemoryItem, turns: dict[str, DocumentTurn]) -> Hit:
    """A memory counts for every turn it quotes, in the order of its quotes."""
    return Hit(tuple(turns[quote.message_id or ""].unit for quote in item.quotes), len(item.content))


def _all_measures(measured: _Measured) -> list[dict[str, Any]]:
    return [
        {"dataset": dataset, "category": category, "system": system, "signals": signals, "questions": len(scores)}
        | {name: round(value, 2) for name, value in means(scores).items()}
        for (dataset, category, system, signals), scores in sorted(measured.scores.items())
    ]


def _tables(measured: _Measured, signals: Sequence[str]) -> Iterable[Table]:
    """All questions, then by category for each data set, then the ablations, silence and time."""
    columns = ("questions", "system", *_SHOWN)
    datasets = sorted(measured.languages)

    def rows(dataset: str, category: str) -> list[tuple[Cell, ...]]:
        made: list[tuple[Cell, ...]] = []
        for system in measured.systems():
            scores = measured.scores[dataset, category, system, ALL_SIGNALS]
            figures = means(scores)
            made.append((len(scores), system, *(round(figures[name], 1) for name in _SHOWN)))
        return made

    yield Table(
        "Recall, all questions (percent)",
        ("data set", *columns),
        tuple((dataset, *row) for dataset in datasets for row in rows(dataset, ALL)),
    )
    for dataset in datasets:
        categories = sorted({key[1] for key in measured.scores if key[0] == dataset} - {ALL})
        yield Table(
            f"Recall in {dataset} by category (percent)",
            ("category", *columns),
            tuple((category, *row) for category in categories for row in rows(dataset, category)),
        )
    if len(signals) > 1:
        for system in (RAW, MEMORIES):
            if system in measured.systems():
                yield _ablation_table(measured, system, signals)
    yield _silence_table(measured)
    yield _speed_table(measured)


def _ablation_table(measured: _Measured, system: str, signals: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for dataset, language in sorted(measured.languages.items()):
        whole = means(measured.scores[dataset, ALL, system, ALL_SIGNALS])
        for name in signals:
            figures = means(measured.scores[dataset, ALL, system, name])
            worth = round(figures["recall@10"] - whole["recall@10"], 1)
            rows.append((dataset, language, name, worth, *(round(figures[each], 1) for each in _ABLATED)))
    columns = ("data set", "language", "signals", "± recall@10", *_ABLATED)
    return Table(f"{system}, signals left out (percent)", columns, tuple(rows))


def _silence_table(measured: _Measured) -> Table:
    """How often nothing comes back, which is wrong for a store's own questions and right for another store's."""
    rows: list[tuple[Cell, ...]] = []
    for dataset in sorted(measured.languages):
        for system in (RAW, MEMORIES):
            own, foreign = measured.silent[dataset, system, True], measured.silent[dataset, system, False]
            if own:
                answered = None if not foreign else round(100 - 100 * sum(foreign) / len(foreign), 1)
                rows.append((dataset, system, len(own), round(100 * sum(own) / len(own), 1), len(foreign), answered))
    return Table(
        "Silence (percent)",
        ("data set", "system", "own questions", "wrongly silent", "questions about others", "wrongly answered"),
        tuple(rows),
    )


def _speed_table(measured: _Measured) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for dataset, turns in sorted(measured.turns.items()):
        latencies = sorted(1000 * seconds for seconds in measured.searches[dataset])
        middle = latencies[len(latencies) // 2] if latencies else None
        rows.append((dataset, turns, round(turns / max(measured.adding[dataset], 1e-9), 1), middle))
    return Table("Time", ("data set", "turns", "turns added/s", "search p50 ms"), tuple(rows))
