"""Stores: ``sqlite`` (the default) and ``memory`` (the reference). Both carry out plans as ``domain.changes`` says."""
