"""What must hold before a move: one gate per file, each pure on committed history.

Judgements: imports `states`, and nothing of `fsm`.
"""

from typing import Final

INTERLOCK: Final = True
"""Marks this package as Interlock's own: `fsm` checks it before it believes an import."""
