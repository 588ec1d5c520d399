"""What each signal of recall weighs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from memwell.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the signals of recall, beside the cosine of centred vectors.

    The builtin ones stand in ``builtin/recall.toml``, each with its reason.

    Attributes:
        similarity: of the cosine itself; 1 except to measure what it is worth.
        keyword: of the keyword share, 0 to 1.
        words: of how well a turn's words match those of the question, one by one, by meaning (see ``matching``).
        absent: how much a term that no visible record holds counts as missed (see ``PoolQuery.absent``).
        context: share of a turn's keyword share that each of the two turns after it gets, for a narrow question.
        date: of having been said within a period that the question names.
        date_days: outside of it that falls to 1/e after so many days.
        episode: share of the best score in its episode that each turn gets, for a narrow question.
        speaker: of having been said by someone whom a broad question names.
        named: share of ``speaker`` that remains for a narrow question.
        narrow_terms: telling terms, names apart, from which a question is narrow; with one it is broad.
        several: share of its narrowness that a question for several things keeps.
        broad: share of ``context`` and ``episode`` that remains for a broad question.
        turn: share of its turn's score that a memory gets.
        other: factor of facts about others where the question is about the owner.
        least_keyword: keyword share from which words alone answer, where the embedder calls all too far to answer.
        few: of fewer records in the running than this, the nearest are returned however far they are.
    """

    similarity: float
    keyword: float
    words: float
    absent: float
    context: float
    date: float
    date_days: float
    episode: float
    speaker: float
    named: float
    narrow_terms: float
    several: float
    broad: float
    turn: float
    other: float
    least_keyword: float
    few: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1_000:
                raise ConfigurationError(f"weight {field.name} is {value!r}", remedy="use a number from 0 to 1,000")
        if self.date_days <= 0 or self.narrow_terms <= 1:
            raise ConfigurationError(
                f"date_days is {self.date_days!r}, narrow_terms is {self.narrow_terms!r}",
                remedy="use more than 0 days and more than 1 term",
            )
