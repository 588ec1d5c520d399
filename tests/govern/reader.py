"""A process that answers questions to a store, one JSON line each: reader.py STORE."""

from __future__ import annotations

import json
import sys

from memwell import Memory
from memwell.testing.doubles import HashEmbedder

if __name__ == "__main__":
    with Memory(sys.argv[1], user_id="alice", embedder=HashEmbedder(), worker=False) as memory:
        for line in sys.stdin:
            question = json.loads(line)
            found = memory.search(question, limit=10, raw_limit=10)
            listed = [record.content for record in memory.list(include_history=True).memories]
            text = json.dumps([found.to_dict() | {"question": ""}, found.text(), listed], ensure_ascii=False)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
