"""Recall with one signal left out at a time, so that each shows what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memwell.engine.weights import Weights

ALL_SIGNALS = "all signals"


def variants(weights: Weights) -> Mapping[str, Weights]:
    """``weights`` under ``ALL_SIGNALS``, then with signals left out, by what is left out or alone left."""
    alone = replace(weights, words=0.0, context=0.0, date=0.0, episode=0.0, speaker=0.0)
    return {
        ALL_SIGNALS: weights,
        "no vectors": replace(weights, similarity=0.0, words=0.0),
        "no keywords": replace(weights, keyword=0.0),
        "no matching of words by meaning": replace(weights, words=0.0),
        "no gate for absent words": replace(weights, absent=0.0),
        "no turns before": replace(weights, context=0.0),
        "no session prior": replace(weights, episode=0.0),
        "no neighbours (neither of both)": replace(weights, context=0.0, episode=0.0),
        "no dates": replace(weights, date=0.0),
        "no names of speakers": replace(weights, speaker=0.0),
        "no question type": replace(weights, speaker=0.0, several=1.0, broad=1.0),
        "vectors and keywords alone": alone,
        "vectors alone": replace(alone, keyword=0.0),
        "keywords alone": replace(alone, similarity=0.0),
    }
