"""The keyless judge: rules on wording and the local decision model together; when unsure, both stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memwell.builtin.asides import asides
from memwell.builtin.bounds import bound, of_two_others, same_slot, same_told
from memwell.builtin.language import Language
from memwell.builtin.model.decide import Answer, DecisionModel, Known
from memwell.builtin.model.layout import SLOTS
from memwell.builtin.packs import choose_language, load_languages
from memwell.builtin.rules import RuleJudge, corrects
from memwell.builtin.speakers import judged
from memwell.builtin.statements import is_wish
from memwell.builtin.thresholds import load_thresholds
from memwell.domain.decision import Action, Candidate, Situation
from memwell.domain.text import terms
from memwell.engine.ports import Comparison, Head, Verdict
from memwell.engine.route import repeated

_REASONS: Mapping[Action, str] = {
    Action.OVERRIDE: "replaces: same thing, later",
    Action.CORRECT: "corrects: the earlier was a mistake",
    Action.NEGATE: "ends: no longer so",
    Action.SKIP: "repeats: known already",
    Action.CONFLICT: "conflicts: said otherwise, both stay",
    Action.HISTORICAL: "older report: was so before",
    Action.TEMPORAL: "limited period",
    Action.RAW_ONLY: "nothing lasting",
    Action.SUPPLEMENT: "adds: leaves what is known standing",
}


@dataclass(frozen=True, slots=True)
class _Choice:
    """A relation to one head, and how likely it is."""

    action: Action
    index: int
    probability: float


class BuiltinJudge:
    """Weighs each candidate against the heads beside it, by rules on wording and by ``DecisionModel``.

    An action is taken where a rule is sure of it, or where the model's probability reaches the threshold that its
    cost sets; of several, the likeliest. Other statements of the same message are left to the rules. Certain
    without the model: the very same words again are a repeat, other figures are none; a report older than what it
    bears on replaces neither that nor anything else; what is hedged or holds for a stated period retires nothing;
    what tells an attribute, or how to answer, is no chatter.
    """

    local = True

    def __init__(
        self, model: DecisionModel, rules: RuleJudge | None = None, thresholds: Mapping[str, float] | None = None
    ) -> None:
        self._model = model
        self._rules = rules or RuleJudge()
        self._thresholds = thresholds or load_thresholds()
        self.name = f"builtin/{model.name}"

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """See ``ports.Judge``."""
        return [judged(comparison, self._verdict) for comparison in comparisons]

    def _verdict(self, comparison: Comparison) -> Verdict:
        return repeated(comparison) or self._weighed(comparison)

    def _weighed(self, comparison: Comparison) -> Verdict:
        by_rule, situations = self._rules.weigh(comparison), comparison.situations
        if by_rule.action is Action.HISTORICAL:
            return by_rule
        older = [i for i, situation in enumerate(situations) if situation is Situation.OLDER_SOURCE]
        shown = _shown([i for i, situation in enumerate(situations) if situation is Situation.TARGET], comparison)
        answer = self._answer(comparison, shown)
        choices = [choice for i in older[:SLOTS] if (choice := self._reported(comparison, i)) is not None]
        choices += self._related(comparison, answer, shown)
        best = max(choices, key=lambda choice: (choice.probability, -choice.index), default=None)
        if self._stands(by_rule, answer, shown) and (best is None or by_rule.confidence >= best.probability):
            return by_rule
        if best is not None:
            return _verdict(best.action, (best.index,), best.probability)
        return self._free(comparison.candidate, answer)

    def _stands(self, by_rule: Verdict, answer: Answer, shown: Sequence[int]) -> bool:
        """Whether a rule found something that the model does not hold for next to impossible."""
        if by_rule.action.retires and by_rule.targets[0] in shown:
            shares = answer.relations[shown.index(by_rule.targets[0])]
            return sum(shares[name] for name in shares if Action(name).retires) >= self._thresholds["rule_support"]
        return bool(by_rule.targets)

    def _answer(self, comparison: Comparison, shown: Sequence[int]) -> Answer:
        candidate = comparison.candidate
        heads = [comparison.heads[i] for i in shown]
        memories = [
            Known(_stated(head.content), (candidate.said_at - head.said_at).days, head.likeness) for head in heads
        ]
        return self._model.decide(candidate.content, comparison.message, memories)

    def _related(self, comparison: Comparison, answer: Answer, indexes: Sequence[int]) -> list[_Choice]:
        """The relations to heads that are likely enough."""
        candidate, choices = comparison.candidate, []
        language = choose_language(candidate.content, load_languages())
        said_wrong = corrects(comparison.message)
        for index, shares in zip(indexes, answer.relations, strict=True):
            retiring = {action: share for name, share in shares.items() if (action := Action(name)).retires}
            action, total = max(retiring, key=lambda action: retiring[action]), sum(retiring.values())
            head, again, enough = comparison.heads[index], shares["SKIP"], self._thresholds["skip"]
            if same_told(candidate, head, language):
                again, enough = again + total, self._thresholds["skip_value"]
            elif total >= bound(action, candidate, head, language, self._thresholds, corrects=said_wrong):
                choices.append(_Choice(action, index, total))
            if again >= enough and not _no_repeat(candidate, head, language):
                choices.append(_Choice(Action.SKIP, index, again))
            if shares["CONFLICT"] >= self._thresholds["conflict"]:
                choices.append(_Choice(Action.CONFLICT, index, shares["CONFLICT"]))
        return choices

    def _reported(self, comparison: Comparison, index: int) -> _Choice | None:
        """What a candidate is to a head that was said later: the same already, or what was so before."""
        candidate, head = comparison.candidate, comparison.heads[index]
        days = (head.said_at - candidate.said_at).days
        (shares,) = self._model.decide(head.content, head.content, [Known(candidate.content, days)]).relations
        replaced = sum(share for name, share in shares.items() if Action(name).retires)
        language = choose_language(candidate.content, load_languages())
        of_slot = same_slot(candidate.content, head.content, language) and not of_two_others(candidate, head, language)
        if replaced >= self._thresholds["retire_slot" if of_slot else "historical"]:
            return _Choice(Action.HISTORICAL, index, replaced)
        if shares["SKIP"] >= self._thresholds["skip"] and not _new_figures(candidate.content, head.content, language):
            return _Choice(Action.SKIP, index, shares["SKIP"])
        return None

    def _free(self, candidate: Candidate, answer: Answer) -> Verdict:
        shares = answer.free
        if candidate.limited:
            return _verdict(Action.TEMPORAL, (), shares["TEMPORAL"])
        if shares["RAW_ONLY"] >= self._thresholds["raw_only"] and not _lasts(candidate):
            return _verdict(Action.RAW_ONLY, (), shares["RAW_ONLY"])
        if shares["TEMPORAL"] >= self._thresholds["temporal"]:
            return _verdict(Action.TEMPORAL, (), shares["TEMPORAL"])
        return _verdict(Action.SUPPLEMENT, (), shares["SUPPLEMENT"])


def _stated(content: str) -> str:
    """A memory as a statement, which the model was trained on, where it was told in passing ("my vegan niece")."""
    language = choose_language(content, load_languages())
    folded = language.fold(content)
    whole = (aside.reads for aside in asides(folded, language) if (aside.start, aside.end) == (0, len(folded)))
    return next(whole, content)


def _lasts(candidate: Candidate) -> bool:
    """Whether wording shows that it is no chatter."""
    language = choose_language(candidate.content, load_languages())
    return candidate.attribute is not None or is_wish(language.fold(candidate.content), language)


def _no_repeat(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether it is of someone else or has other figures, so that it repeats nothing, however likely that seems."""
    return of_two_others(candidate, head, language) or _new_figures(candidate.content, head.content, language)


def _new_figures(said: str, known: str, language: Language) -> bool:
    """Whether ``said`` has a number or a code that ``known`` lacks: however alike, it is then no repeat."""
    words = terms(known)
    others = Counter(str(number) for word, number in language.times.numbers.items() if word in words)
    return not _figures(said) <= _figures(known) + others


def _figures(text: str) -> Counter[str]:
    return Counter(term for term in terms(text) if any(map(str.isdigit, term)))


def _shown(indexes: Sequence[int], comparison: Comparison) -> list[int]:
    """The heads that the model weighs: those of the candidate's attribute, then the nearest."""
    candidate = comparison.candidate

    def tells_the_same(head: Head) -> bool:
        told = candidate.attribute is not None and head.attribute == candidate.attribute
        return told and head.subject == candidate.subject

    first = sorted(indexes, key=lambda i: (not tells_the_same(comparison.heads[i]), i))
    return first[:SLOTS]


def _verdict(action: Action, targets: tuple[int, ...], probability: float) -> Verdict:
    confidence = round(min(max(probability, 0.0), 1.0), 4)
    return Verdict(action, targets, confidence, f"{_REASONS[action]}, {confidence:.2f}")
