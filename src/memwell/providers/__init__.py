"""Model endpoints behind the ports: chat models, typed questions, embeddings. Each needs an extra to be installed."""
