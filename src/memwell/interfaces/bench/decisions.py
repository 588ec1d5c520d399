"""Decisions: what one new sentence does to what is known, through the whole engine, among unrelated memories."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memwell.builtin.rules import RuleJudge
from memwell.domain.decision import Action, Decision
from memwell.engine.ports import Embedder, Extractor, Judge
from memwell.errors import InputError
from memwell.interfaces.bench.data import find_files
from memwell.interfaces.bench.parts import KeepAll
from memwell.interfaces.bench.report import Progress, Report, Table, environment, no_progress
from memwell.interfaces.python.memory import Memory

MEMWELL, RULES, BASELINE = "memwell", "rules alone", "retires nothing"
USER = "user"
_FIELDS = ("lang", "domain", "current", "message", "sentence", "at", "action")


@dataclass
class Tally:
    """Counts over the examples of one language.

    Attributes:
        right: target and action as labelled; nothing else retired.
        wanted: examples in which a memory should be retired.
        retired: of those, it was, whichever of the retiring actions did it.
        wrong: examples in which something was retired that should stand.
        by_action: right and all, by labelled action.
    """

    examples: int = 0
    right: int = 0
    wanted: int = 0
    retired: int = 0
    wrong: int = 0
    by_action: dict[str, list[int]] = field(default_factory=dict)

    def count(self, action: str, right: bool, hit: bool, wrong: bool) -> None:
        self.examples += 1
        self.right += right
        self.wanted += Action(action).retires
        self.retired += hit
        self.wrong += wrong
        row = self.by_action.setdefault(action, [0, 0])
        row[0] += right
        row[1] += 1


def run(
    paths: Sequence[str | Path],
    *,
    unrelated: int = 100,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    baseline: bool = True,
    progress: Progress = no_progress,
) -> Report:
    """Write each example's memories and message into a store that holds ``unrelated`` memories of other domains.

    Args:
        paths: files of labelled examples (``.jsonl``; fields as in ``training/README.md``), or folders of them.
        embedder, extractor, judge: replace the builtin ones.
        baseline: also with the rules on wording alone, and with a judge that retires nothing.
        progress: called with examples done, examples in all and the system.

    Raises:
        InputError: a path or a line is unusable.
    """
    files = find_files(paths, (".jsonl",))
    about = environment(files)
    began = time.perf_counter()
    examples = [example for file in files for example in _read(file)]
    judges: dict[str, Judge | None] = {MEMWELL: judge}
    if baseline:
        judges |= {RULES: RuleJudge(), BASELINE: KeepAll()}
    tallies: dict[tuple[str, str], Tally] = {}
    confused: Counter[tuple[str, str, str]] = Counter()
    with TemporaryDirectory(prefix="memwell-bench-") as folder:
        stores = _Stores(Path(folder), examples, unrelated, embedder, extractor)
        for done, (system, example) in enumerate((system, each) for system in judges for each in examples):
            progress(done, len(judges) * len(examples), system)
            with Memory(stores.fresh(example), embedder=embedder, extractor=extractor, judge=KeepAll()) as memory:
                known = [_told(memory, each["text"], each["at"]) for each in example["current"]]
            with Memory(stores.file, embedder=embedder, extractor=extractor, judge=judges[system]) as memory:
                written = memory.add(example["message"], user_id=USER, at=_moment(example["at"]))
            did = _action(example, written.decisions, known)
            target = known[example["target"]] if example.get("target") is not None else frozenset()
            allowed = target if Action(example["action"]).retires else frozenset()
            gone = {memory_id for each in written.decisions if each.action.retires for memory_id in each.targets}
            tallies.setdefault((example["lang"], system), Tally()).count(
                example["action"],
                did == example["action"] and gone <= allowed,
                bool(gone & allowed),
                not gone <= allowed,
            )
            if did != example["action"] and system == MEMWELL:
                confused[example["lang"], example["action"], did] += 1
    return Report(
        benchmark="decisions",
        tables=(_summary(tallies), _by_action(tallies), _confused(confused)),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"unrelated": unrelated},
    )


def _read(file: Path) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            example = json.loads(line)
            missing = [name for name in _FIELDS if name not in example]
            if missing:
                raise InputError(f"{file}:{number} lacks {missing[0]!r}", remedy="see training/README.md")
            Action(example["action"])
        except (ValueError, TypeError) as error:
            raise InputError(f"{file}:{number} is no example: {error}", remedy="see training/README.md") from error
        yield example


class _Stores:
    """Stores of unrelated memories, made once per language and half of the domains, and copied for each example."""

    def __init__(
        self,
        folder: Path,
        examples: Sequence[Mapping[str, Any]],
        unrelated: int,
        embedder: Embedder | None,
        extractor: Extractor | None,
    ) -> None:
        self.file = folder / "store.db"
        self._folder, self._unrelated = folder, unrelated
        self._embedder, self._extractor = embedder, extractor
        self._half = {domain: number % 2 for number, domain in enumerate(sorted({e["domain"] for e in examples}))}
        self._memories: dict[tuple[str, int], list[Mapping[str, str]]] = {}
        for example in examples:
            group = self._memories.setdefault((example["lang"], self._half[example["domain"]]), [])
            group.extend(example["current"])

    def fresh(self, example: Mapping[str, Any]) -> Path:
        """A store of memories whose domain is not the example's."""
        key = (example["lang"], 1 - self._half[example["domain"]])
        template = self._folder / f"{key[0]}-{key[1]}.db"
        if not template.exists():
            self._fill(template, self._memories.get(key, []))
        shutil.copyfile(template, self.file)
        return self.file

    def _fill(self, template: Path, memories: list[Mapping[str, str]]) -> None:
        drawn = random.Random(0).sample(memories, min(self._unrelated, len(memories)))
        with Memory(template, embedder=self._embedder, extractor=self._extractor, judge=KeepAll()) as memory:
            for each in drawn:
                memory.add(each["text"], user_id=USER, session_id="before", at=_moment(each["at"]))


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)


