"""What the machine allows."""

from __future__ import annotations

from pathlib import Path

from memwell.builtin.system import cache_budget

MIB = 2**20


def test_caches_may_take_a_quarter_of_what_the_container_may_use(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    unlimited = cache_budget(limit)
    assert unlimited >= 512 * MIB
    limit.write_text("max\n")
    assert cache_budget(limit) == unlimited
    limit.write_text(f"{1024 * MIB}\n")
    assert cache_budget(limit) == 512 * MIB
    limit.write_text(f"{2**60}\n")
    assert cache_budget(limit) == unlimited
