"""The harness that users get: shows that a loop keeps its invariants, with their gates, tools and rows.

`shape` reads the table, `explore` searches what it can do, `walk` and `paths` drive the real loop, `crash` kills it.
"""

from .broken import Broken
from .proof import cli_check

__all__ = ["Broken", "cli_check"]
