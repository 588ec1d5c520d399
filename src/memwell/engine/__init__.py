"""The use cases. They plan; stores apply. Ports say what they need from the outside."""
