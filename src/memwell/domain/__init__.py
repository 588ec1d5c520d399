"""Frozen values and pure rules. Standard library only: no I/O, no clock, no ids made here."""
