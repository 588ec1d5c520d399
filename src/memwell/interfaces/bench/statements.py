"""Synthetic statements for load: each one different, each one plausible, always in the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator

_WHO = ("I", "My sister", "My brother", "My neighbour", "Our manager", "My cousin", "The plumber", "My dentist")
_VERBS = ("bought", "sold", "repaired", "borrowed", "returned", "ordered", "painted", "lost", "found", "packed")
_ADJECTIVES = ("small", "green", "heavy", "old", "broken", "borrowed", "wooden", "cheap", "tall", "striped", "quiet")
_THINGS = (
    *("bicycle", "lamp", "kettle", "guitar", "suitcase", "printer", "camera", "ladder", "blanket", "radio", "mirror"),
    *("notebook", "chair", "umbrella", "clock", "teapot", "backpack", "drill", "carpet", "helmet", "violin", "tent"),
)
_PLACES = (
    *("the market", "the harbour", "the station", "the library", "the old mill", "the garden centre", "the airport"),
    *("the town hall", "the second floor", "the garage", "the hospital", "the bakery", "the bridge", "the museum"),
)

QUESTIONS = (
    "Who repaired the old radio?",
    "What did my sister order at the market?",
    "Where was the umbrella lost?",
    "Which of the lamps is striped?",
    "What was packed at the airport?",
    "Did my dentist buy a violin?",
    "Who found something near the bridge?",
    "What is in the garage?",
)


def statements(seed: int = 1) -> Iterator[str]:
    """Endless statements; a running number keeps them apart."""
    choose = random.Random(seed).choice
    number = 0
    while True:
        number += 1
        yield (
            f"{choose(_WHO)} {choose(_VERBS)} a {choose(_ADJECTIVES)} {choose(_THINGS)} "
            f"at {choose(_PLACES)}, ticket {number}."
        )
