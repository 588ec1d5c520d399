"""Nothing is sent or fetched, ever: everything works with the network blocked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# A process of its own, so that also what is done while importing is seen.
PROGRAM = """
import socket, sys

def refuse(*arguments, **options):
    raise AssertionError(f"network used: {arguments}")

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refuse

from memwell import Memory
from memwell.interfaces.cli import main

store = sys.argv[1]
with Memory(store, user_id="ann") as memory:
    assert memory.add("I live in Lyon.").memory_ids
    assert "Lyon" in memory.search("where does she live?").text()
for arguments in (["add", "我喜欢喝绿茶。"], ["search", "绿茶"], ["list", "--json"]):
    assert main([*arguments, "--store", store, "--user", "ann"]) == 0
for arguments in (["status"], ["doctor"]):
    assert main([*arguments, "--store", store]) == 0
assert main(["--help"]) == 0
"""


def test_everything_works_without_a_network(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMWELL_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "offline.db")],
        env={**environment, "PYTHONPATH": str(ROOT / "src"), "MEMWELL_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
