"""Embeddings from any OpenAI-compatible endpoint: in batches, each text once, every answer checked."""

from __future__ import annotations

import base64
import math
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memwell.domain.evidence import Target
from memwell.engine.ports import Matrix
from memwell.errors import EmbeddingError
from memwell.providers.endpoint import Endpoint, openai_troubles, trouble
from memwell.providers.paid import Answered, Paid

if TYPE_CHECKING:
    import openai

# Vectors of the latest texts that are kept in memory, by the digest of the text.
_CACHED = 4096


class EndpointEmbedder:
    """See ``ports.Embedder``. Vectors are normalised here; what cannot be is refused.

    Args:
        dimensions: length of the model's vectors.
        batch: texts in one request.
        query_prefix, passage_prefix: what the model wants before questions and before stored texts.
        relation_threshold: similarity below which two statements are unrelated.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        paid: Paid,
        *,
        dimensions: int,
        batch: int = 64,
        query_prefix: str = "",
        passage_prefix: str = "",
        relation_threshold: float = 0.6,
    ) -> None:
        self._endpoint = endpoint
        self._paid = paid
        self._batch = batch
        self._prefixes = (query_prefix, passage_prefix)
        self._cache: OrderedDict[bytes, Matrix] = OrderedDict()
        self._guard = Lock()
        self.dimensions = dimensions
        self.relation_threshold = relation_threshold
        # Vectors made behind another prefix are other vectors.
        mark = f"+{_digest(passage_prefix).hex()[:6]}" if passage_prefix else ""
        self.model = f"endpoint/{endpoint.model}:{dimensions}{mark}"
        self.target: Target = endpoint.target

    def passages(self, texts: Sequence[str]) -> Matrix:
        """See ``ports.Embedder``.

        Raises:
            EmbeddingError: the endpoint failed, or gave vectors that cannot be used.
            BudgetError: the budget of the day does not suffice.
        """
        return self._vectors([self._prefixes[1] + text for text in texts])

    def query(self, text: str) -> Matrix:
        """See ``ports.Embedder``; raises as ``passages`` does."""
        row: Matrix = self._vectors([self._prefixes[0] + text])[0]
        return row

    def target_queries(self, vectors: Matrix) -> Matrix:
        """See ``ports.Embedder``: nothing better is known for this model."""
        return vectors

    def forget(self) -> None:
        """See ``ports.Caching``."""
        with self._guard:
            self._cache.clear()

    def _vectors(self, texts: Sequence[str]) -> Matrix:
        keys = [_digest(text) for text in texts]
        found = self._known(keys)
        missing = [(key, text) for key, text in dict(zip(keys, texts, strict=True)).items() if key not in found]
        for start in range(0, len(missing), self._batch):
            part = missing[start : start + self._batch]
            rows = self._ask([text for _, text in part])
            found.update((key, row) for (key, _), row in zip(part, rows, strict=True))
        self._remember(found)
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, self.dimensions), np.float32)

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Matrix]:
        with self._guard:
            return {key: self._cache[key] for key in keys if key in self._cache}

    def _remember(self, found: dict[bytes, Matrix]) -> None:
        with self._guard:
            for key, row in found.items():
                self._cache[key] = row
                self._cache.move_to_end(key)
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)

    def _ask(self, texts: list[str]) -> Matrix:
        """Normalised vectors of ``texts``, from the endpoint or from the notes of the errand."""
        answer = self._paid.ask(
            "embedding", self._endpoint.model, {"input": texts}, lambda: self._call(texts), answer_tokens=0
        )
        rows: Matrix = np.frombuffer(base64.b64decode(answer), dtype="<f4").reshape(len(texts), self.dimensions)
        return rows

    @cached_property
    def _client(self) -> openai.OpenAI:
        return self._endpoint.client()

    def _call(self, texts: list[str]) -> Answered:
        client = self._client
        with openai_troubles(EmbeddingError, self._endpoint.model):
            response = client.embeddings.create(model=self._endpoint.model, input=texts, encoding_format="float")
        data = getattr(response, "data", None)
        if not isinstance(data, list) or sorted(getattr(row, "index", -1) for row in data) != list(range(len(texts))):
            raise trouble(EmbeddingError, self._endpoint.model, "endpoint_failed")
        rows = [row.embedding for row in sorted(data, key=lambda row: row.index)]
        usage = getattr(response, "usage", None)
        packed = base64.b64encode(self._checked(rows).astype("<f4").tobytes()).decode()
        return Answered(packed, None if usage is None else usage.prompt_tokens, 0)

    def _checked(self, rows: Sequence[Sequence[float]]) -> Matrix:
        for row in rows:
            if len(row) != self.dimensions:
                raise self._refusal(
                    "wrong_shape",
                    f"gave vectors of {len(row)} dimensions, not {self.dimensions}",
                    f"set embedding.dimensions to {len(row)}, then run `memwell reembed`",
                )
            length = math.hypot(*row)
            if not math.isfinite(length) or length == 0:
                raise self._refusal(
                    "not_finite", "gave a vector that is zero or not finite", "repeat the call, or use another model"
                )
        matrix = np.asarray(rows, dtype=np.float64)
        normalised: Matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
        return normalised

    def _refusal(self, code: str, what: str, remedy: str) -> EmbeddingError:
        return EmbeddingError(f"{self._endpoint.model} {what}", remedy=f"the evidence is kept; {remedy}", code=code)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()
