"""Speed as ratios to peers, measured side by side in one process: ``python -m benchmarks``."""
