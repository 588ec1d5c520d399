"""How a later statement relates to an earlier one: pure rules on wording, attributes and similarity."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from memwell.builtin.attributes import USER, Attribute, attributes_of, same_subject, same_value
from memwell.builtin.language import Language, choose_language
from memwell.domain.decision import Action
from memwell.domain.memory import Kind, Polarity
from memwell.domain.text import fold, normal_form, terms

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'-]+")


@dataclass(frozen=True, slots=True)
class Constants:
    """The figures of ``judge.toml``."""

    similarity: Mapping[str, float]
    confidence: Mapping[str, float]


@lru_cache(maxsize=1)
def load_constants() -> Constants:
    data = tomllib.loads((files("memwell.builtin") / "judge.toml").read_text(encoding="utf-8"))
    return Constants(data["similarity"], data["confidence"])


@dataclass(frozen=True, slots=True)
class Wording:
    """What the wording of a statement tells."""

    language: Language
    folded: str
    normal: str
    numbers: frozenset[str]
    names: frozenset[str]
    attributes: tuple[Attribute, ...]

    def has(self, cue: str) -> bool:
        return self.language.has(cue, self.folded)


@dataclass(frozen=True, slots=True)
class Statement:
    """A candidate or a head, as the rules see it."""

    text: str
    wording: Wording
    kind: Kind
    subject: str
    polarity: Polarity
    hedged: bool = False
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """What the later statement does to the earlier one; ``SUPPLEMENT`` means nothing."""

    action: Action
    confidence: float
    reason: str


def wording(text: str, languages: tuple[Language, ...]) -> Wording:
    language = choose_language(text, languages)
    folded = language.fold(text)
    return Wording(
        language=language,
        folded=folded,
        normal=normal_form(text),
        numbers=frozenset(_NUMBER.findall(text)),
        names=frozenset(fold(name) for name in _NAME.findall(text)),
        attributes=attributes_of(folded, language),
    )


def shared_attribute(earlier: Statement, later: Statement) -> tuple[Attribute, Attribute] | None:
    """The first attribute that both statements tell, with its two values."""
    known = {item.name: item for item in earlier.wording.attributes}
    return next(((known[item.name], item) for item in later.wording.attributes if item.name in known), None)


def shared_words(earlier: Statement, later: Statement) -> frozenset[str]:
    """Content words (for unspaced scripts: character pairs) of both statements."""

    def words(statement: Statement) -> frozenset[str]:
        pack = statement.wording.language
        found = terms(statement.text)
        return frozenset(word for word in found if word not in pack.stopwords and (pack.spaced or len(word) > 1))

    return words(earlier) & words(later)


def relate(earlier: Statement, later: Statement, similarity: float, corrects: bool, constants: Constants) -> Relation:
    """Relation of ``later`` to ``earlier``.

    Args:
        similarity: centred cosine of the two.
        corrects: the message says that something said before was wrong.
    """
    limits, sure = constants.similarity, constants.confidence
    nothing = Relation(Action.SUPPLEMENT, sure["independent"], "independent")
    if earlier.wording.normal == later.wording.normal:
        return Relation(Action.SKIP, sure["repeat"], "repeats: same words")
    shared = shared_attribute(earlier, later)
    same = shared is not None and same_value(shared[0].value, shared[1].value, later.wording.language.stopwords)
    if later.wording.has("claim") and not later.wording.has("accepted"):
        contradicts = similarity >= limits["conflict"] and later.subject != earlier.subject
        if not contradicts:
            return nothing
        return Relation(Action.CONFLICT, sure["conflict"], "conflicts: someone else's claim")
    if not same_subject(earlier.subject, later.subject):
        return nothing
    if _repeats(earlier, later, similarity, same, constants):
        return Relation(Action.SKIP, sure["paraphrase"], "repeats: same in other words")
    if later.hedged or later.limited or later.wording.has("limit"):
        return nothing
    return _retires(earlier, later, similarity, corrects, shared, same, constants) or nothing


def _repeats(earlier: Statement, later: Statement, similarity: float, same: bool, constants: Constants) -> bool:
    if earlier.polarity is not later.polarity or later.wording.numbers - earlier.wording.numbers:
        return False
    if later.wording.has("correction") or later.wording.has("additive") or later.wording.has("ended"):
        return False
    if same:
        return similarity >= constants.similarity["duplicate_value"]
    return similarity >= constants.similarity["duplicate"] and later.wording.names <= earlier.wording.names


def _retires(
    earlier: Statement,
    later: Statement,
    similarity: float,
    corrects: bool,
    shared: tuple[Attribute, Attribute] | None,
    same: bool,
    constants: Constants,
) -> Relation | None:
    limits, sure = constants.similarity, constants.confidence
    both_events = earlier.kind is Kind.EVENT and later.kind is Kind.EVENT
    adds = later.wording.has("additive")
    plan = later.kind is Kind.INTENTION
    touches = bool(shared_words(earlier, later)) or shared is not None
    if corrects and similarity >= limits["correct"] and touches and not same:
        return Relation(Action.CORRECT, sure["correction"], "corrects: said to be wrong")
    if earlier.kind is Kind.INTENTION and not plan:
        if later.wording.has("done") and similarity >= limits["done"] and touches:
            return Relation(Action.OVERRIDE, sure["done"], "replaces: the plan is carried out")
        return None
    if both_events or plan:
        return None
    if later.wording.has("ended") and not adds and touches and similarity >= limits["ended"]:
        return Relation(Action.NEGATE, sure["ended"], "ends: said to be over")
    if shared is not None and shared[1].single and not same and not adds:
        return Relation(Action.OVERRIDE, sure["attribute"], f"replaces: same attribute {shared[1].name}, later")
    if adds:
        return None
    if earlier.polarity is not later.polarity and similarity >= limits["opposite"] and touches:
        action = Action.NEGATE if later.polarity is Polarity.NEGATIVE else Action.OVERRIDE
        return Relation(action, sure["opposite"], "replaces: the opposite, later")
    if later.wording.has("change") and similarity >= limits["change"] and touches:
        return Relation(Action.OVERRIDE, sure["change"], "replaces: said to have changed")
    return None


def is_about_user(statement: Statement) -> bool:
    return statement.subject == USER
