"""What the decision model tells of a statement by itself enters the proposal where no wording tells."""

from __future__ import annotations

from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.model.decide import DecisionModel
from memwell.domain.memory import Kind
from memwell.engine.ports import Proposal
from tests.builtin.test_extractor import make_turn

MODEL = DecisionModel()
EXTRACTOR = BuiltinExtractor(None, MODEL)


def proposal(text: str) -> Proposal:
    (found,) = EXTRACTOR.extract([make_turn(text)], []).proposals
    return found


def test_shares_of_kinds_and_of_whom_it_is_about_are_probabilities() -> None:
    for text in ("I am allergic to penicillin.", "我对青霉素过敏。", "x", "长" * 5000):
        found = MODEL.describe(text, text)
        assert 0 <= found.nothing <= 1
        assert 0 <= found.other <= 1
        assert abs(sum(found.kind.values()) - 1) < 1e-5


def test_what_lies_behind_the_first_words_of_a_huge_sentence_changes_nothing() -> None:
    told = " ".join(f"on day {number} I repaired the fence behind the barn" for number in range(60))
    assert MODEL.describe(told + " and sang" * 50_000, "") == MODEL.describe(told + " and slept" * 50_000, "")


def test_an_empty_sentence_is_described_too() -> None:
    assert 0 <= MODEL.describe("", "").nothing <= 1


def test_a_statement_about_someone_else_is_not_the_users() -> None:
    assert proposal("The lad next door has started at the bakery.").subject != "user"
    assert proposal("隔壁那小子去面包房上班了。").subject != "user"


def test_wording_that_tells_goes_before_the_model() -> None:
    assert proposal("My sister Lena works nights.").subject == "sister Lena"
    assert proposal("I live in Oslo.").subject == "user"
    assert proposal("I'm planning to repaint the shed.").kind is Kind.INTENTION


def test_no_statement_becomes_a_procedure() -> None:
    for text in ("I rinse the rice three times, then soak it for an hour.", "我做红烧肉先焯水再炒糖色。"):
        assert proposal(text).kind is not Kind.PROCEDURE


def test_a_chinese_name_is_the_subject_where_the_model_agrees() -> None:
    assert proposal("陆敏住在宁波。").subject == "陆敏"
    assert proposal("周末在家看书。").subject == "user"
