"""A session's life beyond one run: forked, titled, queued for, taken elsewhere, deleted."""

from .keeping import Sessions

__all__ = ["Sessions"]
