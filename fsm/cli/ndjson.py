"""Events as lines of JSON on standard output.

Each line is an object with `type` (the event's name, such as `tool_end`), `durable` and `seq` (null unless durable),
and the event's own fields as in `fsm.events`. The last line of a run is its only `run_end`.
"""

import re
import sys
from typing import Final

import cattrs
import orjson
from cattrs.preconf.orjson import make_converter
from cattrs.strategies import configure_tagged_union

from fsm.events import Event
from states.records import JSON, Metadata
from states.text import safe_json
from states.verdicts import Ruling


def _kind(cls: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _build() -> cattrs.Converter:
    converter = make_converter()
    converter.register_unstructure_hook_func(lambda t: t == Metadata, dict)
    configure_tagged_union(Ruling, converter, tag_name="type", tag_generator=_kind)
    return converter


_CONVERTER: Final = _build()


def plain(event: Event) -> dict[str, JSON]:
    """The event as plain JSON, without its end of line."""
    fields: dict[str, JSON] = _CONVERTER.unstructure(event)
    return {"type": _kind(type(event)), "durable": event.seq is not None, "seq": event.seq, **fields}


def line(event: Event) -> bytes:
    """The same as bytes. Text that JSON cannot hold is escaped visibly."""
    value = plain(event)
    try:
        return orjson.dumps(value) + b"\n"
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        return orjson.dumps(safe_json(value)) + b"\n"


def write(event: Event) -> None:
    """Onto standard output, at once. Raises BrokenPipeError when nobody reads it any more."""
    sys.stdout.buffer.write(line(event))
    sys.stdout.buffer.flush()
