"""What a strict server of each protocol refuses, written from the protocols' published rules.

Each `*_complaint` returns why a request's body would be answered with 400, or None. Where a provider is lenient (OpenAI
takes blank text, Anthropic joins messages of one role), the strictest server known counts.
"""

import base64
import json
import re

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""OpenAI: `^[a-zA-Z0-9_-]+$`, at most 64; Anthropic allows 128."""
CHAT_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
MISTRAL_ID = re.compile(r"[A-Za-z0-9]{9}")
ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
BREAKPOINTS = 4
"""Cache-control markers that Anthropic accepts."""


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


def only(value, where, *, must=(), may=()):
    need(isinstance(value, dict), f"{where}: an object is needed")
    missing, unknown = set(must) - value.keys(), value.keys() - set(must) - set(may)
    need(not missing, f"{where}: {sorted(missing)} missing")
    need(not unknown, f"{where}: unexpected {sorted(unknown)}")


def words(value, where):
    need(isinstance(value, str) and value.strip(), f"{where}: text must be non-empty and not only white space")


def json_object(text, where):
    need(isinstance(text, str), f"{where}: arguments must be a string")
    try:
        value = json.loads(text)
    except ValueError:
        raise Refused(f"{where}: arguments are no JSON") from None
    need(isinstance(value, dict), f"{where}: arguments are no object")


def picture(media_type, data, where):
    need(media_type in PICTURES, f"{where}: media type {media_type}")
    need(data, f"{where}: no data")
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        raise Refused(f"{where}: bad base64") from None


def _complaint(check):
    def complaint(body, **rules):
        try:
            check(body, **rules)
        except Refused as refused:
            return str(refused)
        return None

    return complaint


def _function(tool, where, *, schema):
    need(NAME.fullmatch(tool["name"]), f"{where}: name {tool['name']!r}")
    need(isinstance(tool["description"], str), f"{where}: description")
    need(isinstance(tool[schema], dict) and tool[schema].get("type") == "object", f"{where}: {schema}")


def _unique(names, where):
    need(len(set(names)) == len(names), f"{where}: names are not unique")


# --- OpenAI's chat completions ----------------------------------------------------------------------------------


@_complaint
def chat_complaint(body, *, ids=CHAT_ID, reasoning="forbid"):
    """`reasoning` is the server's policy for `reasoning_content`: require, allow or forbid."""
    only(
        body,
        "body",
        must=("model", "messages", "stream"),
        may=("stream_options", "tools", "tool_choice", "temperature"),
    )
    tools = body.get("tools")
    if tools is not None:
        need(tools, "tools: an empty list")
        for place, tool in enumerate(tools):
            only(tool, f"tools[{place}]", must=("type", "function"))
            only(tool["function"], f"tools[{place}]", must=("name", "description", "parameters"))
            _function(tool["function"], f"tools[{place}]", schema="parameters")
        _unique([tool["function"]["name"] for tool in tools], "tools")
    choice = body.get("tool_choice")
    need(choice is None or tools, "tool_choice without tools")
    if isinstance(choice, dict):
        only(choice, "tool_choice", must=("type", "function"))
        need(any(tool["function"] == tool["function"] | choice["function"] for tool in tools), "tool_choice: unknown")
    need(body["messages"], "messages: empty")
    known, unanswered = set(), []
    for place, message in enumerate(body["messages"]):
        where = f"messages[{place}]"
        role = message.get("role")
        if role == "tool":
            only(message, where, must=("role", "tool_call_id", "content"))
            need(unanswered and message["tool_call_id"] == unanswered.pop(0), f"{where}: answers no call in order")
            words(message["content"], where)
            continue
        need(not unanswered, f"{where}: no answer to {unanswered}")
        if role == "assistant":
            unanswered = _chat_answer(message, where, known, ids, reasoning)
        elif role == "user":
            only(message, where, must=("role", "content"))
            _chat_content(message["content"], where)
        else:
            need(role == "system" and place == 0, f"{where}: role {role!r}")
            words(message["content"], where)
    need(not unanswered, f"no answer to {unanswered}")
    need(body["messages"][-1]["role"] in ("user", "tool"), "the last message must be the user's or a tool's")


def _chat_content(content, where):
    if isinstance(content, str):
        words(content, where)
        return
    need(content, f"{where}: no parts")
    for part in content:
        if part["type"] == "text":
            only(part, where, must=("type", "text"))
            words(part["text"], where)
        else:
            only(part, where, must=("type", "image_url"))
            head, _, data = part["image_url"]["url"].partition(",")
            need(head.startswith("data:") and head.endswith(";base64"), f"{where}: no data URL")
            picture(head[5:-7], data, where)


