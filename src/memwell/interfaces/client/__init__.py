"""Clients of a Memwell server, with the methods of ``Memory``."""
