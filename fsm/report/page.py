"""Puts the parts of a report into one page.

Whatever the session holds is a stranger's text: every value goes through `visible` and is escaped by the template
engine, pictures are data, and the page's own policy forbids scripts, styles other than its one sheet, and the network.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import attrs
import orjson

from fsm import receipt
from fsm.audit import audit
from fsm.draw import session_marks, svg
from fsm.graph import Graph
from fsm.summary import head, summary
from fsm.visible import visible
from states.codec import encode, kind_of
from states.errors import ConfigError, GateError, HistoryError
from states.fold import fold
from states.history import History
from states.names import RESTING
from states.records import Entry, Finalized, RunStarted, UserInput

from . import words
from .bill import bill
from .rulings import moves, tallies
from .spans import bars, spans
from .talk import conversation

if TYPE_CHECKING:
    from jinja2 import Environment

RECORD: Final = 4_000
"""Characters of one record that the list of records shows (our choice)."""


@attrs.frozen
class Header:
    """How the session stands. `word` is a state or a status; `mark` says the same as a sign."""

    word: str
    mark: str
    reason: str
    message: str
    answer: words.Clipped


@attrs.frozen
class Written:
    """A record as it stands in the journal."""

    seq: int
    when: str
    fence: int
    kind: str
    body: words.Clipped


@attrs.frozen
class Receipt:
    seq: int
    lines: tuple[str, ...]


def page(graph: Graph, entries: Sequence[Entry], session: str, lost: Sequence[str] = ()) -> str:
    """The session as one HTML document. The same entries give the same bytes.

    graph: the table that its runs were made with. lost: what the journal's file has lost of its protection.
    Raises ConfigError without the extra `report`.
    """
    sheet = _read("page.css")
    marks = session_marks(graph, entries)
    found = moves(entries)
    timeline, worked = bars(spans(entries))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            session=session,
            header=_header(session, entries),
            task=next((e.record.text for e in entries if isinstance(e.record, UserInput)), ""),
            runs=[e.record for e in entries if isinstance(e.record, RunStarted)],
            began=entries[0].at if entries else 0.0,
            ended=entries[-1].at if entries else 0.0,
            sheet=sheet,
            policy=_policy(sheet),
            picture=base64.b64encode(svg(graph, marks).encode()).decode(),
            rows=[(number, graph[number - 1], marks.taken[number]) for number in sorted(marks.taken)],
            timeline=timeline,
            worked=worked,
            talk=conversation(entries),
            moves=found,
            tallies=tallies(found),
            bill=bill(entries),
            receipts=[
                Receipt(e.seq, tuple(receipt.words(entries, e.record)))
                for e in entries
                if isinstance(e.record, Finalized)
            ],
            complaints=[*lost, *_audited(graph, entries, session)],
            counted=summary(entries),
            head=head(session, entries),
            records=[_written(entry) for entry in entries],
        )
    )


def _policy(sheet: str) -> str:
    """Nothing loads and nothing runs, but our one sheet (by its digest) and pictures that are in the page itself."""
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _audited(graph: Graph, entries: Sequence[Entry], session: str) -> list[str]:
    return audit(graph, entries, session)


def _header(session: str, entries: Sequence[Entry]) -> Header:
    try:
        history = fold(session, list(entries))
    except (HistoryError, GateError) as error:
        return Header("unreadable", "✗", "the records contradict each other", str(error), words.Clipped(""))
    return _standing(history)


def _standing(history: History) -> Header:
    from fsm.result import result_of

    if history.state not in RESTING or history.started is None:
        said = f"The last record leaves it in {history.state}: it goes on, or its process was lost."
        return Header("running", "…", str(history.state), said, words.Clipped(""))
    result = result_of(history)
    marks = {"succeeded": "✓", "failed": "✗", "suspended": "❚❚"}
    return Header(str(result.status), marks[result.status], result.reason, result.message, words.clipped(result.text))


def _written(entry: Entry) -> Written:
    body = orjson.dumps(orjson.loads(encode(entry.record)), option=orjson.OPT_INDENT_2).decode()
    return Written(
        entry.seq, words.when(entry.at), entry.fence, kind_of(entry.record), words.clipped(body, RECORD, 400)
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ConfigError("a report needs the extra `report`: pip install 'interlock[report]'") from error

    def shown(value: Any) -> Any:
        """Every value on its way into the page: escapes and overrides are written out, then the engine escapes it."""
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    made = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "when": words.when,
        "lasting": words.lasting,
        "amount": words.amount,
        "dollars": words.dollars,
        "verbatim": Markup,  # our own sheet, nothing else
    }
    return made
