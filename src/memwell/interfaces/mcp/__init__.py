"""Memwell for models: the Model Context Protocol."""
