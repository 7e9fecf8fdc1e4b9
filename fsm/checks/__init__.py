"""The harness that users get: shows that a loop keeps its invariants, with their gates, tools and rows."""

from .broken import Broken

__all__ = ["Broken"]
