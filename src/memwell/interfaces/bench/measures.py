"""Measures of one ranked answer against its gold evidence, and their means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

DEPTHS = (1, 5, 10, 20, 50)
CHARACTERS_AT = 10


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: the units (turns or sessions) its evidence is, and how many characters it returns."""

    units: tuple[str, ...]
    characters: int


@dataclass(frozen=True, slots=True)
class Score:
    """Measures of one question; the tuples hold one number (0 to 1) per depth of ``DEPTHS``.

    Attributes:
        recall: share of the gold units among the first k distinct units.
        found_any, found_all: whether one, or every one, of them is.
        reciprocal_rank: 1 / rank of the first gold unit, 0 where none is found.
        characters: of the results up to the tenth distinct unit.
    """

    recall: tuple[float, ...]
    found_any: tuple[float, ...]
    found_all: tuple[float, ...]
    reciprocal_rank: float
    characters: int


def score(hits: Iterable[Hit], gold: frozenset[str]) -> Score:
    """Score ranked results; units that appear again count at their first place only."""
    ranked: list[str] = []
    seen: set[str] = set()
    characters = 0
    for hit in hits:
        if len(ranked) < CHARACTERS_AT:
            characters += hit.characters
        fresh = [unit for unit in dict.fromkeys(hit.units) if unit not in seen]
        ranked.extend(fresh)
        seen.update(fresh)
    shares = tuple(len(gold.intersection(ranked[:depth])) / len(gold) for depth in DEPTHS)
    first = next((rank for rank, unit in enumerate(ranked, 1) if unit in gold), None)
    return Score(
        recall=shares,
        found_any=tuple(float(share > 0) for share in shares),
        found_all=tuple(float(share == 1) for share in shares),
        reciprocal_rank=1 / first if first else 0.0,
        characters=characters,
    )


def means(scores: Sequence[Score]) -> dict[str, float]:
    """Means in percent, by name (``recall@10``, ``any@1``, ``all@10``, ``MRR``), and the median of characters."""
    columns: dict[str, float] = {}
    for name, pick in (("recall", "recall"), ("any", "found_any"), ("all", "found_all")):
        for position, depth in enumerate(DEPTHS):
            columns[f"{name}@{depth}"] = 100 * fmean(getattr(each, pick)[position] for each in scores)
    columns["MRR"] = 100 * fmean(each.reciprocal_rank for each in scores)
    columns["characters@10"] = float(median(each.characters for each in scores))
    return columns
