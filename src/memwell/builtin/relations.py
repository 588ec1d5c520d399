"""How a later statement relates to an earlier one: pure rules on wording, attributes and similarity."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from memwell.builtin.asides import asides
from memwell.builtin.attributes import Attribute, attributes_of, same_value, value_words
from memwell.builtin.language import Language
from memwell.builtin.packs import choose_language
from memwell.builtin.persons import same_subject
from memwell.domain.decision import Action
from memwell.domain.memory import Kind, Polarity
from memwell.domain.text import fold, normal_form, terms

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CLAUSE = re.compile(r"[,.;:，。；：]")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w'-]+")


@dataclass(frozen=True, slots=True)
class Constants:
    """The figures of ``judge.toml``."""

    shift: Mapping[str, float]
    similarity: Mapping[str, float]
    confidence: Mapping[str, float]


@lru_cache(maxsize=1)
def load_constants() -> Constants:
    data = tomllib.loads((files("memwell.builtin") / "judge.toml").read_text(encoding="utf-8"))
    return Constants(data["shift"], data["similarity"], data["confidence"])


@dataclass(frozen=True, slots=True)
class Wording:
    """What the wording of a statement tells."""

    language: Language
    folded: str
    normal: str
    numbers: tuple[str, ...]
    names: frozenset[str]
    words: frozenset[str]
    qualifiers: frozenset[str]
    attributes: tuple[Attribute, ...]

    def has(self, cue: str) -> bool:
        return self.language.has(cue, self.folded)

    def denies(self, attribute: Attribute) -> bool:
        """The clause that tells ``attribute`` says that its value does not hold, or no longer."""
        if self.language.has("negation", self.folded[attribute.lead : attribute.position]):
            return True
        ended = self.language.search("ended", self.folded)
        if ended is None or ended.start() > attribute.position:
            return False
        return _CLAUSE.search(self.folded, ended.end(), attribute.position) is None

    def is_past(self, attribute: Attribute) -> bool:
        """The clause that tells ``attribute`` speaks of what was."""
        past = self.language.search("past", self.folded)
        if past is None:
            return False
        start, end = sorted((past.start(), attribute.position))
        return _CLAUSE.search(self.folded, start, end) is None


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
    """What the later statement does to the earlier one; ``SUPPLEMENT`` means nothing.

    Attributes:
        by_attribute: an attribute of one value at a time, which both tell, decided it.
    """

    action: Action
    confidence: float
    reason: str
    by_attribute: bool = False


def wording(text: str, languages: tuple[Language, ...]) -> Wording:
    language = choose_language(text, languages)
    folded = language.mend(language.fold(text))
    attributes = attributes_of(folded, language)
    if not attributes and (reads := _told_in_passing(folded, language)) is not None:
        folded, attributes = reads, attributes_of(reads, language)
    return Wording(
        language=language,
        folded=folded,
        normal=normal_form(text),
        numbers=tuple(_NUMBER.findall(text)),
        names=frozenset(fold(name) for name in _NAME.findall(text)),
        words=frozenset(terms(text)),
        qualifiers=language.found("qualifier", folded),
        attributes=attributes,
    )


def _told_in_passing(folded: str, language: Language) -> str | None:
    """How words read that are nothing but an aside: "my brother, who lives in Bath"."""
    passing = asides(folded, language, asked=True)
    return next((aside.reads for aside in passing if (aside.start, aside.end) == (0, len(folded))), None)


def shared_attribute(earlier: Statement, later: Statement) -> tuple[Attribute, Attribute] | None:
    """The first attribute that both statements tell, with its two values."""
    known = {item.name: item for item in earlier.wording.attributes}
    return next(((known[item.name], item) for item in later.wording.attributes if item.name in known), None)


def content_words(statement: Statement) -> frozenset[str]:
    """Words (for unspaced scripts: character pairs) of a statement without stop words."""
    pack = statement.wording.language
    found = terms(statement.text)
    return frozenset(word for word in found if word not in pack.stopwords and (pack.spaced or len(word) > 1))


def _stems(text: str, pack: Language) -> frozenset[str]:
    """Words (in unspaced scripts: characters) of ``text`` that say something, without endings."""
    found = frozenset(terms(text)) - pack.fillers
    return frozenset(pack.stem(word) for word in found if pack.spaced or len(word) == 1 or word.isascii())


def relate(earlier: Statement, later: Statement, similarity: float, corrects: bool, constants: Constants) -> Relation:
    """Relation of ``later`` to ``earlier``.

    Args:
        similarity: centred cosine of the two.
        corrects: the message says that something said before was wrong.
    """
    if earlier.wording.language is later.wording.language:
        similarity -= constants.shift.get(later.wording.language.code, 0.0)
    limits, sure = constants.similarity, constants.confidence
    nothing = Relation(Action.SUPPLEMENT, sure["independent"], "independent")
    of_one = same_subject(earlier.subject, later.subject, later.wording.language)
    if earlier.wording.normal == later.wording.normal and of_one:
        return Relation(Action.SKIP, sure["repeat"], "repeats: same words")
    shared = shared_attribute(earlier, later)
    same = shared is not None and same_value(shared[0].value, shared[1].value, later.wording.language.stopwords)
    if later.wording.has("claim") and not later.wording.has("accepted"):
        contradicts = similarity >= limits["conflict"] and later.subject != earlier.subject
        if not contradicts:
            return nothing
        return Relation(Action.CONFLICT, sure["conflict"], "conflicts: someone else's claim")
    if not of_one:
        return nothing
    if _repeats(earlier, later, similarity, constants):
        return Relation(Action.SKIP, sure["paraphrase"], "repeats: same in other words")
    if later.hedged or later.limited or later.wording.has("limit"):
        return nothing
    return _retires(earlier, later, similarity, corrects, shared, same, constants) or nothing


def _repeats(earlier: Statement, later: Statement, similarity: float, constants: Constants) -> bool:
    """The later statement says nothing that the earlier one does not say; however similar, one new word is enough."""
    old, new = earlier.wording, later.wording
    if (
        earlier.polarity is not later.polarity
        or Counter(new.numbers) - Counter(old.numbers)
        or not new.names <= old.words
    ):
        return False
    if any(new.has(cue) for cue in ("correction", "weak_correction", "additive", "ended")):
        return False
    if earlier.limited is not later.limited or any(
        old.has(cue) is not new.has(cue) for cue in ("past", "hedge", "limit")
    ):
        return False
    if (earlier.kind is Kind.INTENTION) is not (later.kind is Kind.INTENTION):
        return False
    values = {item.name: value_words(item.value, new.language.stopwords) for item in old.attributes}
    told = {item.name: value_words(item.value, new.language.stopwords) for item in new.attributes}
    if any(values.get(name, value) != value for name, value in told.items()):
        return False
    known, said = _stems(earlier.text, new.language), _stems(later.text, new.language)
    if told and told.keys() <= values.keys() and all(item.single for item in new.attributes):
        same = len(said - known) <= constants.similarity["value_fresh_words"] * len(said)
        if same and _stems(_beside_attributes(new), new.language) <= known:
            return similarity >= constants.similarity["repeat_value"]
    eventful = Kind.EVENT in (earlier.kind, later.kind)
    return said <= known and not eventful and similarity >= constants.similarity["repeat"]


def _beside_attributes(words: Wording) -> str:
    """What a statement says besides its attributes and their values."""
    inside = [range(item.start, item.end) for item in words.attributes]
    return "".join(" " if any(i in span for span in inside) else char for i, char in enumerate(words.folded))


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
    words = content_words(earlier)
    common = words & content_words(later)
    mostly = _touches(earlier, later, limits["change_words"])
    touches = _touches(earlier, later, limits["touching_words"])
    near = similarity >= limits["certain"] or (touches and similarity >= limits["touching"])
    if corrects and near and similarity >= limits["correct"] and not same:
        return Relation(Action.CORRECT, sure["correction"], "corrects: said to be wrong")
    if both_events or plan or _set_apart(earlier, later):
        return None
    if shared is not None and shared[1].single:
        return _of_one_value(earlier, later, shared, same, sure)
    past = later.wording.has("past") or earlier.wording.has("past")
    if later.wording.has("ended") and not past and near and similarity >= limits["ended"]:
        return Relation(Action.NEGATE, sure["ended"], "ends: said to be over")
    if earlier.kind is Kind.INTENTION:
        done = later.wording.has("done") and mostly and similarity >= limits["done"]
        return Relation(Action.OVERRIDE, sure["done"], "replaces: the plan is carried out") if done else None
    if adds or past:
        return None
    averse = earlier.wording.has("aversion") or later.wording.has("aversion")
    denied = later.polarity is Polarity.NEGATIVE and later.kind is not Kind.EVENT
    denies = earlier.polarity is Polarity.POSITIVE and denied and not averse
    if denies and words and len(common) >= limits["opposite_words"] * len(words):
        return Relation(Action.NEGATE, sure["opposite"], "ends: denied")
    switches = later.wording.has("switch") and near and similarity >= limits["switch"]
    if switches or (later.wording.has("change") and similarity >= limits["change"] and (mostly or shared is not None)):
        return Relation(Action.OVERRIDE, sure["change"], "replaces: said to have changed")
    return None


def _touches(earlier: Statement, later: Statement, share: float) -> bool:
    """Whether they share so many content words that they may well be about one thing.

    Pairs of characters seldom coincide, so one shared pair is enough in unspaced scripts.

    Args:
        share: of the shorter one's content words, at least.
    """
    old, new = content_words(earlier), content_words(later)
    common = len(old & new)
    if not later.wording.language.spaced:
        return common > 0
    return common > 0 and common >= share * min(len(old), len(new))


def _set_apart(earlier: Statement, later: Statement) -> bool:
    """Qualifiers tell two things of one sort apart; what is over ("I sold my old car") may leave them out."""
    old, new = earlier.wording.qualifiers, later.wording.qualifiers
    return old != new and not (later.wording.has("ended") and not old)


def _of_one_value(
    earlier: Statement, later: Statement, shared: tuple[Attribute, Attribute], same: bool, sure: Mapping[str, float]
) -> Relation | None:
    """Two statements on an attribute that has one value at a time."""
    old, new = shared
    was_denied, is_denied = earlier.wording.denies(old), later.wording.denies(new)
    if is_denied or was_denied:
        if is_denied == was_denied or not same:
            return None
        if is_denied:
            return Relation(Action.NEGATE, sure["ended"], f"ends: same attribute {new.name}, denied", True)
        return Relation(Action.OVERRIDE, sure["change"], f"replaces: same attribute {new.name}, holds again", True)
    if same or later.wording.has("additive") or later.wording.is_past(new) or earlier.wording.is_past(old):
        return None
    return Relation(Action.OVERRIDE, sure["attribute"], f"replaces: same attribute {new.name}, later", True)
