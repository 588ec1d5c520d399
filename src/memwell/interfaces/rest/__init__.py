"""Memwell over HTTP."""
