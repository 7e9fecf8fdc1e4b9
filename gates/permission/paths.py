"""Paths in rules: relative to the workspace, after `.` and `..` are resolved. Links are not looked up."""

import posixpath
from collections.abc import Mapping
from typing import Final

from gates.ready.matching import matching
from states.records import JSON

_NAMES: Final = ("path", "file_path")


def path_of(arguments: Mapping[str, JSON]) -> str | None:
    """What the call works on, if one of its arguments says so."""
    for name in _NAMES:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return None


def inside(path: str, root: str) -> str:
    """The path relative to the workspace; one outside stays absolute or begins with `..`."""
    whole = posixpath.normpath(posixpath.join(root or "/", path))
    base = posixpath.normpath(root or "/")
    if whole == base:
        return "."
    return whole[len(base.rstrip("/")) + 1 :] if whole.startswith(base.rstrip("/") + "/") else whole


def fits(path: str, pattern: str, root: str) -> bool:
    """`*` within a name, `**` across folders; a folder alone stands for all that is in it. As in .gitignore a name
    without a slash stands for it in any folder, and a slash at the beginning for the workspace itself.
    """
    place, meant = inside(path, root), _meant(pattern, root)
    if place.startswith("/") != meant.startswith("/"):
        return False
    return meant == "." or bool(matching([place.strip("/")], [meant.strip("/")]))


def _meant(pattern: str, root: str) -> str:
    """Relative to the workspace, or (written with `//`, or outside) absolute. A bare name stands for it anywhere."""
    if pattern.startswith("//"):
        return inside(pattern[1:], root)
    if pattern.startswith("/"):
        within = root and (pattern == root or pattern.startswith(root.rstrip("/") + "/"))
        return inside(pattern, root) if within else pattern.lstrip("/")
    plain = posixpath.normpath(pattern)
    return plain if "/" in plain or plain == "." else f"**/{plain}"
