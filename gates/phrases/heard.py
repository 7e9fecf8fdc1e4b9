"""One thing that was heard in a text."""

import attrs


@attrs.frozen
class Heard:
    """At `place` (characters from the start), `words` say that these kinds are wanted, or that they are not."""

    place: int
    kinds: tuple[str, ...]
    words: str
    wanted: bool = True
