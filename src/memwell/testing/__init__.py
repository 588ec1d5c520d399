"""Shipped test tools: the store conformance kit, doubles for clock, ids and embedder, and fault points."""
