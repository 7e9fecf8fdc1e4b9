"""The one home of generators."""

from typing import get_args

import attrs
from hypothesis import strategies as st

from states.contract import Budget
from states.messages import Block, Call, Foreign, Image, Reasoning, Text
from states.records import Fate, Layer, Metadata, PromptLayer, Record, Status
from states.verdicts import Pass

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers() | st.text(), inner, max_size=3),
    max_leaves=8,
)
"""What a careless tool may return."""

blocks = (
    st.builds(Text, text)
    | st.builds(Reasoning, text, text, st.none() | text)
    | st.builds(Call, text, text, text, text)
    | st.builds(Foreign, text, text)
)

count = st.integers(1, 2**53)
st.register_type_strategy(Budget, st.builds(Budget, *[st.none() | count] * 4))

st.register_type_strategy(Pass, st.builds(Pass, text, st.tuples(count, count), text))
st.register_type_strategy(Fate, st.builds(Fate, count, st.sampled_from(Status), text))

BY_TYPE = {
    str: text,
    int: count,
    int | None: st.none() | count,
    float: st.floats(0, 1e12),
    float | None: st.none() | st.floats(0, 1e6),
    Metadata: st.dictionaries(text, json, max_size=3),
    tuple[Block, ...]: st.tuples(blocks),
    tuple[int, ...]: st.tuples(count, count),
    tuple[PromptLayer, ...]: st.tuples(st.builds(PromptLayer, st.sampled_from(Layer), text, count, text, text, text)),
    tuple[Image, ...]: st.tuples(st.builds(Image, text, text)),
}


def _record(kind):
    known = {field.name: BY_TYPE[field.type] for field in attrs.fields(kind) if field.type in BY_TYPE}
    return st.builds(kind, **known)


records = st.one_of([_record(kind) for kind in get_args(Record)])
"""Any record of any kind."""
