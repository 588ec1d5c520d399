"""Cautious rules on wording: beside the decision model, or alone where it cannot run; when unsure, both stay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memwell.builtin.language import Language
from memwell.builtin.packs import load_languages
from memwell.builtin.relations import Constants, Relation, Statement, Wording, load_constants, relate, wording
from memwell.builtin.speakers import judged
from memwell.domain.decision import ALLOWED, Action, Candidate, Situation
from memwell.domain.segments import sentences
from memwell.engine.ports import Comparison, Head, Verdict

# Which relation counts where several heads have one; repeats first, since then nothing else is said.
_ORDER = (Action.SKIP, Action.CORRECT, Action.NEGATE, Action.OVERRIDE, Action.CONFLICT)


class RuleJudge:
    """Deterministic rules; see ``relations.relate``."""

    name = "rules/1"
    local = True

    def __init__(self, languages: tuple[Language, ...] | None = None, constants: Constants | None = None) -> None:
        self._languages = languages
        self._constants = constants
        self._wording = lru_cache(maxsize=4096)(self._read)

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """See ``ports.Judge``."""
        return [judged(comparison, self.weigh, self._languages) for comparison in comparisons]

    def _read(self, text: str) -> Wording:
        return wording(text, self._languages or load_languages())

    def weigh(self, comparison: Comparison) -> Verdict:
        """The verdict on a comparison in which nobody but the candidate's speaker speaks of themself."""
        constants = self._constants or load_constants()
        candidate = self._candidate(comparison.candidate)
        corrects = self._corrects(comparison, candidate)
        relations = []
        for index, head in enumerate(comparison.heads):
            older = comparison.situations[index] is Situation.OLDER_SOURCE
            earlier, later = (candidate, self._head(head)) if older else (self._head(head), candidate)
            relation = relate(earlier, later, head.similarity, corrects and not older, constants)
            if older and relation.action.retires:
                reason = f"older report; {relation.reason}"
                relation = Relation(Action.HISTORICAL, relation.confidence, reason, relation.by_attribute)
            meant = relation.by_attribute or self._is_nearest(head, comparison.heads, constants)
            if relation.action.retires and not meant:
                continue
            if relation.action in ALLOWED[comparison.situations[index]] and relation.action is not Action.SUPPLEMENT:
                relations.append((_rank(relation), -relation.confidence, -head.similarity, index, relation))
        if relations:
            *_, similarity, index, relation = min(relations, key=lambda item: item[:4])
            return Verdict(relation.action, (index,), relation.confidence, f"{relation.reason}, {-similarity:.2f}")
        if candidate.limited:
            return Verdict(Action.TEMPORAL, (), constants.confidence["period"], "limited period")
        return Verdict(Action.SUPPLEMENT, (), constants.confidence["independent"], "independent")

    def _is_nearest(self, head: Head, heads: Sequence[Head], constants: Constants) -> bool:
        """Whether hardly another head is more similar."""
        best = max(other.similarity for other in heads)
        return head.similarity >= best - constants.similarity["behind_nearest"]

    def _candidate(self, candidate: Candidate) -> Statement:
        words = self._wording(candidate.content)
        return Statement(
            text=candidate.content,
            wording=words,
            kind=candidate.kind,
            subject=candidate.subject,
            polarity=candidate.polarity,
            hedged=candidate.hedged,
            limited=candidate.limited or (words.has("limit") and not words.has("not_limit")),
        )

    def _head(self, head: Head) -> Statement:
        return Statement(
            text=head.content,
            wording=self._wording(head.content),
            kind=head.kind,
            subject=head.subject,
            polarity=head.polarity,
            limited=head.valid_until is not None,
        )

    def _corrects(self, comparison: Comparison, candidate: Statement) -> bool:
        """The sentence, or the one before it in its message, says that something was wrong.

        A sentence that only announces a correction ("I had the year wrong. It is 2019.") leaves it to the next one.
        """
        before, found, after = comparison.message.partition(comparison.candidate.content)
        words = candidate.wording
        if _says_wrong(words):
            return bool(words.numbers or words.names or words.attributes) or not after.strip()
        preceding = sentences(before)[-1:] if found else ()
        return any(self._wording(before[span.start : span.end]).has("correction") for span in preceding)


def corrects(text: str) -> bool:
    """Whether a message says, in any sentence of it, that something was wrong."""
    languages = load_languages()
    return any(_says_wrong(wording(text[span.start : span.end], languages)) for span in sentences(text))


def _says_wrong(words: Wording) -> bool:
    """Beside a word for a change or an addition, "actually" corrects nothing."""
    return words.has("correction") or (
        words.has("weak_correction") and not words.has("change") and not words.has("beside")
    )


def _rank(relation: Relation) -> int:
    return -1 if relation.action is Action.HISTORICAL else _ORDER.index(relation.action)
