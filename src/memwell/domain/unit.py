"""Unit: the two sorts of record that have words."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What an index row or a tombstone stands for."""

    MEMORY = "memory"
    EVIDENCE = "evidence"
