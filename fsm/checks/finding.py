"""What the static check finds."""

import attrs


@attrs.frozen
class Finding:
    """One thing that is wrong: the name of the check, and a sentence that names the offenders.

    `rows` are their numbers in the table, from 1.
    """

    check: str
    message: str
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.check}: {self.message}"
