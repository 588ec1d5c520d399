"""Memwell for hosts in other languages: JSON lines over standard input and output."""