def _told(memory: Memory, text: str, day: str) -> frozenset[str]:
    return frozenset(memory.add(text, user_id=USER, session_id="before", at=_moment(day)).memory_ids)


def _action(example: Mapping[str, Any], decisions: Sequence[Decision], known: Sequence[frozenset[str]]) -> str:
    """What was decided on the sentence: as labelled, if that was decided on a clause of it, and on the right target."""
    on_it = [each for each in decisions if _same_words(each.content, example["sentence"])]
    target = known[example["target"]] if example.get("target") is not None else None
    for each in on_it:
        meant = target is None or (bool(each.targets) and set(each.targets) <= target)
        if each.action.value == example["action"] and meant:
            return example["action"]  # type: ignore[no-any-return]
    if not on_it:
        return Action.RAW_ONLY.value
    named = on_it[0].action.value
    return f"{named} of another" if named == example["action"] else named


def _same_words(content: str, sentence: str) -> bool:
    one, other = (text.strip().rstrip(".!?。！？") for text in (content, sentence))
    return one in other or other in one


def _summary(tallies: Mapping[tuple[str, str], Tally]) -> Table:
    rows = tuple(
        (
            language,
            system,
            tally.examples,
            round(100 * tally.right / tally.examples, 1),
            tally.wanted,
            tally.retired,
            tally.wrong,
            round(100 * tally.wrong / tally.examples, 1),
        )
        for (language, system), tally in sorted(tallies.items())
    )
    columns = ("language", "system", "examples", "right %", "to retire", "retired", "wrongly", "wrongly %")
    return Table("Decisions, target and action both right", columns, rows)


def _by_action(tallies: Mapping[tuple[str, str], Tally]) -> Table:
    rows = tuple(
        (language, action, of, round(100 * right / of, 1))
        for (language, system), tally in sorted(tallies.items())
        if system == MEMWELL
        for action, (right, of) in sorted(tally.by_action.items())
    )
    return Table("Right, by labelled action", ("language", "action", "examples", "right %"), rows)


def _confused(confused: Counter[tuple[str, str, str]]) -> Table:
    rows = tuple((*key, count) for key, count in confused.most_common(20))
    return Table("Confused", ("language", "labelled", "decided", "examples"), rows)
