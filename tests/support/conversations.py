"""Conversations that the machine can reach: turns of any provider, some cut, every call answered, in order."""

import json

from hypothesis import strategies as st
from strategies import text

from states.messages import AssistantMessage, Call, Foreign, Image, Reasoning, Text, ToolMessage, UserMessage
from states.ports import ToolSpec

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic", "openai-responses"

said = st.sampled_from(["", " ", "\n\n", "yes", "é 漢"]) | text
names = st.sampled_from(["f", "functions.read", "", "x" * 200, "read file", "名"]) | text
arguments = (
    st.sampled_from(
        ["", " ", "{}", '{"x":1}', '{"x": ', "null", "[1]", '"{}"', '{"a":1,"a":2}', '{"n":1e400}', "\ud800"]
    )
    | st.dictionaries(text, st.integers() | text, max_size=2).map(json.dumps)
    | text
)
weird_ids = st.sampled_from(
    ["call_1_0", "call_1_1", "", "toolu_01", "a" * 41, "a" * 65, "123456789", "ü", "a b", "call.1"]
)
images = st.builds(
    Image,
    st.sampled_from(["image/png", "image/jpeg", "image/webp", "image/bmp", "text/html", ""]),
    st.sampled_from(["aGk=", "iVBORw0KGgo=", "", "no base64!", "é"]),
)
opaque = st.dictionaries(text, text | st.integers(), max_size=2)


def _dump(value):
    return json.dumps(value, ensure_ascii=False)


@st.composite
def _thinking(draw):
    kind = draw(st.sampled_from(["signed", "redacted", "cut"]))
    if kind == "redacted":
        return Reasoning("", MESSAGES, _dump({"type": "redacted_thinking", "data": draw(text)}))
    words = draw(text)
    block = {"type": "thinking", "thinking": words, "signature": "c2ln"}
    return Reasoning(words, MESSAGES, _dump(block) if kind == "signed" else None)


@st.composite
def _server_tool(draw, number, *, settled):
    use = {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search", "input": draw(opaque)}
    result = {"type": "web_search_tool_result", "tool_use_id": use["id"], "content": [draw(opaque)]}
    return [Foreign(MESSAGES, _dump(block)) for block in ([use, result] if settled else [use])]


def _call(draw, origin, more=None):
    return Call("", draw(names), draw(arguments), draw(text), origin if more else "", _dump(more) if more else None)


@st.composite
def _anthropic_turn(draw, number):
    blocks = []
    for _ in range(draw(st.integers(0, 2))):
        blocks += draw(st.lists(_thinking(), max_size=2))
        blocks.append(Text(draw(said)))
        if draw(st.booleans()):
            blocks += draw(_server_tool(f"{number}_{len(blocks)}", settled=True))
            cited = draw(text) or "x"
            if draw(st.booleans()) and cited.strip():
                whole = {"type": "text", "text": cited, "citations": [draw(opaque)]}
                blocks += [Text(cited), Foreign(MESSAGES, _dump(whole))]
    caller = st.sampled_from([None, {"caller": {"type": "direct"}}])
    blocks += [_call(draw, MESSAGES, draw(caller)) for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        blocks += draw(st.lists(_thinking(), max_size=1))  # where the calls that followed were cut off
    return blocks


@st.composite
def _responses_turn(draw, number):
    blocks = []
    for place in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["reasoning", "lost", "words", "phase", "call", "search", "patch"]))
        key = f"{number}_{place}"
        match kind:
            case "reasoning":
                item = {"type": "reasoning", "id": f"rs_{key}", "summary": [], "encrypted_content": "gAAA"}
                blocks.append(Reasoning(draw(text), RESPONSES, _dump(item)))
            case "lost":
                item = {"type": "reasoning", "id": f"rs_{key}", "summary": []}
                blocks.append(Reasoning("", RESPONSES, _dump(item)))
            case "words":
                blocks.append(Text(draw(said)))
            case "phase":
                words = draw(text) or "x"
                parts = [{"type": "output_text", "text": words, "annotations": []}]
                item = {"type": "message", "id": f"msg_{key}", "role": "assistant", "content": parts}
                whole = item | {"status": "completed", "phase": "commentary"}
                blocks += [Text(words), Foreign(RESPONSES, _dump(whole))]
            case "call":
                blocks.append(_call(draw, RESPONSES, {"id": f"fc_{key}"}))
            case "search":
                item = {"type": "web_search_call", "id": f"ws_{key}", "status": "completed"}
                blocks.append(Foreign(RESPONSES, _dump(item)))
            case "patch":
                item = {"type": "apply_patch_call", "id": f"apc_{key}", "call_id": "call_x", "status": "completed"}
                blocks.append(Foreign(RESPONSES, _dump(item)))
    return blocks


@st.composite
def _chat_turn(draw, number):
    blocks = []
    if draw(st.booleans()):
        details = draw(st.none() | st.lists(opaque, min_size=1, max_size=2))
        blocks.append(Reasoning(draw(text), CHAT, _dump(details) if details else None))
    blocks.append(Text(draw(said)))
    extra = st.sampled_from([None, {"google": {"thought_signature": "c2ln"}}])
    return blocks + [_call(draw, CHAT, draw(extra)) for _ in range(draw(st.integers(0, 3)))]


@st.composite
def conversations(draw):
    """A list of messages that a request can hold, and the lengths at which requests were made."""
    messages, stops, taken = [], [], set()
    for number in range(draw(st.integers(1, 5))):
        messages += [UserMessage(draw(said)) for _ in range(draw(st.integers(not messages, 2)))]
        if messages and not _asks(messages[-1]):
            messages.append(UserMessage(draw(said)))
        stops.append(len(messages))
        turn = draw(st.sampled_from([_anthropic_turn, _responses_turn, _chat_turn]))
        blocks = _with_ids(draw, draw(turn(number)), number, taken)
        if not _kept(blocks):
            continue
        calls = [block for block in blocks if isinstance(block, Call)]
        if not calls and draw(st.booleans()):
            blocks += draw(_server_tool(f"{number}_open", settled=False))
            messages.append(AssistantMessage(tuple(blocks)))
            if draw(st.booleans()):
                stops.append(len(messages))
                follow_up = [*draw(_server_tool(f"{number}_open", settled=True))[1:], Text("found")]
                messages.append(AssistantMessage(tuple(follow_up)))
            continue
        messages.append(AssistantMessage(tuple(blocks)))
        for call in calls:
            pictures = draw(st.lists(images, max_size=2).map(tuple))
            messages.append(ToolMessage(call.id, call.name, draw(said), draw(st.booleans()), pictures))
    if not _asks(messages[-1]):
        messages.append(UserMessage("?"))
    return messages, [*stops, len(messages)]


def _with_ids(draw, blocks, number, taken):
    """The turn with ids of its own, as the machine gives them, and in older journals stranger ones."""
    found = []
    for place, block in enumerate(blocks):
        if not isinstance(block, Call):
            found.append(block)
            continue
        call_id = draw(weird_ids | text)
        if call_id in taken:
            call_id = f"call_{number}_{place}_"
        taken.add(call_id)
        found.append(Call(call_id, block.name, block.arguments, block.provider_id, block.origin, block.opaque))
    return found


def _kept(blocks):
    """The fold keeps no turn that says nothing."""
    return any(isinstance(b, Call | Foreign) or (isinstance(b, Text) and b.text.strip()) for b in blocks)


def _asks(message):
    return not isinstance(message, AssistantMessage)


tools = st.lists(
    st.builds(ToolSpec, st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True), text, st.just({"type": "object"})),
    max_size=3,
    unique_by=lambda tool: tool.name,
)
