"""What the loop costs, next to the least that the same work can cost: `python -m benchmarks all`."""
