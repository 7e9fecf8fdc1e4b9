"""The books: a file with a line per posting, `key account cents`; all postings together must come to nothing."""

from pathlib import Path

import attrs


@attrs.frozen
class Ledger:
    """The books in a folder."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "ledger.txt"

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def off_by(self) -> int:
        """Cents by which the books do not balance."""
        return sum(int(cents) for _, _, cents in self.lines())

    def post(self, key: str, account: str, cents: int) -> bool:
        """Write one posting, once for each key; whether it is new."""
        if any(line[0] == key for line in self.lines()):
            return False
        with self.file.open("a") as file:
            file.write(f"{key} {account} {cents}\n")
        return True
