"""A session as one page that stands by itself: no network, no script, nothing that a tool said can run from it.

Needs the extra `report` (Jinja2).
"""

from .page import page

__all__ = ["page"]