def _chat_answer(message, where, known, ids, reasoning):
    only(
        message,
        where,
        must=("role", "content"),
        may=("tool_calls", "reasoning_content", "reasoning_details"),
    )
    calls = message.get("tool_calls")
    need("reasoning_content" not in message or reasoning != "forbid", f"{where}: reasoning_content is not supported")
    need(not calls or "reasoning_content" in message or reasoning != "require", f"{where}: reasoning_content missing")
    need(isinstance(message.get("reasoning_content", ""), str), f"{where}: reasoning_content")
    need(isinstance(message.get("reasoning_details", []), list), f"{where}: reasoning_details")
    if calls is None:
        words(message["content"], where)
        return []
    need(calls, f"{where}: tool_calls: an empty list")
    if message["content"] is not None:
        words(message["content"], where)
    for call in calls:
        only(call, where, must=("id", "type", "function"), may=("extra_content",))
        only(call["function"], where, must=("name", "arguments"))
        need(isinstance(call["id"], str) and ids.fullmatch(call["id"]), f"{where}: id {call['id']!r}")
        need(call["id"] not in known, f"{where}: id {call['id']!r} twice")
        known.add(call["id"])
        need(call["type"] == "function", f"{where}: type")
        need(NAME.fullmatch(call["function"]["name"]), f"{where}: name {call['function']['name']!r}")
        json_object(call["function"]["arguments"], where)
        need(isinstance(call.get("extra_content", {}), dict), f"{where}: extra_content")
    return [call["id"] for call in calls]


# --- Anthropic's Messages ---------------------------------------------------------------------------------------


@_complaint
def messages_complaint(body):
    only(
        body,
        "body",
        must=("model", "messages", "max_tokens", "stream"),
        may=("system", "tools", "tool_choice", "thinking", "temperature"),
    )
    need(body["max_tokens"] > 0, "max_tokens")
    need(json.dumps(body).count('"cache_control"') <= BREAKPOINTS, "more than four cache_control markers")
    for block in body.get("system", []):
        only(block, "system", must=("type", "text"), may=("cache_control",))
        words(block["text"], "system")
    tools = body.get("tools")
    if tools is not None:
        need(tools, "tools: an empty list")
        for place, tool in enumerate(tools):
            only(tool, f"tools[{place}]", must=("name", "description", "input_schema"), may=("cache_control",))
            _function(tool, f"tools[{place}]", schema="input_schema")
        _unique([tool["name"] for tool in tools], "tools")
    choice = body.get("tool_choice")
    need(choice is None or tools, "tool_choice without tools")
    messages = body["messages"]
    need(messages and messages[0]["role"] == "user", "the first message must be the user's")
    known, unanswered = set(), []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        only(message, where, must=("role", "content"))
        need(isinstance(message["content"], list) and message["content"], f"{where}: no content")
        need(message["role"] == ("user", "assistant")[place % 2], f"{where}: roles must alternate")
        if message["role"] == "user":
            _user_blocks(message["content"], where, unanswered)
            unanswered = []
        else:
            unanswered = _answer_blocks(message["content"], where, known, last=place == len(messages) - 1)
    need(not unanswered, f"tool_use without tool_result: {unanswered}")
    if "thinking" in body:
        _thinking(body, choice)


def _thinking(body, choice):
    thinking = body["thinking"]
    need(thinking["type"] == "adaptive" or 1024 <= thinking["budget_tokens"] < body["max_tokens"], "thinking: budget")
    need(choice is None or choice["type"] in ("auto", "none"), "thinking and a forced tool exclude each other")
    answers = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
    if answers and any(block["type"] == "tool_use" for block in answers[-1]):
        need(
            answers[-1][0]["type"] in ("thinking", "redacted_thinking"),
            "expected `thinking` or `redacted_thinking`, but found something else at the start of the last turn",
        )


def _user_blocks(blocks, where, unanswered):
    results = [block for block in blocks if block["type"] == "tool_result"]
    need(blocks[: len(results)] == results, f"{where}: tool_result blocks must come first")
    answered = [block["tool_use_id"] for block in results]
    need(answered == unanswered, f"{where}: tool_use {unanswered} answered by {answered}")
    for block in results:
        only(block, where, must=("type", "tool_use_id", "content"), may=("is_error", "cache_control"))
        if isinstance(block["content"], str):
            words(block["content"], where)
            continue
        need(block["content"], f"{where}: empty content")
        for part in block["content"]:
            if part["type"] == "text":
                words(part["text"], where)
            else:
                only(part, where, must=("type", "source"))
                only(part["source"], where, must=("type", "media_type", "data"))
                picture(part["source"]["media_type"], part["source"]["data"], where)
    for block in blocks[len(results) :]:
        only(block, where, must=("type", "text"), may=("cache_control",))
        words(block["text"], where)


