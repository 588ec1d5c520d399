"""Benchmarks: recall, behaviour, speed and crashes, all through the public ``Memory``; reports are frozen values."""
