"""What a sentence tells in passing: "my sister, who lives in Leeds", "as a vegetarian", "my vegan daughter"."""

from __future__ import annotations

from dataclasses import dataclass

from memwell.builtin.language import Language, compiled

# Group of a rule's pattern that is the aside; without it, all that matches is.
_WORDS = "words"


@dataclass(frozen=True, slots=True)
class Aside:
    """Words of a sentence that presuppose a statement which the sentence does not make.

    Attributes:
        start: where they begin.
        end: where they end.
        reads: the statement, in the same words.
        lasting: it is worth keeping even where it tells no attribute.
    """

    start: int
    end: int
    reads: str
    lasting: bool

    def covers(self, position: int) -> bool:
        return self.start <= position < self.end


def asides(folded: str, language: Language, *, asked: bool = False) -> tuple[Aside, ...]:
    """All asides in a sentence, in its order; of two that overlap the earlier rule's.

    Args:
        folded: the sentence, folded by the pack.
        asked: it is a question or an order.
    """
    found: list[Aside] = []
    for rule in language.asides:
        if rule.asked and not asked:
            continue
        pattern = compiled(rule.pattern)
        group = _WORDS if _WORDS in pattern.groupindex else 0
        for match in pattern.finditer(folded):
            start, end = match.span(group)
            if not any(start < other.end and other.start < end for other in found):
                found.append(Aside(start, end, match.expand(rule.reads), rule.lasting))
    return tuple(sorted(found, key=lambda aside: aside.start))
