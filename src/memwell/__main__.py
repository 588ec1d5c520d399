"""``python -m memwell``: the same as ``memwell``."""

import sys

from memwell.interfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
