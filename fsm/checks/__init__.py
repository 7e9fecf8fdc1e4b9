"""The harness that users get: shows that a loop keeps its invariants, with their gates, tools and rows.

`shape` reads the table, `explore` searches what it can do, `simulate`, `walk` and `paths` drive the real loop, `crash`
kills it, `powerloss` cuts the power. `prove` is all of them.
"""

from .broken import Broken
from .proof import Proof, cli_check, prove

__all__ = ["Broken", "Proof", "cli_check", "prove"]
