"""Which commands prove what: `kinds_of` reads a shell text, and the tables beside it say what its commands check."""

from .kinds import EXAMPLES, KINDS, kinds_of, refusal

__all__ = ["EXAMPLES", "KINDS", "kinds_of", "refusal"]
