"""Pictures that tools returned, where a provider can take them."""

from base64 import b64decode
from typing import Final

from states.messages import Image, ToolMessage

TAKEN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that OpenAI and Anthropic document alike."""


def sendable(message: ToolMessage) -> tuple[Image, ...]:
    """The pictures that can go over the wire."""
    return tuple(image for image in message.images if _whole(image))


def words(message: ToolMessage, empty: str) -> str:
    """The result's text, with a note about each picture that cannot be shown; `empty` where nothing is left."""
    lost = [image.media_type for image in message.images if not _whole(image)]
    notes = "".join(f"\n(a picture of type {kind[:40]!r} that cannot be shown)" for kind in lost)
    text = message.text + notes
    return text if text.strip() else empty


def data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{image.data}"


def _whole(image: Image) -> bool:
    if image.media_type not in TAKEN or not image.data:
        return False
    try:
        b64decode(image.data, validate=True)
    except ValueError:
        return False
    return True
