"""What a server answered, as the output of a tool."""

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
import orjson

from fsm.tools.promise import misfit
from states.messages import Image
from states.ports import ToolOutput
from states.records import JSON, Status
from states.text import safe_json

STRUCTURED: Final = 20_000
"""Bytes of structured content that are kept as data beside the text; more is text only: our choice."""


def output_of(result: types.CallToolResult, schema: Mapping[str, JSON] | None = None) -> ToolOutput:
    """Text, pictures, and the structured content as data; its JSON is the text where the server sent no other.

    schema: what the tool's structured content fits, as the server declares it; one that does not is an error.
    """
    parts = [_part(block) for block in result.content]
    pictures = tuple(part for part in parts if isinstance(part, Image))
    words = [part for part in parts if isinstance(part, str)]
    metadata: dict[str, JSON] = {}
    if result.structured_content is not None:
        plain = safe_json(result.structured_content)
        encoded = orjson.dumps(plain)
        if not words:
            words.append(encoded.decode())
        if len(encoded) <= STRUCTURED:
            metadata["structured_content"] = plain
    status = Status.ERROR if result.is_error else Status.OK
    fault = None if schema is None or result.is_error else _unkept(schema, result.structured_content)
    if fault:
        status, words = (
            Status.ERROR,
            [f"Error: the tool ran, but its answer is not what it promises ({fault}):", *words],
        )
    return ToolOutput(status, "\n".join(words), metadata, pictures)


def _unkept(schema: Mapping[str, JSON], content: object) -> str | None:
    return "it has no structured content" if content is None else misfit(schema, safe_json(content))


def _part(block: Any) -> str | Image:
    """Text as it is, pictures as pictures; what a model cannot be shown is named."""
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ImageContent):
        return Image(block.mime_type, block.data)
    if isinstance(block, types.EmbeddedResource):
        resource = block.resource
        if isinstance(resource, types.TextResourceContents):
            return f"[{resource.uri}]\n{resource.text}"
        return f"[{resource.uri}: {resource.mime_type or 'binary data'}, not shown]"
    if isinstance(block, types.ResourceLink):
        return f"[{block.title or block.name}: {block.uri}]"
    return f"[{getattr(block, 'type', 'content')}: {getattr(block, 'mime_type', '')}, not shown]"