def _answer_blocks(blocks, where, known, *, last):
    calls, uses, settled, callers = [], [], set(), set()
    for block in blocks:
        match block["type"]:
            case "text":
                only(block, where, must=("type", "text"), may=("citations",))
                words(block["text"], where)
                need(not calls, f"{where}: text after tool_use")
            case "thinking":
                only(block, where, must=("type", "thinking", "signature"))
                need(isinstance(block["signature"], str) and block["signature"], f"{where}: thinking without signature")
            case "redacted_thinking":
                only(block, where, must=("type", "data"))
            case "tool_use":
                only(block, where, must=("type", "id", "name", "input"), may=("caller",))
                need(ID.fullmatch(block["id"]), f"{where}: id {block['id']!r}")
                need(block["id"] not in known, f"{where}: tool_use ids must be unique")
                known.add(block["id"])
                need(NAME.fullmatch(block["name"]), f"{where}: name {block['name']!r}")
                need(isinstance(block["input"], dict), f"{where}: input must be an object")
                calls.append(block["id"])
                callers.add(block.get("caller", {}).get("tool_id"))
            case "server_tool_use" | "mcp_tool_use":
                need(block["id"].startswith(("srvtoolu_", "mcptoolu_")), f"{where}: id {block['id']!r}")
                uses.append(block["id"])
            case kind if kind.endswith("_tool_result"):
                need(block["tool_use_id"] in uses, f"{where}: {kind} without its use")
                settled.add(block["tool_use_id"])
            case kind:
                raise Refused(f"{where}: unknown type {kind!r}")
    open_uses = [use for use in uses if use not in settled | callers]
    need(last or not open_uses, f"{where}: {open_uses} without a result")
    need(not last or uses, f"{where}: this model does not support assistant message prefill")
    need(blocks[-1]["type"] not in ("thinking", "redacted_thinking"), f"{where}: the final block cannot be thinking")
    return calls


# --- OpenAI's Responses -----------------------------------------------------------------------------------------


@_complaint
def responses_complaint(body):
    only(
        body,
        "body",
        must=("model", "input", "stream", "store"),
        may=("include", "instructions", "tools", "tool_choice", "temperature"),
    )
    need(body["store"] is False, "store: this test's server keeps nothing")
    if "instructions" in body:
        words(body["instructions"], "instructions")
    tools = body.get("tools")
    if tools is not None:
        need(tools, "tools: an empty list")
        for place, tool in enumerate(tools):
            only(tool, f"tools[{place}]", must=("type", "name", "description", "parameters", "strict"))
            _function(tool, f"tools[{place}]", schema="parameters")
        _unique([tool["name"] for tool in tools], "tools")
    need("tool_choice" not in body or tools, "tool_choice without tools")
    items = body["input"]
    need(items, "input: empty")
    known, unanswered = set(), []
    for place, item in enumerate(items):
        where = f"input[{place}]"
        kind = item.get("type", "message")
        if kind == "function_call_output":
            only(item, where, must=("type", "call_id", "output"))
            need(item["call_id"] in unanswered, f"{where}: no call {item['call_id']!r} is open")
            unanswered.remove(item["call_id"])
            _output(item["output"], where)
            continue
        words_of_user = kind == "message" and item["role"] == "user"
        need(not unanswered or not words_of_user, f"{where}: no tool output found for {unanswered}")
        _item(item, kind, where, known, unanswered)
        if kind == "reasoning":
            after = items[place + 1] if place + 1 < len(items) else {"role": "user"}
            need(
                after.get("role") != "user" and after.get("type") != "function_call_output",
                f"{where}: 'reasoning' was provided without its required following item",
            )
    need(not unanswered, f"no tool output found for {unanswered}")
    need(items[-1].get("role") == "user" or items[-1].get("type") == "function_call_output", "nothing is asked")


def _item(item, kind, where, known, unanswered):
    match kind:
        case "message":
            if "type" not in item:
                only(item, where, must=("role", "content"))
                words(item["content"], where)
            else:
                only(item, where, must=("type", "id", "role", "content", "status"), may=("phase",))
                need(item["id"].startswith("msg_"), f"{where}: expected an id that begins with 'msg'")
        case "reasoning":
            only(item, where, must=("type", "id", "summary"), may=("encrypted_content", "content", "status"))
            need(item["id"].startswith("rs_"), f"{where}: expected an id that begins with 'rs'")
            need(item.get("encrypted_content") or item.get("content"), f"{where}: item {item['id']!r} not found")
        case "function_call":
            only(item, where, must=("type", "call_id", "name", "arguments"), may=("id",))
            need(item.get("id", "fc_").startswith("fc_"), f"{where}: expected an id that begins with 'fc'")
            need(ID.fullmatch(item["call_id"]), f"{where}: call_id {item['call_id']!r}")
            need(item["call_id"] not in known, f"{where}: call_id twice")
            known.add(item["call_id"])
            unanswered.append(item["call_id"])
            need(NAME.fullmatch(item["name"]), f"{where}: name {item['name']!r}")
            json_object(item["arguments"], where)
        case "web_search_call":
            only(item, where, must=("type", "id", "status"), may=("action",))
            need(item["id"].startswith("ws_"), f"{where}: expected an id that begins with 'ws'")
        case _:
            raise Refused(f"{where}: no tool output found for {kind}, or unknown type")


def _output(output, where):
    if isinstance(output, str):
        words(output, where)
        return
    need(output, f"{where}: empty output")
    for part in output:
        if part["type"] == "input_text":
            words(part["text"], where)
        else:
            only(part, where, must=("type", "image_url"))
            head, _, data = part["image_url"].partition(",")
            picture(head[5:-7], data, where)
