"""Memwell behind the interfaces of other libraries. Each module needs the extra of its name."""
