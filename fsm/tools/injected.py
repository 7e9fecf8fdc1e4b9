"""Dependencies of the user's own: objects that a tool asks for by their type, and that the model never sees."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import attrs

from states.errors import ConfigError

from .schema import is_union

T = TypeVar("T")


class _Mark:
    def __repr__(self) -> str:
        return "Injected"


_MARK: Final = _Mark()
Injected = Annotated[T, _MARK]
"""`db: Injected[Database]`: the object of that type that was given as `Loop(context=...)`; never in the schema."""


@attrs.frozen
class Need:
    """A parameter that takes a dependency: one of `types`. Without one its default is used, if it has one."""

    types: tuple[type, ...]
    required: bool
    where: str

    def find(self, given: Sequence[object]) -> list[object]:
        """At most one object. Raises ConfigError if there is none, though it is required, or more than one."""
        found = [item for item in given if isinstance(item, self.types)]
        wanted = " or ".join(kind.__name__ for kind in self.types)
        if len(found) > 1:
            raise ConfigError(f"{self.where} asks for one {wanted}, and context=... holds {len(found)} of them")
        if not found and self.required:
            held = ", ".join(type(item).__name__ for item in given) or "nothing"
            raise ConfigError(
                f"{self.where} asks for a {wanted}, but context=... holds {held}; give Loop(context=...) an object of "
                "that type (several as a tuple), or the parameter a default"
            )
        return found


def need_of(annotation: Any, where: str, *, required: bool) -> Need | None:
    """What `Injected[...]` asks for, or None for any other annotation. Raises ConfigError for what is no class."""
    if get_origin(annotation) is not Annotated or _MARK not in get_args(annotation)[1:]:
        return None
    wanted = get_args(annotation)[0]
    members = get_args(wanted) if is_union(wanted) else (wanted,)
    types = tuple(get_origin(member) or member for member in members if member is not NoneType)
    for kind in types:
        try:
            isinstance(None, kind)
        except TypeError:
            raise ConfigError(
                f"{where}: Injected[{kind!r}] cannot be found by its type; name a class, or a Protocol that is "
                "@runtime_checkable"
            ) from None
    return Need(types, required, where)


def resolve(needs: Mapping[str, Need], given: Sequence[object]) -> dict[str, object]:
    """The dependency for each parameter that has one. Raises ConfigError."""
    return {name: found[0] for name, need in needs.items() if (found := need.find(given))}


def as_given(context: object) -> tuple[object, ...]:
    """`context=` as the objects that it stands for: none, one, or several as a tuple."""
    if context is None:
        return ()
    return context if isinstance(context, tuple) else (context,)
