"""One function per verb; its docstring is its help text."""
