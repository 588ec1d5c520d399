"""What all servers share: API keys, limits, listening, metrics and logs."""
