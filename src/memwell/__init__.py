"""Memwell: local-first long-term memory for AI agents."""
