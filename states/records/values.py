"""Plain data inside records."""

from collections.abc import Mapping

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
Metadata = Mapping[str, JSON]
