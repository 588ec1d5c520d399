"""The decision model: one encoder over a new sentence, its message and the current memories beside it.

All of them are read in one pass, so that memories are weighed against each other; one softmax over every possible
decision (a relation to one of the memories, or one of the three decisions without a target) makes the probabilities
comparable. Further heads tell what the sentence is by itself.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from memwell.builtin.model.layout import ATTRIBUTES, FREE, GAPS, KINDS, RELATIONS, SLOTS, SUBJECTS
from memwell.builtin.model.weights import EncoderWeights

WIDTH, HEADS, INNER = 384, 12, 1536
# Heads that see the sentence alone: name, number of classes.
SENTENCE_HEADS = {"kind": len(KINDS), "about": len(SUBJECTS), "attribute": len(ATTRIBUTES), "single": 2, "hedged": 2}


def _parameter(array: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.tensor(np.array(array)))


class Layer(nn.Module):
    """One transformer layer of the base encoder (Devlin et al., "BERT", 2019)."""

    def __init__(self, weights: EncoderWeights, number: int) -> None:
        super().__init__()
        for name, (out, into) in {
            "q": (WIDTH, WIDTH),
            "k": (WIDTH, WIDTH),
            "v": (WIDTH, WIDTH),
            "ao": (WIDTH, WIDTH),
            "fi": (INNER, WIDTH),
            "fo": (WIDTH, INNER),
        }.items():
            linear = nn.Linear(into, out)
            linear.weight = _parameter(weights.tensor(f"l{number}.{name}.w", (out, into)))
            linear.bias = _parameter(weights.tensor(f"l{number}.{name}.b"))
            setattr(self, name, linear)
        for name in ("aln", "oln"):
            norm = nn.LayerNorm(WIDTH, eps=1e-12)
            norm.weight = _parameter(weights.tensor(f"l{number}.{name}.w"))
            norm.bias = _parameter(weights.tensor(f"l{number}.{name}.b"))
            setattr(self, name, norm)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, _ = x.shape

        def split(values: Tensor) -> Tensor:
            return values.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = nn.functional.scaled_dot_product_attention(
            split(self.q(x)), split(self.k(x)), split(self.v(x)), attn_mask=mask
        )
        x = self.aln(x + self.ao(mixed.transpose(1, 2).reshape(batch, length, WIDTH)))
        return self.oln(x + self.fo(nn.functional.gelu(self.fi(x))))


class DecisionModel(nn.Module):
    """See the module's description.

    Args:
        weights: the base encoder's.
        depth: how many of its layers are kept, from the bottom.
    """

    def __init__(self, weights: EncoderWeights, depth: int) -> None:
        super().__init__()
        self.words = nn.Embedding(weights.vocabulary, WIDTH)
        self.words.weight = _parameter(weights.tensor("emb.word", (-1, WIDTH))[: weights.vocabulary])
        self.register_buffer(
            "places", torch.tensor(weights.tensor("emb.pos", (-1, WIDTH)) + weights.tensor("emb.type", (-1, WIDTH))[0])
        )
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.norm.weight = _parameter(weights.tensor("emb.ln.w"))
        self.norm.bias = _parameter(weights.tensor("emb.ln.b"))
        self.layers = nn.ModuleList(Layer(weights, number) for number in range(depth))
        # 0 is the sentence, 1 its message, 2 and up the memories.
        self.slots = nn.Embedding(2 + SLOTS, WIDTH)
        self.gaps = nn.Embedding(len(GAPS) + 2, WIDTH)
        nn.init.normal_(self.slots.weight, std=0.02)
        nn.init.normal_(self.gaps.weight, std=0.02)
        self.pair = nn.Sequential(nn.Linear(4 * WIDTH, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, len(RELATIONS)))
        self.alone = nn.Sequential(nn.Linear(2 * WIDTH, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, len(FREE)))
        self.sentence = nn.ModuleDict({name: nn.Linear(WIDTH, size) for name, size in SENTENCE_HEADS.items()})

    def forward(self, ids: Tensor, slots: Tensor, gaps: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits of all decisions, shape ``(batch, SLOTS * relations + 3)``, and of the sentence heads.

        Args:
            ids, slots, gaps: shape ``(batch, length)``; slot -1 pads.
        """
        x = self.words(ids) + self.places[: ids.shape[1]] + self.slots(slots.clamp(min=0)) + self.gaps(gaps)
        x = self.norm(x)
        mask = (slots >= 0)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        picked = torch.nn.functional.one_hot(slots.clamp(min=0), 2 + SLOTS).float() * (slots >= 0)[..., None]
        counts = picked.sum(1)[..., None]
        means = torch.einsum("bls,blw->bsw", picked, x) / counts.clamp(min=1)
        said, message = means[:, 0], means[:, 1]
        heads = means[:, 2:]
        context = said[:, None].expand_as(heads)
        relation = self.pair(torch.cat([heads, context, heads * context, (heads - context).abs()], -1))
        relation = relation.masked_fill(counts[:, 2:] == 0, -1e4)
        free = self.alone(torch.cat([said, message], -1))
        logits = torch.cat([relation.flatten(1), free], -1)
        return logits, {name: head(said) for name, head in self.sentence.items()}
