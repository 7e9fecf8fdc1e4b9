"""What a person's words ask a run to prove. Strict on purpose: what is not clearly asked for is not owed."""

from .understanding import Request, understand, understanding

__all__ = ["Request", "understand", "understanding"]
