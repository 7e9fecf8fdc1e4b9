"""What a run changed, judged by paths and commands alone: whether somebody else should look at it."""

from .due import harmless, reasons
from .paths import is_implementation, is_risky

__all__ = ["harmless", "is_implementation", "is_risky", "reasons"]
