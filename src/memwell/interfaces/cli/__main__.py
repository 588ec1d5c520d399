"""``python -m memwell.interfaces.cli``: the same as ``memwell``."""

import sys

from memwell.interfaces.cli import main

sys.exit(main())
