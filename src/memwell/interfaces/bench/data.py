"""Read benchmark data: documents with questions and gold evidence, and behaviour scenarios."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwell.errors import InputError


@dataclass(frozen=True, slots=True)
class DocumentTurn:
    """One turn or record; ``unit`` is what gold evidence names, the turn's id or its session."""

    id: str
    session: str
    speaker: str
    role: str
    at: str
    text: str
    unit: str


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question, the units that answer it, and the session before which it is asked (``None``: after all)."""

    id: str
    text: str
    category: str
    gold: frozenset[str]
    before_session: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    dataset: str
    lang: str
    turns: tuple[DocumentTurn, ...]
    questions: tuple[GoldQuestion, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A short story: ``writes`` and ``checks`` as in the file."""

    id: str
    lang: str
    kind: str
    writes: tuple[Mapping[str, Any], ...]
    checks: tuple[Mapping[str, Any], ...]


def find_files(paths: Iterable[str | Path], suffixes: tuple[str, ...]) -> tuple[Path, ...]:
    """Files among ``paths`` and below its folders whose names end in one of ``suffixes``, sorted.

    Raises:
        InputError: a path does not exist, or nothing was found.
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path} does not exist", remedy="pass a data file or a folder of them", code="not_found")
        candidates = path.rglob("*") if path.is_dir() else (path,)
        found.update(each for each in candidates if each.is_file() and each.name.endswith(suffixes))
    if not found:
        raise InputError(
            f"no {' or '.join(suffixes)} file among {', '.join(map(str, paths))}",
            remedy="pass a data file or a folder of them",
            code="not_found",
        )
    return tuple(sorted(found))


def read_document(path: Path) -> Document:
    """Read one document, plain or gzipped JSON; turns are put session by session, repeated ids left out.

    A turn without a time takes that of the turn before it, or else the first time in the document.

    Raises:
        InputError: the file is no such document.
    """
    raw = path.read_bytes()
    try:
        value = json.loads(gzip.decompress(raw) if path.name.endswith(".gz") else raw)
        return _document(value)
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no benchmark document: {type(error).__name__} {error}",
            remedy="give it id, dataset, lang, unit, turns and questions",
        ) from error


def _document(value: Mapping[str, Any]) -> Document:
    by_session = value["unit"] == "session"
    moment = next(turn["at"] for turn in value["turns"] if turn["at"])
    sessions: dict[str, dict[str, DocumentTurn]] = {}
    for turn in value["turns"]:
        moment = turn["at"] or moment
        sessions.setdefault(turn["session"], {}).setdefault(
            turn["id"],
            DocumentTurn(
                id=turn["id"],
                session=turn["session"],
                speaker=turn["speaker"],
                role=turn["role"],
                at=moment,
                text=turn["text"],
                unit=turn["session"] if by_session else turn["id"],
            ),
        )
    questions = tuple(
        GoldQuestion(each["id"], each["text"], each["category"], frozenset(each["gold"]), each.get("before_session"))
        for each in value["questions"]
    )
    unknown = {each.before_session for each in questions} - sessions.keys() - {None}
    if unknown:
        raise ValueError(f"before_session names no session: {sorted(map(str, unknown))}")
    turns = tuple(turn for session in sessions.values() for turn in session.values())
    return Document(value["id"], value["dataset"], value["lang"], turns, questions)


def read_scenarios(path: Path) -> tuple[Scenario, ...]:
    """Read a file of scenarios, one JSON object a line.

    Raises:
        InputError: a line is no scenario.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            found.append(
                Scenario(value["id"], value["lang"], value["kind"], tuple(value["writes"]), tuple(value["checks"]))
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path} line {number} is no scenario: {type(error).__name__} {error}",
                remedy="give it id, lang, kind, writes and checks",
            ) from error
    return tuple(found)
