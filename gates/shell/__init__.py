"""What the exit status of a shell text shows: a strict reading of the text by a real grammar of bash."""

from .reading import Simple, proven
from .unclear import Unclear

__all__ = ["Simple", "Unclear", "proven"]
